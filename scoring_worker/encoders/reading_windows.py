"""From a question and a passage to the windows a reader reads, with the way back to the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from .batching import MAX_WINDOWS, MIN_PREMISE_ROOM, PairFailure, Piece, unfit


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to read: ``asked`` (the name of a field, a question or a claim) of ``passage``."""

    asked: str
    passage: str


@dataclass(frozen=True, slots=True)
class Window:
    """A tokenised stretch of a task's passage with the whole question before it.

    ``task`` is its position in the call; ``sides`` and ``offsets`` [tokens]: 0 for the question,
    1 for the passage, None for marks; code points in the one or the other.
    """

    task: int
    ids: list[int]
    type_ids: list[int]
    sides: list[int | None]
    offsets: list[tuple[int, int]]

    def piece(self, number: int, kept: tuple[int, ...] = ()) -> Piece:
        """What the model reads of it, under the window's own number; see `Piece`."""
        return Piece(number, self.ids, self.type_ids, kept)


class WindowMaker:
    """Tokenises tasks without padding or truncation, which it switches off in ``tokenizer``: that
    is its own from now on. (A copy of 250,000 words costs 190 MB.)

    Special tokens written in a text are read as plain text. A passage too long for the model
    becomes overlapping windows; nothing is cut off.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int, *, types: int) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._max_length = max_length
        self._types = types
        self._specials = self._tokenizer.num_special_tokens_to_add(is_pair=True)

    def windows(self, tasks: Sequence[Task]) -> tuple[list[Window], dict[int, PairFailure]]:
        """The windows of all tasks in order, and why some have none."""
        failures = {
            at: failure for at, task in enumerate(tasks) if (failure := unfit(*_texts(task)))
        }
        fit = [at for at in range(len(tasks)) if at not in failures]
        texts = [(tasks[at].asked, tasks[at].passage) for at in fit]
        made: list[Window] = []
        for at, encoding in zip(fit, self._tokenizer.encode_batch(texts), strict=True):
            if len(encoding) <= self._max_length:
                made.append(self._window(at, encoding))
                continue
            windows = self._split(tasks[at])
            if isinstance(windows, PairFailure):
                failures[at] = windows
            else:
                made += [self._window(at, window) for window in windows]
        return made, failures

    def _window(self, task: int, encoding: Encoding) -> Window:
        types = encoding.type_ids if self._types > 1 else [0] * len(encoding)
        return Window(task, encoding.ids, types, encoding.sequence_ids, encoding.offsets)

    def _split(self, task: Task) -> list[Encoding] | PairFailure:
        asked = self._tokenizer.encode(task.asked, add_special_tokens=False)
        room = self._max_length - self._specials - len(asked)
        if room < MIN_PREMISE_ROOM:
            detail = f"the question takes {len(asked)} of {self._max_length} tokens"
            return PairFailure("scorer_failed", detail)
        shown = self._tokenizer.encode(task.passage, add_special_tokens=False)
        shown.truncate(room, stride=room // 4)
        windows = [shown, *shown.overflowing]
        if len(windows) > MAX_WINDOWS:
            detail = f"the passage takes {len(windows)} windows, more than {MAX_WINDOWS}"
            return PairFailure("scorer_failed", detail)
        return [self._tokenizer.post_process(asked, window) for window in windows]


def _texts(task: Task) -> tuple[str, str]:
    return task.passage, task.asked

"""From a question and a passage to the windows a reader reads, with the way back to the text."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from .batching import PairFailure, PairWindows, Piece


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
    """From tasks to windows, with ``tokenizer`` as `PairWindows` has it. A passage too long for the
    model becomes overlapping windows; nothing is cut off. ``types``: how many the model knows.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int, *, types: int) -> None:
        self._pairs = PairWindows(tokenizer, max_length, typed=types > 1, hypothesis_first=True)

    def windows(self, tasks: Sequence[Task]) -> tuple[list[Window], dict[int, PairFailure]]:
        """The windows of all tasks in order, and why some have none."""
        asked = [(at, task.passage, task.asked) for at, task in enumerate(tasks)]
        encoded, failures = self._pairs.encoded(asked)
        made = [
            Window(at, one.ids, self._pairs.types(one), one.sequence_ids, one.offsets)
            for at, one in encoded
        ]
        return made, failures

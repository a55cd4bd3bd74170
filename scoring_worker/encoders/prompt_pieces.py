"""Pairs as published weights were taught them: in a prompt, or as two texts with one around."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from safepassage.scoring_worker.manifest import ModelError

from .batching import MAX_WINDOWS, MIN_PREMISE_ROOM, PairFailure, Piece, unfit

TWO_TEXTS = "{text1}{text2}"
"""A prompt that adds nothing."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is written around and between source {text1} and statement {text2}. ``second``: the
    statement, and what follows it, is the second text of a pair.

    Raises:
        ModelError: it does not name both texts once, "{text1}" first.
    """

    text: str
    second: bool = False

    def __post_init__(self) -> None:
        self.parts()

    def parts(self) -> tuple[str, str, str]:
        """What is before the source, between both texts, and after the statement."""
        found = re.fullmatch(r"(.*)\{text1\}(.*)\{text2\}(.*)", self.text, re.DOTALL)
        if found is None:
            raise ModelError("the prompt of a scorer does not hold {text1} and {text2}")
        before, between, after = found.groups()
        return before, between, after

    def written(self, source: str, statement: str) -> tuple[str, ...]:
        """The one text, or the two, that a tokenizer is given."""
        before, between, after = self.parts()
        first, last = f"{before}{source}{between}", f"{statement}{after}"
        return (first, last) if self.second else (first + last,)


class PromptPieces:
    """Pieces of (position, source, statement) triples, written as ``prompt`` says.

    A source of more tokens than ``window`` (0: than there is room for) is cut into windows that
    overlap by a quarter, each in a prompt of its own. ``kept`` of a piece are the tokens of the
    statement, where the prompt makes it a text of its own.
    """

    def __init__(self, tokenizer: Any, prompt: Prompt, max_length: int, window: int = 0) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._max_length = max_length
        self._window = window or max_length
        self._special = sorted(tokenizer.all_special_tokens, key=len, reverse=True)

    def pieces(
        self, pairs: Sequence[tuple[int, str, str]]
    ) -> tuple[list[Piece], dict[int, PairFailure]]:
        """The pieces, and the pairs that have none."""
        pieces: list[Piece] = []
        failures: dict[int, PairFailure] = {}
        for at, source, statement in pairs:
            texts = self._disarmed(source), self._disarmed(statement)
            made = unfit(source, statement) or self._windows(at, *texts)
            if isinstance(made, PairFailure):
                failures[at] = made
            else:
                pieces += made
        return pieces, failures

    def _windows(self, pair: int, source: str, statement: str) -> list[Piece] | PairFailure:
        whole, rest = self._piece(pair, source, statement), self._piece(pair, "", statement)
        if len(whole) <= self._max_length and len(whole) - len(rest) <= self._window:
            return [whole]
        # A cut can break a token in two.
        room = min(self._window, self._max_length - len(rest)) - 2
        if room < MIN_PREMISE_ROOM:
            detail = f"all but the premise takes {len(rest)} of {self._max_length} tokens"
            return PairFailure("scorer_failed", detail)
        cuts = list(self._cuts(source, room))
        if len(cuts) > MAX_WINDOWS:
            detail = f"the premise takes {len(cuts)} windows, more than {MAX_WINDOWS}"
            return PairFailure("scorer_failed", detail)
        made = [self._piece(pair, source[start:end], statement) for start, end in cuts]
        if max(map(len, made)) > self._max_length:
            return PairFailure("scorer_failed", f"a window takes over {self._max_length} tokens")
        return made

    def _cuts(self, source: str, room: int) -> Iterator[tuple[int, int]]:
        found = self._tokenizer(source, add_special_tokens=False, return_offsets_mapping=True)
        places = found["offset_mapping"]
        for start in range(0, max(1, len(places) - room // 4), room - room // 4):
            inside = places[start : start + room]
            yield inside[0][0], inside[-1][1]

    def _piece(self, pair: int, source: str, statement: str) -> Piece:
        made = self._tokenizer(*self._prompt.written(source, statement))
        ids: list[int] = made["input_ids"]
        types = made.get("token_type_ids") or [0] * len(ids)
        sides = made.sequence_ids(0) if self._prompt.second else ()
        return Piece(pair, ids, types, tuple(at for at, side in enumerate(sides) if side == 1))

    def _disarmed(self, text: str) -> str:
        """``text`` without the marks that the tokenizer would read as special tokens."""
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

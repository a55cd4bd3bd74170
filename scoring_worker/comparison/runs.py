"""Where the words of a value stand in a row in a passage, however hyphens part them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .contract import Place
from .segmentation import Word

MOST_PLACES = 16
_MOST_TRIES = 256
"""Starts that are tried: a text of repeated letters offers one at every word."""

How = Literal["exact", "plain", "spelt"]
HOWS: tuple[How, ...] = ("exact", "plain", "spelt")


@dataclass(frozen=True, slots=True)
class Runs:
    """``places``: the value's words in a row. ``respaced``: its letters in a row, with a blank
    more or less ("the rapist" for "therapist"). ``how``: which keys agreed, *exact* where no
    accent was left out."""

    how: How
    places: tuple[Place, ...] = ()
    respaced: tuple[Place, ...] = ()


class Row:
    """The words of one text written in one, with the letters at which they part."""

    __slots__ = ("by_start", "ends", "letters", "loose", "starts")

    def __init__(self, words: Sequence[Word], how: How) -> None:
        parts = [getattr(word.keys, how) for word in words]
        self.letters = "".join(parts)
        self.starts: list[int] = []
        self.ends: dict[int, int] = {}
        self.loose = [word.loose for word in words]
        offset = 0
        for number, part in enumerate(parts):
            self.starts.append(offset)
            offset += len(part)
            self.ends[offset] = number
        self.by_start = {start: number for number, start in enumerate(self.starts)}

    def parts_between(self, first: int, last: int) -> dict[int, bool]:
        """Where words ``first`` to ``last`` part, counted from the first letter of ``first``, and
        whether they may as well be written in one."""
        zero = self.starts[first]
        return {self.starts[n] - zero: self.loose[n] for n in range(first + 1, last + 1)}


def runs_of(value: Sequence[Word], passage: Sequence[Word]) -> Runs:
    """The runs of ``passage`` that hold the words of ``value``, by the strictest keys that agree.

    Bounded: at most ``MOST_PLACES`` places, at most 256 starts tried.
    """
    respaced: Runs | None = None
    if value and passage:
        for how in HOWS:
            if how != "exact" and not _differ(value, passage, how):
                continue
            found = _runs(Row(value, how), Row(passage, how), passage, how)
            if found.places:
                return found
            if found.respaced and respaced is None:
                respaced = found
    return respaced or Runs("exact")


def _differ(value: Sequence[Word], passage: Sequence[Word], how: How) -> bool:
    """Whether these keys can show what the exact ones did not."""
    return any(
        getattr(word.keys, how) != word.keys.exact for words in (value, passage) for word in words
    )


def _runs(value: Row, passage: Row, words: Sequence[Word], how: How) -> Runs:
    places: list[Place] = []
    respaced: list[Place] = []
    wanted = value.parts_between(0, len(value.starts) - 1)
    at, tries = passage.letters.find(value.letters), 0
    while at >= 0 and tries < _MOST_TRIES and len(places) < MOST_PLACES:
        tries += 1
        first = passage.by_start.get(at)
        last = passage.ends.get(at + len(value.letters))
        if first is not None and last is not None:
            given = passage.parts_between(first, last)
            fits = _hard(wanted) <= given.keys() and _hard(given) <= wanted.keys()
            (places if fits else respaced).append(Place(words[first].start, words[last].end))
            at = passage.letters.find(value.letters, at + len(value.letters))
        else:
            at = passage.letters.find(value.letters, _next_start(passage, at))
    return Runs(how, tuple(places), tuple(respaced[:MOST_PLACES]))


def _next_start(passage: Row, at: int) -> int:
    """The first letter after ``at`` that begins a word; the end where there is none."""
    following = bisect_right(passage.starts, at)
    return passage.starts[following] if following < len(passage.starts) else len(passage.letters)


def _hard(parts: dict[int, bool]) -> set[int]:
    return {offset for offset, loose in parts.items() if not loose}

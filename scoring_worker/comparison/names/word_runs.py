"""Where the words of a value are in a row in a passage, however hyphens part them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Place

MOST_PLACES = 16
_MOST_TRIES = 256
"""Starts that are tried: a text of repeated letters offers one at every word."""


@dataclass(frozen=True, slots=True)
class Runs:
    """``places``: the value's words in a row. ``respaced``: its letters in a row, with a blank
    more or less ("the rapist" for "therapist"). ``exact``: no accent was left out."""

    exact: bool
    places: tuple[Place, ...] = ()
    respaced: tuple[Place, ...] = ()


class Row:
    """The words of one text written in one, with the letters at which they part."""

    __slots__ = ("ends", "letters", "starts", "words")

    def __init__(self, words: Sequence[Word], parts: Sequence[str], letters: str) -> None:
        bounds = list(accumulate(map(len, parts), initial=0))
        self.words, self.letters = words, letters
        self.starts, self.ends = bounds[:-1], bounds[1:]

    def starting_at(self, letter: int) -> int | None:
        """The word that begins with ``letter``."""
        return _last_of(self.starts, letter)

    def ending_at(self, letter: int) -> int | None:
        """The word that ends before ``letter``."""
        return _last_of(self.ends, letter)

    def parts_between(self, first: int, last: int) -> dict[int, bool]:
        """Where words ``first`` to ``last`` part, counted from the first letter of ``first``, and
        whether they may as well be written in one."""
        zero = self.starts[first]
        return {self.starts[n] - zero: self.words[n].loose for n in range(first + 1, last + 1)}


def _last_of(bounds: Sequence[int], letter: int) -> int | None:
    at = bisect_right(bounds, letter) - 1
    return at if at >= 0 and bounds[at] == letter else None


def runs_of(value: Sequence[Word], passage: Sequence[Word]) -> Runs:
    """The runs of ``passage`` that hold the words of ``value``, by the strictest keys that agree.

    Bounded: at most ``MOST_PLACES`` places, at most 256 starts tried.
    """
    respaced: Runs | None = None
    if value and passage:
        for key in range(3):  # of `Keys`
            if key and not _differ(value, passage, key):
                continue
            sought = [word.keys[key] for word in value]
            parts = [word.keys[key] for word in passage]
            written, letters = "".join(sought), "".join(parts)
            if written not in letters:
                continue
            found = _runs(Row(value, sought, written), Row(passage, parts, letters), exact=key == 0)
            if found.places:
                return found
            if found.respaced and respaced is None:
                respaced = found
    return respaced or Runs(exact=True)


def _differ(value: Sequence[Word], passage: Sequence[Word], key: int) -> bool:
    """Whether these keys can show what the exact ones did not."""
    return any(word.keys[key] != word.keys[0] for words in (value, passage) for word in words)


def _runs(value: Row, passage: Row, *, exact: bool) -> Runs:
    places: list[Place] = []
    respaced: list[Place] = []
    wanted = value.parts_between(0, len(value.words) - 1)
    at, tries = passage.letters.find(value.letters), 0
    while at >= 0 and tries < _MOST_TRIES and len(places) < MOST_PLACES:
        tries += 1
        first = passage.starting_at(at)
        last = passage.ending_at(at + len(value.letters))
        if first is not None and last is not None:
            given = passage.parts_between(first, last)
            fits = _hard(wanted) <= given.keys() and _hard(given) <= wanted.keys()
            (places if fits else respaced).append(
                Place(passage.words[first].start, passage.words[last].end)
            )
            at = passage.letters.find(value.letters, at + len(value.letters))
        else:
            following = bisect_right(passage.starts, at)  # the next letter that begins a word
            more = following < len(passage.starts)
            at = passage.letters.find(value.letters, passage.starts[following]) if more else -1
    return Runs(exact, tuple(places), tuple(respaced[:MOST_PLACES]))


def _hard(parts: dict[int, bool]) -> set[int]:
    return {offset for offset, loose in parts.items() if not loose}

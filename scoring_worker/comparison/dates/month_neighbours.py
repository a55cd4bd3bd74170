"""What may be around a month's name, and the walk over it to the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .month_names import MonthName, Names
from .tokens import Token, words_in

_BARRIERS = frozenset(';:!?"«»“”„|=+*#%&@<>{}\\~€$£¥…。！？')
"""Signs that end a date; every other one may be within it."""
_WORDS = words_in("between_parts")
LISTING = words_in("listing")
_MISREAD = frozenset("lioszbIOSZB|q")
MOST_SKIPPED = 5  # tokens between two parts of one date


@dataclass(slots=True)
class Around:
    """The parts around one month's name; ``first`` and ``last`` are tokens of the date."""

    first: int
    last: int  # exclusive
    name: MonthName
    year: int | None = None
    days: list[tuple[int, int]] = field(default_factory=list)  # (day, its token)
    misread: bool = False
    maybe_year: bool = False  # "Jan 12": the day, or the year 2012


class Neighbours:
    """Walks over what may be between two parts of a date.

    ``done`` is the token behind the date before: no part is taken twice.
    """

    __slots__ = ("done", "found", "language", "read")

    def __init__(self, found: Sequence[Token], read: Names, language: str | None) -> None:
        self.found, self.read, self.language, self.done = found, read, language, 0

    def back(self, index: int) -> int | None:
        """The number before token ``index``, or None."""
        return self._first_number(
            range(index - 1, max(self.done, index - 1 - MOST_SKIPPED) - 1, -1)
        )

    def on(self, index: int) -> int | None:
        """The number at or behind token ``index``, or None."""
        return self._first_number(range(index, min(len(self.found), index + MOST_SKIPPED)))

    def _first_number(self, walk: range) -> int | None:
        for at in walk:
            token = self.found[at]
            if token.kind == "number":
                return at
            if not self.passes(token) and not self.is_ending(at):
                return None
        return None

    def passes(self, token: Token) -> bool:
        """Whether the token may be between two parts."""
        if token.kind == "sign":
            return token.text not in _BARRIERS
        return token.text in _WORDS or token.text in self.read.connectors

    def is_ending(self, at: int) -> bool:
        """Letters written onto a number: 17th, 1er, 17-го."""
        found = self.found
        if at == 0 or found[at].kind != "word" or found[at].width > 4:
            return False
        before = found[at - 1]
        if before.kind == "sign" and before.text in "-'’." and at > 1:
            return found[at - 2].kind == "number" and touch(found, at - 2, at)
        return before.kind == "number" and touch(found, at - 1, at)


def touch(found: Sequence[Token], first: int, last: int) -> bool:
    """Whether no blank is between the tokens ``first`` to ``last``, which is the last one."""
    return all(one.end == other.start for one, other in pairwise(found[first : last + 1]))


def is_year(number: int | None) -> bool:
    """Whether the number may be a year of four digits."""
    return number is not None and 1000 <= number < 3000


def is_time(found: Sequence[Token], at: int) -> bool:
    """14:30, 14h30, 2 pm: no day and no year."""
    if at + 1 >= len(found):
        return False
    if found[at + 1].text in (":", "h") and touch(found, at, at + 1):
        return True
    if at and found[at - 1].text == ":" and touch(found, at - 1, at):
        return at > 1 and found[at - 2].kind == "number"
    return found[at + 1].text in ("am", "pm", "uhr")


def is_decimal(found: Sequence[Token], at: int) -> bool:
    """Whether the number is the end of another one: 3.17, 1,017."""
    if at < 2 or found[at - 1].text not in (".", ",", ":"):
        return False
    return found[at - 2].kind == "number" and touch(found, at - 2, at)


def is_decimal_after(found: Sequence[Token], at: int) -> bool:
    """Whether the number is the beginning of another one."""
    if at + 2 >= len(found) or found[at + 1].text not in (".", ",", ":"):
        return False
    return touch(found, at, at + 1) and is_decimal(found, at + 2)


def is_glued(found: Sequence[Token], at: int, after: bool = False) -> bool:
    """Whether a letter that scanners take for a digit is written onto the number: l7, 2O12."""
    if at and touch(found, at - 1, at) and set(found[at - 1].text) <= _MISREAD:
        return True
    misread = after and at + 2 < len(found) and set(found[at + 1].text) <= set("lioszb|")
    return misread and touch(found, at, at + 2)

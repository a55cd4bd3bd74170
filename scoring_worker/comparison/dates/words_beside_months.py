"""Day and year on the two sides of a month's name, in words."""

from __future__ import annotations

from collections.abc import Sequence

from .cldr import base
from .digits_beside_months import take_year
from .month_neighbours import MOST_SKIPPED, Around, Neighbours
from .spelled_numbers import LONGEST, first_words, spelled_days, spelled_years, without_fillers
from .tokens import Token


def spelled_left(date: Around, near: Neighbours) -> None:
    """ "the fifteenth day of April"."""
    table = spelled_days(near.language)
    end = date.first
    while end > near.done and date.first - end < MOST_SKIPPED and near.passes(near.found[end - 1]):
        end -= 1
    for start in range(max(near.done, end - 4), end):
        words = _words(near.found, start, end)
        if words in table and near.found[start].kind == "word":
            date.days, date.first = [(table[words], start)], start
            return


def spelled_right(date: Around, near: Neighbours) -> None:
    """ "April fifteenth", and the year in words behind either."""
    if not date.days:
        _spelled(date, near, spelled_days(near.language), 4, is_day=True)
    if date.year is None:
        _spelled(date, near, spelled_years(near.language), LONGEST, is_day=False)
        at = near.on(date.last) if date.days else None
        if date.year is None and at is not None and near.found[at].width == 4:
            take_year(date, near, at)


def _spelled(
    date: Around, near: Neighbours, table: dict[tuple[str, ...], int], most: int, is_day: bool
) -> None:
    found, start = near.found, date.last
    while start < len(found) and start - date.last < MOST_SKIPPED and near.passes(found[start]):
        start += 1
    firsts = first_words(base(near.language))
    for begin in dict.fromkeys((date.last, start)):
        if begin >= len(found) or found[begin].text not in firsts:
            continue
        for end in range(min(len(found), begin + most + 4), begin, -1):
            words = _words(found, begin, end)
            if words in table and found[end - 1].kind == "word":
                if is_day:
                    date.days = [(table[words], begin)]
                else:
                    date.year = table[words]
                date.last = end
                return


def _words(found: Sequence[Token], start: int, end: int) -> tuple[str, ...]:
    """The words of the tokens, hyphens left out; empty where anything else stands there."""
    taken = found[start:end]
    if any(
        token.kind == "number" or (token.kind == "sign" and token.text not in "-‐‑")
        for token in taken
    ):
        return ()
    return without_fillers(token.text for token in taken if token.kind == "word")

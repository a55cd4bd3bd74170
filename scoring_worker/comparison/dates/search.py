"""Every date of a text, in any notation and script, with its place."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from .calendars import other_calendar_dates
from .ideographic import ideographic_dates
from .numeric import numeric_dates, roman_dates
from .partial_date import PartialDate, doubted
from .quarters import quarters
from .tokens import Token, tokens, words_in
from .vague_words import Lexicon, lexicon
from .worded_dates import worded_dates

_DIGIT = re.compile(r"\d")
_HAN = re.compile("[年月년월]")
_NOISY = re.compile(
    r"(?<![^\W_])(?=[\dlIOoSB|/.\-]{0,9}[lIOoSB|])(?:[\dlIOoSB|]{1,2}[/.\-]){2}[\dlIOoSB|]{2,4}(?![^\W_])"
)
"""A numeric date with letters that scanners read for digits: l7/01/2O12."""
_UNREAD_MONTH = re.compile(
    r"(?:(?<!\d)\d{1,2}(?!\d)[.ºª]?[^\W\d_]{0,2}[\s.,/\-]{1,3}(?:[^\W\d_]{1,3}\s)?\d?[^\W\d_]{3,14}"
    r"|(?<![^\W\d_])[^\W\d_]{3,14}\.?\s\d{1,2}(?:st|nd|rd|th)?)[\s.,/\-']{1,3}(?:[^\W\d_]{1,3}\s)?$"
)
"""A day and a word before a year: a month that could not be read is there, perhaps."""
_GAP_OF_SHARED_YEAR = 14  # code points between "March 4 and" and "April 26, 2016"
_LONGEST = 200_000
"""Code points that are read at all; a passage is some hundreds."""


def dates_in(
    text: str, language: str | None = None, day_first: bool | None = None
) -> list[PartialDate]:
    """Every date of ``text`` in order. ``start`` and ``end`` are code points of ``text`` as it was
    given. ``day_first`` reads 03/04/2021; None leaves it open unless the language decides.

    Never raises; linear in the text.
    """
    return list(_dates_in(text[:_LONGEST], language, day_first))


@lru_cache(maxsize=1024)
def _dates_in(text: str, language: str | None, day_first: bool | None) -> tuple[PartialDate, ...]:
    found, words = tokens(text), lexicon(language)
    taken: list[PartialDate] = list(worded_dates(found, language))
    if _HAN.search(text):
        taken = _without_overlaps([*ideographic_dates(text), *taken])
    if _DIGIT.search(text):
        numeric = [*roman_dates(text), *numeric_dates(text, language, day_first)]
        numeric.sort(key=lambda date: date.certainty != "stated")
        noisy = [
            PartialDate(start=match.start(), end=match.end(), certainty="unread")
            for match in _NOISY.finditer(text)
        ]
        taken = _without_overlaps([*taken, *quarters(found, words, language), *numeric, *noisy])
    taken = _without_overlaps([*taken, *other_calendar_dates(text, found)])
    taken.sort(key=lambda date: date.start)
    starts = [token.start for token in found]
    doubted_dates = (_doubt(text, found, starts, date, words) for date in taken)
    return tuple(_with_shared_years(text, list(doubted_dates)))


def _without_overlaps(dates: Sequence[PartialDate]) -> list[PartialDate]:
    """Dates that overlap none before them in the sequence."""
    kept: list[PartialDate] = []
    covered = bytearray(max((date.end for date in dates), default=0))
    for date in dates:
        if covered.find(1, date.start, date.end) < 0:
            covered[date.start : date.end] = b"\1" * (date.end - date.start)
            kept.append(date)
    return kept


def _doubt(
    text: str, found: Sequence[Token], starts: Sequence[int], date: PartialDate, words: Lexicon
) -> PartialDate:
    if date.certainty != "stated":
        return date
    first = bisect_left(starts, date.start)
    behind = bisect_left(starts, date.end)
    partial = date.day is None
    before = first
    while before and first - before < 3 and found[before - 1].text in _CONNECTING:
        before -= 1
    for at in {first, before}:
        if words.ends_with(found, at, "about"):
            return doubted(date, "vague")
        if partial and (words.ends_with(found, at, "part") or words.ends_with(found, at, "season")):
            return doubted(date, "part")
    if partial and words.begins_at(found, behind, "after"):
        return doubted(date, "part")
    if date.parts[1:] == (None, None) and date.quarter is None:
        window = text[max(0, date.start - 48) : date.start]
        if _UNREAD_MONTH.search(window):
            return doubted(date, "unread")
    return date


_CONNECTING = words_in("before_a_date")


def _with_shared_years(text: str, dates: list[PartialDate]) -> list[PartialDate]:
    """ "March 4 and April 26, 2016": the year is once and holds for both."""
    for index in range(len(dates) - 2, -1, -1):
        date, following = dates[index], dates[index + 1]
        between = text[date.end : following.start]
        near = len(between) <= _GAP_OF_SHARED_YEAR and not any(c in between for c in ".;:!?\n")
        lacks = date.year is None and date.month is not None
        if near and lacks and following.year is not None and following.month is not None:
            dates[index] = replace(date, year=following.year, others=())
    return dates

"""Dates in digits: 2012-01-17, 17.1.2012, 17/01/12, 01/2012, 2012, 20120117, '84.

A date is a run of digits and separators that is nothing but a date. A longer run, or one that
letters, hyphens or signs are written onto, is a number of something: INV-2021-01-17-0013,
192.168.1.12, v1.2.3.
"""

import re
from collections.abc import Iterator

from .cldr import Order, order_of
from .digit_runs import Run, free_after, free_before, is_triple, runs_in
from .partial_date import Certainty, PartialDate, Parts, doubted, exists, of_readings

_RANGE = re.compile(r"(?<![\w.,/:-])(?P<d>\d{1,2})(?:\.(?:(?P<m>\d{1,2})\.?)?)?\s?[-–—]\s?$")
_NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ROMAN = re.compile(
    r"(?<![\w.,/-])(?P<d>\d{1,2})(?P<sign>[./-]|\.?\s)(?P<m>I{1,3}|I?[VX]|VI{1,3}|XI{1,2})(?P=sign)"
    r"(?P<y>\d{4})(?![\w-])"
)
_BARE = range(1000, 3000)
_LIKELY = range(1500, 2200)
"""Bare numbers outside are seldom years, and count only where they are the value's."""
_FIRST_OF_COMPOUND = re.compile(r"-[^\W\d_]{2}")
"""Behind the year of "2019-based": a word, where an identifier has a letter or digits."""


def numeric_dates(text: str, language: str | None, day_first: bool | None) -> Iterator[PartialDate]:
    """Every date in digits. A lone number may be a year."""
    order = order_of(language)
    for run in runs_in(text):
        yield from _read(text, run, order, day_first)


def _read(
    text: str, run: Run, order: Order | None, day_first: bool | None
) -> Iterator[PartialDate]:
    free = free_before(text, run.start) and free_after(text, run.end)
    certainty: Certainty = "stated" if free else "embedded"
    for first, last in _dates_of(run):
        date = _of(run, first, last, order, day_first)
        if date is None:
            continue
        if certainty == "embedded" or " " in run.separators:
            joined = last - first == 1 and _FIRST_OF_COMPOUND.match(text, run.end)
            weak: Certainty = "embedded" if certainty == "embedded" and not joined else "weak"
            yield doubted(date, weak)
        elif last - first == 1:
            if _is_alone(text, run):
                yield date
        else:
            yield date
            yield from _first_of_range(text, date)
    if free and len(run.numbers) == 2:
        yield from _second_year(run)


def _dates_of(run: Run) -> Iterator[tuple[int, int]]:
    """First and last number (exclusive) of each date that the run is made of."""
    count, signs = len(run.numbers), run.separators
    if count <= 3 and len(set(signs)) <= 1:
        yield 0, count
    elif count == 6 and signs[0] == signs[1] == signs[3] == signs[4] != signs[2]:
        yield 0, 3  # 17/01/2012-19/01/2012
        yield 3, 6
    elif count == 4 and signs in ("-..", "-//", "/.."):
        yield 1, 4  # 17-19.01.2012
    elif count > 3 and "." not in signs:
        for first in range(count - 2):  # INV-2021-01-17-0013: seen, and no date
            if len(run.texts[first]) == 4:
                yield first, first + 3


def _of(
    run: Run, first: int, last: int, order: Order | None, day_first: bool | None
) -> PartialDate | None:
    numbers, texts = run.numbers[first:last], run.texts[first:last]
    start, end = run.places[first][0], run.places[last - 1][1]
    sign = run.separators[first : first + 1]
    widths = [len(each) for each in texts]
    if len(numbers) == 3 and is_triple(widths):
        spaced = sign == "." and end - start > sum(widths) + 2
        readings = _triple(numbers, widths, ". " if spaced else sign, order, day_first)
        return of_readings(readings, start, end, tuple(numbers)) if readings else None
    if len(numbers) == 2:
        return _pair(numbers, widths, sign, start, end, order, day_first)
    if len(numbers) == 1:
        return _single(numbers[0], widths[0], start, end)
    return None


def _triple(
    numbers: list[int], widths: list[int], sign: str, order: Order | None, day_first: bool | None
) -> list[Parts]:
    a, b, c = numbers
    dmy, mdy, ymd = Parts(c, b, a), Parts(c, a, b), Parts(a, b, c)
    if widths[0] == 4:
        readings = [ymd] if exists(ymd) else [Parts(a, c, b)]
    elif widths[2] == 1:
        readings = [ymd] if order == "ymd" else []
    elif sign in (".", ". "):
        # No locale writes month.day.year; Koreans write the year of two digits first.
        readings = [ymd, dmy] if widths[2] == 2 and order == "ymd" else [dmy, mdy]
        readings = [next((each for each in readings if exists(each)), readings[0])]
        if sign == ". " and widths[2] == 2 and order is None and exists(ymd):
            readings.append(ymd)  # "12. 1. 17." of a language that nobody has named
    elif widths[2] == 4 or order != "ymd":
        readings = _either(dmy, mdy, order, day_first)
    else:
        readings = [ymd] if exists(ymd) else [dmy]
    return list(dict.fromkeys(each for each in readings if exists(each)))


def _either(dmy: Parts, mdy: Parts, order: Order | None, day_first: bool | None) -> list[Parts]:
    if not exists(dmy) or not exists(mdy):
        return [dmy, mdy]
    if day_first is None and order in ("dmy", "mdy"):
        day_first = order == "dmy"
    return [dmy, mdy] if day_first is None else [dmy] if day_first else [mdy]


def _pair(  # noqa: PLR0917
    numbers: list[int],
    widths: list[int],
    sign: str,
    start: int,
    end: int,
    order: Order | None,
    day_first: bool | None,
) -> PartialDate | None:
    a, b = numbers
    if widths[0] == 4 and widths[1] == 2 and a in _BARE and sign in "-/" and 1 <= b <= 12:
        return PartialDate(a, b, None, start, end)
    if widths[0] == 4 and widths[1] in (2, 4) and a in _BARE and sign in "-/":
        return PartialDate(a, None, None, start, start + 4)  # 2012-2014, 2019/20
    if widths[1] == 4 and widths[0] <= 2 and b in _BARE and 1 <= a <= 12:
        return PartialDate(b, a, None, start, end)
    if max(widths) <= 2 and exists(Parts(None, b, a)) and sign in "./":
        both = _either(Parts(None, b, a), Parts(None, a, b), order, day_first)
        readings = [each for each in both if exists(each)]
        return doubted(of_readings(readings, start, end, (a, b)), "weak")
    return None


def _single(number: int, width: int, start: int, end: int) -> PartialDate | None:
    if width == 4 and number in _BARE:
        sure: Certainty = "stated" if number in _LIKELY else "weak"
        return PartialDate(number, None, None, start, end, certainty=sure)
    if width == 8:
        parts = Parts(number // 10000, number // 100 % 100, number % 100)
        if parts.year in _LIKELY and exists(parts):
            return doubted(of_readings([parts], start, end), "weak")
    return None


def _is_alone(text: str, run: Run) -> bool:
    """Whether a lone number may be a year: it is no amount, no share and no part of a decimal."""
    before, after = text[max(0, run.start - 2) : run.start], text[run.end : run.end + 2]
    decimal = re.match(r"[.,]\d", after) or re.search(r"\d[.,:]$", before)
    return not decimal and not after.lstrip().startswith(("%", "€", "$", "£"))


def _first_of_range(text: str, last: PartialDate) -> Iterator[PartialDate]:
    """The first day of 17-19.01.2012, 17.-19.01.2012 and 17.12. - 19.12.2012."""
    offset = max(0, last.start - 12)
    match = _RANGE.search(text[offset : last.start])
    if match is None or last.day is None or last.others:
        return
    day, month = int(match["d"]), int(match["m"]) if match["m"] else last.month
    if exists(Parts(last.year, month, day)):
        yield PartialDate(last.year, month, day, offset + match.start("d"), offset + match.end("d"))


def roman_dates(text: str) -> Iterator[PartialDate]:
    """17.X.2012 and 17 XI 2012, as Poles, Hungarians and clerks write."""
    for match in _ROMAN.finditer(text):
        parts = Parts(int(match["y"]), _NUMERALS.index(match["m"]) + 1, int(match["d"]))
        if exists(parts):
            yield of_readings([parts], match.start(), match.end())


def _second_year(run: Run) -> Iterator[PartialDate]:
    """The second year of 2012-2014 and 2019/20."""
    (a, b), widths = run.numbers, [len(each) for each in run.texts]
    start, end = run.places[1]
    if widths == [4, 4] and a in _BARE and b in _BARE and run.separators in ("-", "/"):
        yield PartialDate(b, None, None, start, end)
    elif widths == [4, 2] and a in _BARE and b == (a + 1) % 100 and run.separators in ("-", "/"):
        yield PartialDate(a + 1, None, None, start, end, certainty="weak")

"""Dates in digits: 2012-01-17, 17.1.2012, 17/01/12, 01/2012, 2012, 20120117, '84.

A date is a run of digits and separators that is nothing but a date. A longer run, or one that
letters, hyphens or signs are written onto, is a number of something: INV-2021-01-17-0013,
192.168.1.12, v1.2.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .months import Order, order_of
from .partial import Certainty, PartialDate, Parts, doubted, exists, of_readings
from .tokens import UNSEEN

_SEPARATORS = r"-/.\u2010\u2011\u2044\u2215\uff0e\uff0f\uff0d"
_RUN = re.compile(rf"\d+(?:[{UNSEEN}]*[{_SEPARATORS}][{UNSEEN}]*\d+)*")
_NUMBER = re.compile(r"\d+")
_GAP = re.compile(rf"[{UNSEEN}]*(?:\.\s?|\s?[-/]\s?|\s)[{UNSEEN}]*")
"""Between the numbers of "17. 1. 2012", "17 / 01 / 2012" and "17 01 2012"."""
_RANGE = re.compile(r"(?<![\w.,/:-])(?P<d>\d{1,2})(?:\.(?:(?P<m>\d{1,2})\.?)?)?\s?[-–—]\s?$")
_NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ROMAN = re.compile(
    r"(?<![\w.,/-])(?P<d>\d{1,2})(?P<sign>[./-]|\.?\s)(?P<m>I{1,3}|I?[VX]|VI{1,3}|XI{1,2})(?P=sign)"
    r"(?P<y>\d{4})(?![\w-])"
)
_SAME = str.maketrans("\u2010\u2011\uff0d\u2044\u2215\uff0f", "---///")
_GLUED_BEFORE = frozenset("-/\\_#$€£¥@+=&~^.,:'’\u2010\u2011")
_BARE = range(1000, 3000)
_LIKELY = range(1500, 2200)
"""Bare numbers outside are seldom years, and count only where they are the value's."""
_LONGEST = 64  # code points of a run; nothing longer is a date


class Run:
    """Digits with separators between them, not a blank inside."""

    __slots__ = ("end", "numbers", "places", "separators", "start", "texts")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start, self.end = start, end
        found = list(_NUMBER.finditer(text, start, end))
        self.texts = [match[0] for match in found]
        self.places = [match.span() for match in found]
        self.numbers = [int(text) if len(text) <= 8 else -1 for text in self.texts]
        between = zip(self.places, self.places[1:], strict=False)
        self.separators = "".join(
            next(c for c in text[one[1] : other[0]] if c not in _INVISIBLE).translate(_SAME)
            for one, other in between
        )


_FIRST_OF_COMPOUND = re.compile(r"-[^\W\d_]{2}")
"""Behind the year of "2019-based": a word, where an identifier has a letter or digits."""
_INVISIBLE = frozenset("\u200b\u200e\u200f\u061c\u2060\ufeff") | {
    chr(c) for c in (*range(0x2066, 0x206A), *range(0x202A, 0x202F))
}


def numeric_dates(text: str, language: str | None, day_first: bool | None) -> Iterator[PartialDate]:
    """Every date in digits. A lone number may be a year."""
    order = order_of(language)
    runs = [
        Run(text, *match.span())
        for match in _RUN.finditer(text)
        if match.end() - match.start() <= _LONGEST
    ]
    index = 0
    while index < len(runs):
        run, taken = _joined(text, runs, index)
        yield from _read(text, run, order, day_first)
        index += taken


def _joined(text: str, runs: list[Run], index: int) -> tuple[Run, int]:
    """The run at ``index``, with those behind it that complete three numbers of a date."""
    run = runs[index]
    count, taken = len(run.numbers), 1
    gap = ""
    while count < 3 and index + taken < len(runs):
        before, following = runs[index + taken - 1], runs[index + taken]
        between = text[before.end : following.start]
        if (
            len(between) > 6
            or not _GAP.fullmatch(between)
            or (gap and between.strip() != gap.strip())
        ):
            break
        gap, count, taken = between, count + len(following.numbers), taken + 1
    last = runs[index + taken - 1]
    if taken == 1 or count != 3:
        return run, 1
    joined = Run.__new__(Run)
    several = runs[index : index + taken]
    joined.start, joined.end = run.start, last.end
    joined.texts = [each for one in several for each in one.texts]
    joined.places = [each for one in several for each in one.places]
    joined.numbers = [each for one in several for each in one.numbers]
    sign = gap.strip().strip("".join(_INVISIBLE)).translate(_SAME) or " "
    own = "".join(one.separators for one in several)
    joined.separators = own[0] * 2 if own and own[0] == sign else sign * 2 if not own else ""
    widths = [len(each) for each in joined.texts]
    if not joined.separators or not _is_triple(widths) or (sign == " " and widths != [2, 2, 4]):
        return run, 1
    return joined, taken


def _is_triple(widths: list[int]) -> bool:
    a, b, c = widths
    return b <= 2 and ((a == 4 and c <= 2) or (a <= 2 and c in (2, 4)) or (a == 2 and c == 1))


def _read(
    text: str, run: Run, order: Order | None, day_first: bool | None
) -> Iterator[PartialDate]:
    free = _free_before(text, run.start) and _free_after(text, run.end)
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
            yield from _alone(text, run, first, date)
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
    if len(numbers) == 3 and _is_triple(widths):
        spaced = sign == "." and end - start > sum(widths) + 2
        readings = _triple(numbers, widths, ". " if spaced else sign, order, day_first)
        return of_readings(readings, start, end, tuple(numbers)) if readings else None
    if len(numbers) == 2:
        return _pair(numbers, widths, sign, start, end)
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


def _pair(
    numbers: list[int], widths: list[int], sign: str, start: int, end: int
) -> PartialDate | None:
    a, b = numbers
    if widths[0] == 4 and widths[1] == 2 and a in _BARE and sign in "-/" and 1 <= b <= 12:
        return PartialDate(a, b, None, start, end)
    if widths[0] == 4 and widths[1] in (2, 4) and a in _BARE and sign in "-/":
        return PartialDate(a, None, None, start, start + 4)  # 2012-2014, 2019/20
    if widths[1] == 4 and widths[0] <= 2 and b in _BARE and 1 <= a <= 12:
        return PartialDate(b, a, None, start, end)
    if max(widths) <= 2 and exists(Parts(None, b, a)) and sign in "./":
        readings = [each for each in (Parts(None, b, a), Parts(None, a, b)) if exists(each)]
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


def _alone(text: str, run: Run, first: int, date: PartialDate) -> Iterator[PartialDate]:
    """A lone number: no year where it is an amount, a share or part of a decimal."""
    before, after = text[max(0, run.start - 2) : run.start], text[run.end : run.end + 2]
    decimal = re.match(r"[.,]\d", after) or re.search(r"\d[.,:]$", before)
    if not decimal and not after.lstrip().startswith(("%", "€", "$", "£")):
        yield date


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


def _free_before(text: str, start: int) -> bool:
    """Whether nothing is written onto the run from the left."""
    if start == 0:
        return True
    before = text[start - 1]
    if before == "_" or (before.isascii() and before.isalnum()):
        return False
    if before not in _GLUED_BEFORE:
        return True
    beyond = text[start - 2 : start - 1]
    if before in ":.,":  # "am:2012", but 12:2012 and 3,2012 are something else
        return not beyond.isdigit() and before != "."
    return before in "-'’" and (not beyond or beyond in " \n\t.([")


def _free_after(text: str, end: int) -> bool:
    after, beyond = text[end : end + 1], text[end + 1 : end + 2]
    if after == "_" or (after.isascii() and after.isalpha()):
        return (after in "Tt" and beyond.isdigit()) or (after in "r" and not beyond.isalnum())
    if after in ("-", "/", "\\", "@", "+", "\u2010", "\u2011"):
        return not (beyond.isalnum() or beyond == "_")
    return not (after in ",." and beyond.isdigit() and after != "") if after else True

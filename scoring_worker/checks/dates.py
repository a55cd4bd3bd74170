"""Dates in passages and values, with whatever part is missing left open."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from scoring_worker.packs.folding import fold

from .numerals import digits_for_words

_ENGLISH = [name.casefold() for name in calendar.month_name[1:]]
_FRENCH = (
    "janvier", "fevrier", "mars", "avril", "mai", "juin", "juillet", "aout", "septembre",
    "octobre", "novembre", "decembre",
)  # fmt: skip
_SHORT = {
    "jan": 1, "janv": 1, "feb": 2, "fev": 2, "fevr": 2, "mar": 3, "apr": 4, "avr": 4, "jun": 6,
    "jul": 7, "juil": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
MONTHS = {
    **{name: number for number, name in enumerate(_ENGLISH, 1)},
    **{name: number for number, name in enumerate(_FRENCH, 1)},
    **_SHORT,
}


def _loose(name: str) -> str:
    """A month's name even where a scanner put a blank into it ("o ctober")."""
    return r"\s?".join(name) if len(name) > 4 else name


_MONTH = (
    "(?P<m>" + "|".join(_loose(name) for name in sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
)
_DAY = r"(?P<d>[0-3]?\d)(?:\s?(?:st|nd|rd|th|er|e)\b)?"
_YEAR = r"(?P<y>(?:1[6-9]|20)\d\d)(?![\d])"
_NOTED_YEAR = r"(?P<y>(?:1[6-9]|20)\d\d)\d{0,2}(?![\d])"
"""A year with the number of a footnote behind it, which plain text runs together."""
_SHORT_YEAR = r"(?P<y>(?:1[6-9]|20)\d\d|'?\d\d)(?![\d])"
_ORDINAL = r"(?:\s?(?:st|nd|rd|th|er|e)\b)?"
_LISTED = r"\s*(?:,\s*and|,\s*et|,|-|&|/|\bto\b|\band\b|\bor\b|\bet\b|\bau\b)\s*"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w/-]){_YEAR}\s?[-/.]\s?(?P<n1>[01]?\d)\s?[-/.]\s?(?P<n2>[0-3]?\d)(?!\d)",
        rf"(?<![\w/-])(?P<n2>[0-3]?\d)\s?[-/.]\s?(?P<n1>[0-3]?\d)\s?[-/.]\s?{_SHORT_YEAR}",
        rf"(?<!\w){_DAY}[\s-]*(?:day\s+of\s+|of\s+|de\s+)?{_MONTH}[\s,-]*{_NOTED_YEAR}",
        rf"(?<!\w){_MONTH}\s*{_DAY}(?:\s*,\s*|\s+)(?:of\s+)?{_NOTED_YEAR}",
        rf"(?<!\w){_MONTH}\s*{_DAY}(?:\s*,\s*|\s+)(?:of\s+)?{_SHORT_YEAR}(?!\s*[:h]\s*\d\d)",
        rf"(?<!\w){_MONTH}\s*,?\s*(?:of\s+|de\s+)?{_NOTED_YEAR}",
        rf"(?<!\w){_DAY}[\s-]*(?:day\s+of\s+|of\s+|de\s+)?{_MONTH}(?!\w)",
        rf"(?<!\w){_MONTH}\s*{_DAY}(?![\d,]*\d)",
        rf"(?<![\w/.,$#-]){_YEAR}(?![\w/]|-\d{{5}}|[.,]\d)",
        rf"(?<=\d\d\d\d-){_YEAR}(?![\w/-])",
        rf"(?<=\[){_YEAR}(?=\])",
        rf"\b(?:dated|in|of|since|until|by|from|year|en|depuis)\s+{_NOTED_YEAR}",
    )
)
_SEVERAL = rf"[0-3]?\d{_ORDINAL}(?:{_LISTED}[0-3]?\d{_ORDINAL}){{1,11}}(?!\d)"
_LISTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\w){_MONTH}\s*(?P<days>{_SEVERAL})(?:\s*,?\s*(?:of\s+)?{_NOTED_YEAR})?",
        rf"(?<!\w)(?P<days>{_SEVERAL})[\s-]*(?:day\s+of\s+|of\s+|de\s+)?{_MONTH}"
        rf"(?:[\s,-]*{_NOTED_YEAR})?(?!\w)",
    )
)
"""Several days of one month: "June 20 to 22, 2022", "the 4th, 5th and 9th of March"."""
_VAGUE = re.compile(r"\b(?:about|around|circa|approximately|either|near|or|vers|environ)\b")
_KEYS = {"yyyy": "year", "year": "year", "mm": "month", "month": "month", "dd": "day", "day": "day"}
_CENTURY_PIVOT = 50
"""Two-digit years below it are of this century."""


_LONG_MONTHS = tuple(name for name in MONTHS if len(name) > 4)
_DIGITS_MISREAD = str.maketrans({"l": "1", "i": "1", "o": "0"})
_MISREAD = re.compile(
    r"(?<![\w-])(?:[lio]?\d[\dlio]{0,3}|[lio]\d)(?![\w-])"
    r"|(?<![a-z])[a-z]{5,10}(?=\s+[\dlio])|(?<=\d )[a-z]{5,10}(?![a-z])"
)
"""What a scanner reads for "19", "2020" or "September", where it can only be a date's part."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date of which any part may be unknown. ``start`` and ``end`` are of the folded text.

    ``swappable``: written in digits so that day and month may be either way round.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    start: int = 0
    end: int = 0
    swappable: bool = False

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """(year, month, day)."""
        return self.year, self.month, self.day

    def __str__(self) -> str:
        stated = ("????" if self.year is None else f"{self.year:04}", self.month, self.day)
        return "-".join(
            p if isinstance(p, str) else "??" if p is None else f"{p:02}" for p in stated
        )


def dates_in(text: str) -> list[PartialDate]:
    """Every date of ``text``, in order; dates in words and redacted ones included."""
    folded = legible(fold(text))
    taken = _listed(folded)
    for pattern in _PATTERNS:
        for match in pattern.finditer(folded):
            date = _of(match)
            free = all(match.end() <= t.start or t.end <= match.start() for t in taken)
            if date is not None and free:
                taken.append(date)
    return _share_years(sorted(taken, key=lambda date: date.start))


def legible(folded: str) -> str:
    """``folded`` with numerals in digits, misread digits and months mended: what dates stand in."""
    return _MISREAD.sub(_mend, digits_for_words(folded))


def _mend(match: re.Match[str]) -> str:
    word = match[0]
    if word[0].isdigit() or word[-1].isdigit():
        return word.translate(_DIGITS_MISREAD)
    if word in MONTHS:
        return word
    near = process.extractOne(
        word, _LONG_MONTHS, scorer=Levenshtein.distance, score_cutoff=1 if len(word) < 8 else 2
    )
    return word if near is None else near[0]


def _listed(folded: str) -> list[PartialDate]:
    """The days of lists and ranges, each where it stands."""
    found: list[PartialDate] = []
    for pattern in _LISTS:
        for match in pattern.finditer(folded):
            if all(match.end() <= date.start or date.end <= match.start() for date in found):
                found += _days(match)
    return found


def _days(match: re.Match[str]) -> list[PartialDate]:
    month = MONTHS.get(re.sub(r"\s", "", match["m"]))
    days = [(int(day[0]), day) for day in re.finditer(r"\d+", match["days"])]
    if not all(1 <= number <= 31 for number, _ in days):
        return []
    edges = [match.start(), *(match.start("days") + day.end() for _, day in days[:-1]), match.end()]
    return [
        PartialDate(_year(match["y"]), month, number, edges[at], edges[at + 1])
        for at, (number, _) in enumerate(days)
    ]


def is_vague(text: str) -> bool:
    """Whether the passage hedges ("about 1997 or 1998")."""
    return _VAGUE.search(fold(text)) is not None


def date_of_value(value: JsonValue) -> PartialDate | None:
    """``value`` as a date: a structured one, or a text that is nothing but a date."""
    if isinstance(value, Mapping):
        return _structured(value)
    if not isinstance(value, str):
        return None
    folded = legible(fold(value))
    found = dates_in(value)
    if len(found) != 1:
        return None
    rest = folded[: found[0].start] + folded[found[0].end :]
    return found[0] if not re.sub(r"\b(?:the|le|on|du|de)\b|\W", "", rest) else None


def _structured(value: Mapping[str, JsonValue]) -> PartialDate | None:
    present = {key: part for key, part in value.items() if part not in (None, "")}
    if not present or not set(present) <= set(_KEYS):
        return None
    numbers = {_KEYS[key]: _number(part) for key, part in present.items()}
    if any(number is None for number in numbers.values()):
        return None
    return PartialDate(**numbers)  # type: ignore[arg-type]


def _number(part: JsonValue) -> int | None:
    text = str(part).strip().casefold()
    if text.isdecimal():
        return int(text)
    return MONTHS.get(fold(text))


def _of(match: re.Match[str]) -> PartialDate | None:
    groups = match.groupdict()
    year = _year(groups.get("y"))
    if groups.get("n1"):
        return _numeric(match, year, int(groups["n1"]), int(groups["n2"]))
    name = re.sub(r"\s", "", groups.get("m") or "")
    month = MONTHS.get(name)
    day = int(groups["d"]) if groups.get("d") else None
    if (day is not None and not 1 <= day <= 31) or (year, month) == (None, None):
        return None
    return PartialDate(year, month, day, match.start(), match.end())


def _numeric(match: re.Match[str], year: int | None, month: int, day: int) -> PartialDate | None:
    if month > 12 >= day:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    iso = len(match[0].split("-")[0].strip()) == 4
    either_way = day <= 12 and not iso
    return PartialDate(year, month, day, match.start(), match.end(), either_way)


def _year(text: str | None) -> int | None:
    if not text:
        return None
    digits = text.lstrip("'")
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (2000 if int(digits) < _CENTURY_PIVOT else 1900)


def _share_years(dates: list[PartialDate]) -> list[PartialDate]:
    """ "March 4 and April 26, 2016": the year stands once and holds for both."""
    shared = list(dates)
    for index in range(len(shared) - 2, -1, -1):
        date, following = shared[index], shared[index + 1]
        if date.year is None and following.day is not None and following.start - date.end < 8:
            shared[index] = replace(date, year=following.year)
    return shared

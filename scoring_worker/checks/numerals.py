"""Numbers written in words, English and French, turned into digits."""

from __future__ import annotations

import re

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "neuf": 9, "dix": 10,
    "onze": 11, "douze": 12, "treize": 13, "quatorze": 14, "quinze": 15, "seize": 16,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
}  # fmt: skip
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000,
    "cent": 100, "cents": 100, "mille": 1000,
}  # fmt: skip
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "premier": 1,
}  # fmt: skip
_CARDINAL = "|".join(sorted({**_UNITS, **_TENS, **_SCALES}, key=len, reverse=True))
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_GAP = r"(?:[\s-]+|\s+and\s+|-et-|\s+et\s+)"
_RUN = re.compile(
    rf"\b(?:(?:{_CARDINAL})(?:{_GAP}(?:{_CARDINAL}))*(?:{_GAP}(?:{_ORDINAL}))?|(?:{_ORDINAL}))\b"
)
"""An ordinal ends a number: "twenty first", but not "first six"."""
_SPLIT = re.compile(r"[\s-]+")
_MONTH_AHEAD = re.compile(r"\s+(?:day of|of|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")


def digits_for_words(folded: str) -> str:
    """``folded`` with its numerals in digits: "two thousand twelve" as "2012", "fifth" as "5th".

    "second", "first" and "third" stay as they are unless a month follows, and so does a lone
    "cent": they are too often no numbers.
    """
    return _RUN.sub(_in_digits, folded)


def _in_digits(match: re.Match[str]) -> str:
    numerals = [word for word in _SPLIT.split(match[0]) if word not in {"and", "et"}]
    if len(numerals) == 1 and not _is_number_alone(numerals[0], match):
        return match[0]
    value = _value(numerals)
    return f"{value}th" if numerals[-1] in _ORDINALS else str(value)


def _is_number_alone(word: str, match: re.Match[str]) -> bool:
    if word in _ORDINALS:
        return bool(_MONTH_AHEAD.match(match.string, match.end()))
    return word not in {"cent", "cents", "mille", "million", "billion"}


def _value(numerals: list[str]) -> int:
    """Sum with scales; "nineteen ninety-five" is a year, 1995."""
    if _is_spoken_year(numerals):
        return _small(numerals[:1]) * 100 + _small(numerals[1:])
    total = group = 0
    for word in numerals:
        scale = _SCALES.get(word)
        if scale is None:
            group += _small([word])
        elif scale == 100:
            group = max(group, 1) * scale
        else:
            total, group = total + max(group, 1) * scale, 0
    return total + group


def _is_spoken_year(numerals: list[str]) -> bool:
    return (
        len(numerals) in {2, 3}
        and numerals[0] in {"nineteen", "twenty", "eighteen"}
        and (numerals[1] in _TENS or _UNITS.get(numerals[1], 0) >= 10)
        and not any(word in _SCALES for word in numerals)
    )


def _small(numerals: list[str]) -> int:
    tables = (_UNITS, _TENS, _ORDINALS)
    return sum(table[word] for word in numerals for table in tables if word in table)

"""Days and years in words: "the fifteenth of April two thousand and twelve".

unicode-rbnf spells numbers by CLDR's own rules in some eighty languages; its answers for the days
of a month and the years of two centuries, read backwards, are the tables here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from unicode_rbnf import FormatPurpose, RbnfEngine

from .cldr import base
from .tokens import tokens

Words = tuple[str, ...]
LONGEST = 7
"""Words of the longest number that is looked for."""
_FILLERS = frozenset({"and"})
"""English says "two thousand and twelve" as often as not."""


@cache
def _engines() -> frozenset[str]:
    return frozenset(RbnfEngine.get_supported_languages())


@cache
def first_words(language: str | None) -> frozenset[str]:
    """The words that a number in words begins with."""
    code = base(language) or "en"
    return frozenset(words[0] for table in (_days(code), _years(code)) for words in table)


def spells(language: str | None) -> bool:
    """Whether numbers in words are read in this language."""
    code = base(language)
    return code is not None and bool(_days(code))


def spelled_days(language: str | None) -> dict[Words, int]:
    """1 to 31 in every form of the language; empty where it is not known."""
    return _days(base(language) or "en")


def spelled_years(language: str | None) -> dict[Words, int]:
    """1900 to 2099 in every form of the language."""
    return _years(base(language) or "en")


@cache
def _days(language: str) -> dict[Words, int]:
    return _spelled(language, range(1, 32), (FormatPurpose.ORDINAL, FormatPurpose.CARDINAL))


@cache
def _years(language: str) -> dict[Words, int]:
    return _spelled(language, range(1900, 2100), (FormatPurpose.YEAR, FormatPurpose.CARDINAL))


def _spelled(
    language: str, numbers: Iterable[int], purposes: tuple[FormatPurpose, ...]
) -> dict[Words, int]:
    if language not in _engines():
        return {}
    found: dict[Words, int] = {}
    for number in numbers:
        for purpose in purposes:
            for text in _texts(language, number, purpose):
                words = without_fillers(
                    token.text
                    for token in tokens(text.replace("\u00ad", ""))
                    if token.kind == "word"
                )
                if words and not any(word.isdigit() for word in words):
                    found.setdefault(words, number)
    return found


def _texts(language: str, number: int, purpose: FormatPurpose) -> list[str]:
    try:
        return list(_engine(language).format_number(number, purpose).text_by_ruleset.values())
    except (ValueError, KeyError):  # some languages have no ordinals, some no plural rules
        return []


@cache
def _engine(language: str) -> RbnfEngine:
    return RbnfEngine.for_language(language)


def without_fillers(words: Iterable[str]) -> Words:
    """``words`` without those that a number may or may not have."""
    return tuple(word for word in words if word not in _FILLERS)

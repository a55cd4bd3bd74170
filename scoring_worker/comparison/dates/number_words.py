"""Days and years in words: "the fifteenth of April two thousand and twelve".

CLDR's spellings of the days of a month and of the years of two centuries, read backwards, are the
tables here.
"""

from collections.abc import Iterable
from functools import cache

from ..cldr_spellout import COUNT, ORDINAL, YEAR, spelling_languages, spellings
from .cldr import base
from .tokens import tokens

Words = tuple[str, ...]
LONGEST = 7
"""Words of the longest number that is looked for."""
_FILLERS = frozenset({"and"})
"""English says "two thousand and twelve" as often as not."""


@cache
def first_words(language: str | None) -> frozenset[str]:
    """The words that a number in words begins with."""
    tables = spelled_days(language), spelled_years(language)
    return frozenset(words[0] for table in tables for words in table)


def spells(language: str | None) -> bool:
    """Whether numbers in words are read in this language."""
    return base(language) is not None and bool(spelled_days(language))


def spelled_days(language: str | None) -> dict[Words, int]:
    """1 to 31 in every form of the language; empty where it is not known."""
    return _spelled(base(language) or "en", range(1, 32), ORDINAL, COUNT)


def spelled_years(language: str | None) -> dict[Words, int]:
    """1900 to 2099 in every form of the language."""
    return _spelled(base(language) or "en", range(1900, 2100), YEAR, COUNT)


@cache
def _spelled(language: str, numbers: range, *kinds: str) -> dict[Words, int]:
    found: dict[Words, int] = {}
    for number in numbers if language in spelling_languages() else ():
        for text in (text for kind in kinds for text in spellings(language, number, kind)):
            words = without_fillers(token.text for token in tokens(text) if token.kind == "word")
            if words:
                found.setdefault(words, number)
    return found


def without_fillers(words: Iterable[str]) -> Words:
    """``words`` without those that a number may or may not have."""
    return tuple(word for word in words if word not in _FILLERS)

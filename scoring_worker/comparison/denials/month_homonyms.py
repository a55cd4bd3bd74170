"""Months whose names are small words of another language: the Romanian, German and French "mai"
of a date is not the Italian "never", neither as a denial nor as a sign of Italian."""

import re
from collections.abc import Sequence
from functools import cache

from ..dates.cldr import WIDELY_READ, known_languages, month_words
from .languages import languages, voters
from .tokens import Token, small_words, small_words_of


def words_beside_dates(*texts: str) -> list[str]:
    """The small words of ``texts`` without months that are beside a number."""
    words = small_words_of(*texts)
    if _foreign_months().isdisjoint(words):
        return words
    return small_words(_dated().sub(" ", " ".join(texts).casefold()))


def is_month_of_date(tokens: Sequence[Token], at: int) -> bool:
    """Whether token ``at`` is such a month with a number beside it: "1. mai", "mai 2000"."""
    if tokens[at].text not in _foreign_months():
        return False
    before = at - 2 if at > 1 and tokens[at - 1].text == "." else at - 1
    return any(
        0 <= beside < len(tokens) and tokens[beside].text.isdigit() for beside in (before, at + 1)
    )


@cache
def _foreign_months() -> frozenset[str]:
    """Full names of months that a language which has no such month has as a small word."""
    months: dict[str, set[str]] = {}
    for code in WIDELY_READ & known_languages():
        for name in month_words(code):
            months.setdefault(name, set()).add(code)
    speaking = {word: set(codes) for word, codes in voters().items()}
    for code, language in languages().items():
        for phrases in language.sections.values():
            for phrase in phrases:
                speaking.setdefault(phrase, set()).add(code)
    return frozenset(
        word for word in speaking.keys() & months.keys() if speaking[word] - months[word]
    )


@cache
def _dated() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, _foreign_months())))
    return re.compile(rf"(?<=\d)\W{{0,3}}\b(?:{names})\b|\b(?:{names})\b(?=\W{{0,3}}\d)")

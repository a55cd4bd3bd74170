"""Months in words: which month's name begins at a token, in the passage's language or in any."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .cldr import WIDELY_READ, base, is_part, known_languages, part, written_in
from .tokens import Token, words_in

_INFLECTED = words_in("languages_that_inflect_months")
"""Their months take endings that CLDR does not list ("w styczniu", "januárban")."""
_LONGEST_ENDING = 4
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer put no blank between words."""


@dataclass(frozen=True, slots=True)
class MonthName:
    """One month as written: its words, the months it may be, and whether the passage's own
    language has it."""

    words: tuple[str, ...]
    months: tuple[int, ...]
    own: bool
    english: bool


@dataclass(frozen=True, slots=True)
class Names:
    """What one language (or all) writes around dates."""

    by_word: dict[str, list[MonthName]]
    stems: dict[str, int]
    unspaced: re.Pattern[str] | None
    connectors: frozenset[str]
    weekdays: frozenset[str]


def names(language: str | None) -> Names:
    """What is read in a passage of ``language`` (ISO 639-1, or with a territory); None: of all
    widely read ones. Names of the language itself decide where two languages disagree."""
    return _names(base(language))


@lru_cache(maxsize=64)
def _names(own: str | None) -> Names:
    read = WIDELY_READ | ({own} if own else set())
    spoken = [written_in(each) for each in read & known_languages()]
    merged: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for each in spoken:
        for written, months in each.names.items():
            merged[written] |= months
    mine = written_in(own).names if own else {}
    english = written_in("en").names
    by_word: dict[str, list[MonthName]] = {}
    for written, months in {**merged, **mine}.items():
        name = MonthName(written, tuple(sorted(months)), written in mine, written in english)
        by_word.setdefault(written[0], []).append(name)
    for several in by_word.values():
        several.sort(key=lambda name: -len(name.words))
    return Names(
        by_word,
        _stems(own),
        _alternatives(by_word),
        frozenset().union(*(each.connectors for each in spoken)),
        frozenset().union(*(each.weekdays for each in spoken)),
    )


def _stems(own: str | None) -> dict[str, int]:
    """What is left of a month's name without its ending. Without a language only long ones."""
    found: dict[str, set[int]] = defaultdict(set)
    languages = [own] if own in _INFLECTED else [] if own else sorted(_INFLECTED)
    for code in languages:
        wide = written_in(str(code)).wide
        forms = {form: number for number, several in wide.items() for form in several}
        for form, number in forms.items():
            for stem in (form, form[:-1]):
                shortest = 5 if not own else 3 if stem == form else 4
                if len(stem) >= shortest and not any(
                    other.startswith(stem) for other, month in forms.items() if month != number
                ):
                    found[stem].add(number)
    return {stem: next(iter(months)) for stem, months in found.items() if len(months) == 1}


def _alternatives(by_word: dict[str, list[MonthName]]) -> re.Pattern[str] | None:
    written = sorted((word for word in by_word if _UNSPACED.search(word)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, written))) if written else None


def month_at(found: Sequence[Token], index: int, read: Names) -> tuple[MonthName, int] | None:
    """The month whose name begins at token ``index``, and the index behind it."""
    word = found[index].text
    for name in read.by_word.get(word, ()):
        end = _matched(found, index, name.words)
        if end is not None:
            return name, end
    if len(word) < 3:
        return None
    for letters in range(len(word), max(2, len(word) - _LONGEST_ENDING - 1), -1):
        month = read.stems.get(word[:letters])
        if month is not None:
            return MonthName((word,), (month,), True, False), index + 1
    return _prefixed(word, index, read)


def _prefixed(word: str, index: int, read: Names) -> tuple[MonthName, int] | None:
    if "\u0590" <= word[0] <= "\u06ff" and word[0] in "בלמהושوبلف":
        several = read.by_word.get(word[1:], [])
    elif read.unspaced is not None and _UNSPACED.match(word):
        match = read.unspaced.search(word)
        several = read.by_word[match[0]] if match else []
    else:
        return None
    return next(((name, index + 1) for name in several if len(name.words) == 1), None)


def _matched(found: Sequence[Token], index: int, words: tuple[str, ...]) -> int | None:
    """The index behind ``words``; one sign may be between two of them."""
    at = index + 1
    for word in words[1:]:
        if at < len(found) and found[at].kind == "sign":
            at += 1
        if at >= len(found) or not is_part(found[at]) or part(found[at]) != word:
            return None
        at += 1
    return at

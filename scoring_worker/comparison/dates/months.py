"""Months, weekdays and the little words between them, of every language that CLDR knows.

The data are babel's. dateparser and dateutil were weighed: both answer with *a* date for nearly
any text (dateparser's own README warns of it, and "Juni" written "Juli" is close enough for it),
where a comparator has to know that it does not know.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal

from babel import Locale, localedata

from .tokens import Token, tokens, word_set

WIDELY_READ = word_set(
    """
    af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gd gl gu ha he hi
    hr hu hy id ig is it ja ka kk km kn ko kok ky lo lt lv mk ml mn mr ms my nb ne nl nn no or
    pa pl ps pt ro ru sc sd si sk sl so sq sr sv sw ta te tg th ti tk tr uk ur uz vi yo yue zh
    zu
    """
)
"""Read where no language is given: those that CLDR covers to its level *modern*. The other 200
have abbreviations that are words elsewhere ("sun", "see", "man" are months of somebody)."""
_INFLECTED = word_set(
    "az be bg bs cs el et eu fi hr hu hy ka kk ky lt lv mk mn pl ru sk sl sr tr uk uz"
)
"""Their months take endings that CLDR does not list ("w styczniu", "januárban")."""
_LONGEST_ENDING = 4
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer put no blank between words."""
_PREFIXES = {"he": "בלמהוש", "ar": "وبلف", "fa": "", "ur": ""}
"""Letters that these scripts write onto the word that follows."""
_FIELD = re.compile(r"('[^']*'|[^\W\d_]*[^\W\d_a-zA-Z]+)?(MMMM?|LLLL?)('[^']*'|[^\W\d_a-zA-Z]+)?")
_LITERAL = re.compile(r"'([^']*)'|([^\x00-\x7f]+)")
_NUMBER = re.compile(r"^\W*[mM]?\d+\W*$")

_DATED = frozenset("GyMLdE")
"""Fields of a date in CLDR's skeletons; others are of weeks, quarters and times."""

Order = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True)
class MonthName:
    """One month as written: its words, the months it may be, and whether the passage's own
    language has it."""

    words: tuple[str, ...]
    months: tuple[int, ...]
    own: bool
    english: bool


@dataclass(slots=True)
class Names:
    """What one language (or all) writes around dates."""

    by_word: dict[str, list[MonthName]] = field(default_factory=dict)
    stems: dict[str, int] = field(default_factory=dict)
    unspaced: re.Pattern[str] | None = None
    connectors: frozenset[str] = frozenset()
    weekdays: frozenset[str] = frozenset()


_Raw = dict[tuple[str, ...], set[int]]


@dataclass(slots=True)
class _Language:
    names: _Raw
    wide: dict[int, set[str]]
    connectors: set[str]
    weekdays: set[str]


def names(language: str | None) -> Names:
    """What is read in a passage of ``language`` (ISO 639-1, or with a territory); None: of all
    widely read ones. Names of the language itself decide where two languages disagree."""
    return _names(base(language))


@lru_cache(maxsize=64)
def _names(own: str | None) -> Names:
    read = WIDELY_READ | ({own} if own else set())
    merged: dict[tuple[str, ...], set[int]] = defaultdict(set)
    english = set(_language("en").names)
    for each in read & _known():
        for written, months in _language(each).names.items():
            merged[written] |= months
    mine = _language(own).names if own else {}
    found = Names()
    for written, months in {**merged, **mine}.items():
        name = MonthName(written, tuple(sorted(months)), written in mine, written in english)
        found.by_word.setdefault(written[0], []).append(name)
    for several in found.by_word.values():
        several.sort(key=lambda name: -len(name.words))
    found.stems = _stems(own)
    found.unspaced = _alternatives(found.by_word)
    found.connectors = frozenset().union(*(_language(each).connectors for each in read & _known()))
    found.weekdays = frozenset().union(*(_language(each).weekdays for each in read & _known()))
    return found


def base(language: str | None) -> str | None:
    """The language that CLDR knows by this code, without territory; None where it knows none."""
    if not language:
        return None
    code = re.split("[-_]", language.casefold(), maxsplit=1)[0]
    code = {"iw": "he", "in": "id", "tl": "fil", "nb": "no"}.get(code, code)
    return code if code in _known() else None


@lru_cache(maxsize=256)
def order_of(language: str | None) -> Order | None:
    """How the language writes dates in digits; None where its territories disagree (English)."""
    territorial = language.replace("-", "_") if language else ""
    if territorial in localedata.locale_identifiers() and "_" in territorial:
        return _order(territorial)
    own = base(language)
    return None if own in (None, "en") else _order(str(own))


def _order(identifier: str) -> Order:
    pattern = str(Locale.parse(identifier).date_formats["short"].pattern)
    letters = re.sub(r"'[^']*'|[^dMy]", "", pattern)
    shape = "".join(dict.fromkeys(letters)).casefold()
    return "ymd" if shape.startswith("y") else "mdy" if shape.startswith("m") else "dmy"


@cache
def _known() -> frozenset[str]:
    return frozenset(identifier.split("_")[0] for identifier in localedata.locale_identifiers())


@cache
def _identifiers() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = defaultdict(list)
    for identifier in sorted(localedata.locale_identifiers()):
        grouped[identifier.split("_")[0]].append(identifier)
    return grouped


@cache
def _language(code: str) -> _Language:
    """Everything that any territory of the language writes."""
    found = _Language({}, defaultdict(set), set(), set())
    for identifier in _identifiers().get(code, []):
        with contextlib.suppress(KeyError):  # a handful of locales have no calendar at all
            _read_locale(Locale.parse(identifier), found)
    return found


def _read_locale(locale: Locale, found: _Language) -> None:
    glued, words = _patterns(locale)
    found.connectors |= words
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in _table(locale.months, context, width):
                _add(found, number, name, glued, wide=width == "wide")
            for _, name in _table(locale.days, context, width):
                found.weekdays |= {token.text for token in tokens(name)}


def _table(data: object, context: str, width: str) -> Iterator[tuple[int, str]]:
    try:
        yield from data[context][width].items()  # type: ignore[index]
    except KeyError:
        return


def _add(found: _Language, number: int, name: str, glued: set[tuple[str, str]], wide: bool) -> None:
    if _NUMBER.match(name):
        return
    for written in _spellings(name):
        for before, after in {("", ""), *glued}:
            words = tuple(_word(token) for token in tokens(before + written + after) if _is(token))
            if words and not all(word.isdigit() for word in words):
                found.names.setdefault(words, set()).add(number)
                if wide and len(words) == 1:
                    found.wide[number].add(words[0])


def _spellings(name: str) -> list[str]:
    """German names as they are typed without a German keyboard, too: "Maerz"."""
    typed = name.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return [name] if typed == name else [name, typed]


def _patterns(locale: Locale) -> tuple[set[tuple[str, str]], set[str]]:
    """What the locale glues to a month's name (Hebrew's ב, Basque's -ren) and the words that it
    puts between the parts of a date."""
    glued: set[tuple[str, str]] = set()
    words: set[str] = set()
    dated = [each for key, each in locale.datetime_skeletons.items() if set(key) <= _DATED]
    formats = (*locale.date_formats.values(), *dated)
    for pattern in (str(each.pattern) for each in formats):
        for before, _, after in _FIELD.findall(pattern):
            if (before or after) and not (before + after).isspace():
                glued.add((before.strip("'"), after.strip("'")))
        for quoted, bare in _LITERAL.findall(pattern):
            words |= {token.text for token in tokens(quoted or bare) if token.kind == "word"}
    for width in ("abbreviated", "narrow", "wide"):
        eras = locale.eras.get(width, {})
        words |= {token.text for token in tokens(eras.get(1, "")) if token.kind == "word"}
    return glued, words


def _stems(own: str | None) -> dict[str, int]:
    """What is left of a month's name without its ending. Without a language only long ones."""
    found: dict[str, set[int]] = defaultdict(set)
    languages = [own] if own in _INFLECTED else [] if own else sorted(_INFLECTED)
    for code in languages:
        wide = _language(str(code)).wide
        forms = {form: number for number, several in wide.items() for form in several}
        for form, number in forms.items():
            for stem in (form, form[:-1]):
                shortest = 4 if own and stem == form else 5 if not own else 4
                if len(stem) >= (3 if own and stem == form else shortest) and not any(
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
    """The index behind ``words``; one sign may stand between two of them."""
    at = index + 1
    for word in words[1:]:
        if at < len(found) and found[at].kind == "sign":
            at += 1
        if at >= len(found) or not _is(found[at]) or _word(found[at]) != word:
            return None
        at += 1
    return at


def _is(token: Token) -> bool:
    return token.kind != "sign"


def _word(token: Token) -> str:
    return token.text if token.number is None else str(token.number)

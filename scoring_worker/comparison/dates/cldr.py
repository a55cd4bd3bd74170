"""What CLDR knows of dates, language by language: names of months and weekdays, the words between
the parts of a date, and the order of a date in digits.

The data are babel's. dateparser and dateutil were weighed: both answer with *a* date for nearly
any text (dateparser's own README warns of it), where a comparator has to know that it does not
know.
"""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from babel import Locale, UnknownLocaleError, localedata

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
_FIELD = re.compile(r"('[^']*'|[^\W\d_]*[^\W\d_a-zA-Z]+)?(MMMM?|LLLL?)('[^']*'|[^\W\d_a-zA-Z]+)?")
_LITERAL = re.compile(r"'([^']*)'|([^\x00-\x7f]+)")
_NUMBER = re.compile(r"^\W*[mM]?\d+\W*$")
_DATED = frozenset("GyMLdE")
"""Fields of a date in CLDR's skeletons; others are of weeks, quarters and times."""
Order = Literal["dmy", "mdy", "ymd"]
_Raw = dict[tuple[str, ...], set[int]]


@dataclass(slots=True)
class Written:
    """What any territory of one language writes. ``wide`` are the months' full names."""

    names: _Raw
    wide: dict[int, set[str]]
    connectors: set[str]
    weekdays: set[str]


@lru_cache(maxsize=512)
def base(language: str | None) -> str | None:
    """The language that CLDR knows by this code, without territory; None where it knows none."""
    if not language:
        return None
    code = re.split("[-_]", language.casefold(), maxsplit=1)[0]
    code = {"iw": "he", "in": "id", "tl": "fil", "nb": "no"}.get(code, code)
    return code if code in known_languages() else None


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
def known_languages() -> frozenset[str]:
    """Codes of every language that CLDR has a locale for."""
    return frozenset(_identifiers())


@cache
def _identifiers() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = defaultdict(list)
    for identifier in sorted(localedata.locale_identifiers()):
        grouped[identifier.split("_")[0]].append(identifier)
    return grouped


@cache
def written_in(code: str) -> Written:
    """Everything that any territory of the language writes."""
    found = Written({}, defaultdict(set), set(), set())
    for identifier in _identifiers().get(code, []):
        with contextlib.suppress(KeyError):  # a handful of locales have no calendar at all
            _read_locale(Locale.parse(identifier), found)
    return found


@cache
def month_words(code: str) -> frozenset[str]:
    """The full names of months in the language itself, without its territories, that are one
    word. To read all territories of all languages takes seconds and 130 MB."""
    found: set[str] = set()
    with contextlib.suppress(KeyError, UnknownLocaleError):
        months = Locale.parse(code).months
        for context in ("format", "stand-alone"):
            for _, name in _table(months, context, "wide"):
                for words in map(_parts, _spellings(name)):
                    found |= set(words) if len(words) == 1 else set()
    return frozenset(found)


def _read_locale(locale: Locale, found: Written) -> None:
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


def _add(found: Written, number: int, name: str, glued: set[tuple[str, str]], wide: bool) -> None:
    if _NUMBER.match(name):
        return
    for written in _spellings(name):
        for before, after in {("", ""), *glued}:
            words = _parts(before + written + after)
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


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part(token) for token in tokens(name) if is_part(token))


def is_part(token: Token) -> bool:
    """Whether the token is one of those that names consist of."""
    return token.kind != "sign"


def part(token: Token) -> str:
    """The word or, without leading zeros, the number."""
    return token.text if token.number is None else str(token.number)

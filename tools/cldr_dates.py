"""Writes what the comparators know of dates, language by language, as babel's CLDR has it: names of
months and weekdays, and the words between the parts of a date.

python -m tools.cldr_dates
"""

import contextlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any

from babel import localedata
from babel.core import get_global, parse_locale
from babel.localedata import LocaleDataDict

from safepassage.scoring_worker.comparison.dates.cldr import (
    PATH,
    WIDELY_READ,
    Written,
    is_part,
    part,
)
from safepassage.scoring_worker.comparison.dates.tokens import tokens

_FIELD = re.compile(r"('[^']*'|[^\W\d_]*[^\W\d_a-zA-Z]+)?(MMMM?|LLLL?)('[^']*'|[^\W\d_a-zA-Z]+)?")
_LITERAL = re.compile(r"'([^']*)'|([^\x00-\x7f]+)")
_NUMBER = re.compile(r"^\W*[mM]?\d+\W*$")
_OF_DATES = frozenset({"months", "days", "eras", "date_formats", "datetime_skeletons"})
_DATED = frozenset("GyMLdE")
"""Fields of a date in CLDR's skeletons; others are of weeks, quarters and times."""


@cache
def _identifiers() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = defaultdict(list)
    for identifier in sorted(localedata.locale_identifiers()):
        grouped[identifier.split("_")[0]].append(identifier)
    return grouped


@cache
def read_language(code: str) -> Written:
    """Everything that any territory of the language writes."""
    found = Written({}, defaultdict(set), set(), set())
    for identifier in _identifiers().get(code, []):
        if identifier != code and _parent(identifier) != "root" and not _own(identifier):
            continue  # it writes what its parent writes, which is read too
        with contextlib.suppress(KeyError):  # a handful of locales have no calendar at all
            _read_locale(_locale(identifier), found)
    return found


def _locale(identifier: str) -> Mapping[str, Any]:
    """The same, with aliases followed."""
    data = _dates_of(identifier)
    return data | {name: _table_of(data, name) for name in ("months", "days", "eras")}


def _table_of(data: Mapping[str, Any], name: str) -> LocaleDataDict:
    # babel notes in what it is given where an alias leads, and parents share what they give.
    table: LocaleDataDict = LocaleDataDict({name: deepcopy(data[name])})[name]
    return table


@lru_cache(maxsize=128)
def _dates_of(identifier: str) -> dict[str, Any]:
    """What CLDR has of dates for a locale, as `Locale` gives it. To have babel merge all that it
    knows of 539 locales takes a second and 130 MB."""
    if identifier == "root":
        return _own(identifier)
    merged = dict(_dates_of(_parent(identifier)))
    localedata.merge(merged, _own(identifier))
    return merged


@lru_cache(maxsize=128)
def _own(identifier: str) -> dict[str, Any]:
    """What of it the locale does not inherit."""
    with localedata._cache_lock:  # babel would take what is not merged for all that there is
        known = localedata._cache.pop(identifier, None)
        every = localedata.load(identifier, merge_inherited=False)
        localedata._cache.pop(identifier)
        if known is not None:
            localedata._cache[identifier] = known
    return {name: data for name, data in every.items() if name in _OF_DATES and data}


def _parent(identifier: str) -> str:
    """The locale that it inherits from, by the rules of CLDR."""
    if exception := get_global("parent_exceptions").get(identifier):
        return str(exception)
    language, territory, script, variant, *_ = parse_locale(identifier)
    if script and not territory and not variant:
        likely = get_global("likely_subtags").get(language)
        if likely and parse_locale(likely)[2] != script:
            return "root"
    return identifier.rpartition("_")[0] or "root"


def month_words_of_cldr(code: str) -> frozenset[str]:
    """The full names of months in the language itself, without its territories, that are one
    word; of the languages that are `WIDELY_READ`."""
    found: set[str] = set()
    with contextlib.suppress(KeyError, OSError):
        months = _table_of(_dates_of(code), "months")
        for context in ("format", "stand-alone"):
            for _, name in _table(months, context, "wide"):
                for words in map(_parts, _spellings(name)):
                    found |= set(words) if len(words) == 1 else set()
    return frozenset(found)


def _read_locale(locale: Mapping[str, Any], found: Written) -> None:
    glued, words = _patterns(locale)
    found.connectors |= words
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in _table(locale["months"], context, width):
                _add(found, number, name, glued, wide=width == "wide")
            for _, name in _table(locale["days"], context, width):
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


def _patterns(locale: Mapping[str, Any]) -> tuple[set[tuple[str, str]], set[str]]:
    """What the locale glues to a month's name (Hebrew's ב, Basque's -ren) and the words that it
    puts between the parts of a date."""
    glued: set[tuple[str, str]] = set()
    words: set[str] = set()
    dated = [each for key, each in locale["datetime_skeletons"].items() if set(key) <= _DATED]
    formats = (*locale["date_formats"].values(), *dated)
    for pattern in (str(each.pattern) for each in formats):
        for before, _, after in _FIELD.findall(pattern):
            if (before or after) and not (before + after).isspace():
                glued.add((before.strip("'"), after.strip("'")))
        for quoted, bare in _LITERAL.findall(pattern):
            words |= {token.text for token in tokens(quoted or bare) if token.kind == "word"}
    for width in ("abbreviated", "narrow", "wide"):
        eras = locale["eras"].get(width, {})
        words |= {token.text for token in tokens(eras.get(1, "")) if token.kind == "word"}
    return glued, words


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part(token) for token in tokens(name) if is_part(token))


def of_language(code: str) -> dict[str, object]:
    """What the file holds of a language."""
    found = read_language(code)
    own = month_words_of_cldr(code) if code in WIDELY_READ else ()
    return {
        "months": {
            " ".join(words): sorted(months) for words, months in sorted(found.names.items())
        },
        "wide": {number: " ".join(sorted(names)) for number, names in found.wide.items()},
        "connectors": " ".join(sorted(found.connectors)),
        "weekdays": " ".join(sorted(found.weekdays)),
        "own": " ".join(sorted(own)),
    }


def text() -> str:
    """The file: a line for each language."""
    lines = (
        f"{json.dumps(code)}: {json.dumps(of_language(code), ensure_ascii=False)}"
        for code in sorted(_identifiers())
    )
    return "{" + ",\n".join(lines) + "}\n"


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
    print(f"wrote {PATH}")  # noqa: T201 (a command for people)

"""What has a name of its own in each language: "Deutschland" is "Germany", "Di" is "Tuesday".

Countries, languages, weekdays and months, with the short names of the last two. The names are
CLDR's, in English and in the language of the passage.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from babel import Locale
from babel.core import get_global

from safepassage.scoring_worker.text.segmentation import Word, words_of

from ..contract import Place
from ..locales import locale_of
from .parts import place_of

_LONGEST_NAME = 5
"""Words of a country's name that are looked up together."""
_LONG_CODE = 3


def codes_in(text: str, language: str | None) -> Iterator[tuple[str, Place]]:
    """The codes of what ``text`` names, with the places: ISO codes of countries and languages,
    "day 1" and "month 5"."""
    words = words_of(text)
    names = [_names(code) for code in dict.fromkeys((language, "en")) if code]
    for start, word in enumerate(words):
        if word.text[word.start : word.end].isupper() and word.end - word.start == _LONG_CODE:
            code = _by_long_code().get(word.keys.plain)
            if code:
                yield code, place_of(word)
        for count in range(1, min(_LONGEST_NAME, len(words) - start) + 1):
            row = words[start : start + count]
            for known in names:
                for code in known.get(_key(row), ()):
                    yield code, place_of(row[0], row[-1])


def _key(row: Sequence[Word]) -> str:
    return " ".join(word.keys.plain for word in row)


@lru_cache(maxsize=64)
def _names(language: str) -> Mapping[str, tuple[str, ...]]:
    """Names in ``language``, folded, to codes; a code of a language is in small letters."""
    locale = locale_of(language)
    codes: dict[str, tuple[str, ...]] = {}
    for code, name in _coded(locale) if locale else ():
        key = _key(words_of(name))
        codes[key] = (*codes.get(key, ()), code)
    return MappingProxyType(codes)


def _coded(locale: Locale) -> Iterator[tuple[str, str]]:
    for named in (locale.territories, locale.languages):
        yield from ((code, str(name)) for code, name in named.items() if code.isalpha())
    for what, calendar in (("day", locale.days), ("month", locale.months)):
        for width in ("wide", "abbreviated"):
            for number, name in calendar["format"][width].items():
                yield f"{what} {number}", str(name)


@cache
def _by_long_code() -> Mapping[str, str]:
    """The code of a country by its code of three letters ("usa" to "US")."""
    aliases = get_global("territory_aliases").items()
    return {
        long.lower(): codes[0]
        for long, codes in aliases
        if len(long) == _LONG_CODE and long.isalpha() and len(codes) == 1
    }

"""Currencies: their codes, signs and names in every language of CLDR."""

import json
from collections import defaultdict
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path

from babel.core import get_global
from babel.numbers import get_currency_name, get_territory_currencies, list_currencies

from ..locales import locale_of

_COUNTS = (0, 1, 2, 3, 5, 11, 100, 1_000_000, Decimal("1.5"))
"""Between them they take every plural form that a language has."""
_SIGNS_OF: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Signs, by words of the English names of the currencies that they may mean: those that more than
one uses ("$" says that it is some dollar or peso, not which), and some that CLDR knows in the home
language only."""
MINOR = ("cents", "cent", "¢", "pence", "penny", "centimes", "céntimos", "centavos", "Rappen")
"""Hundredths of a currency that is not named."""


@lru_cache(maxsize=128)
def currency_forms(language: str) -> dict[str, frozenset[str]]:
    """How ``language`` writes currencies: signs, codes and names with the codes they may mean."""
    locale = locale_of(language)
    if locale is None:
        return {}
    forms: defaultdict[str, set[str]] = defaultdict(set)
    codes_in_use = tender()
    for code, sign in locale.currency_symbols.items():
        if code in codes_in_use:
            forms[sign.strip("\u200e\u200f \u00a0")].add(code)
    names = {
        code: {get_currency_name(code, count, locale=locale) for count in (None, *_COUNTS)}
        for code in codes_in_use
    }
    for code, written in names.items():
        for name in written:
            forms[name].add(code)
    for noun, codes in _nouns(names).items():
        forms[noun] |= codes
    for sign, shared in _shared_signs().items():
        if sign in forms:
            forms[sign] |= shared
    return {form: frozenset(codes) for form, codes in forms.items() if form != "¤"}


@cache
def currency_symbols() -> dict[str, frozenset[str]]:
    """Signs and codes that are in any language."""
    codes = {code: frozenset({code}) for code in list_currencies() if len(code) == 3}
    return codes | _shared_signs()


@cache
def tender() -> frozenset[str]:
    """Codes of the currencies that some territory pays with today."""
    return frozenset(
        code
        for territory in get_global("territory_currencies")
        for code in get_territory_currencies(territory)
    )


@cache
def _shared_signs() -> dict[str, frozenset[str]]:
    english = {code: get_currency_name(code, 1, locale="en").lower() for code in tender()}
    meant: dict[str, frozenset[str]] = {}
    for words, signs in _SIGNS_OF.items():
        nouns = words.split(", ")
        codes = frozenset(code for code, name in english.items() if any(n in name for n in nouns))
        meant.update(dict.fromkeys(signs.split(", "), codes))
    return meant


def _nouns(names: dict[str, set[str]]) -> dict[str, set[str]]:
    """The noun of every name, with all its currencies: "dollars" for those of 20 countries.

    More countries share a noun than a nationality, so the end of the names with the commonest
    word is the one with the nouns: the last word in English, the first in Spanish.
    """
    split = [(code, name.split()) for code, written in names.items() for name in written]
    split = [(code, words) for code, words in split if len(words) > 1]
    ends: list[defaultdict[str, set[str]]] = []
    for end in (0, -1):
        nouns: defaultdict[str, set[str]] = defaultdict(set)
        for code, words in split:
            if len(words[end]) > 2:
                nouns[words[end].strip("()").lower()].add(code)
        ends.append(nouns)
    return max(ends, key=lambda nouns: max(map(len, nouns.values()), default=0))

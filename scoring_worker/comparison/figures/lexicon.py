"""The words and signs that are beside a number, looked up at a place of a text."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from ..locales import locale_of
from .currencies import MINOR, currency_forms, currency_symbols, tender
from .plain_text import NO_BREAK, Folded, fold, is_unspaced
from .units import unit_forms, unit_symbols

_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_SCALES: dict[str, int] = _TABLES["scales"]
"""Short scale words that CLDR leaves out, as powers of ten."""
_ORDINALS: list[str] = _TABLES["ordinals"]
ALSO_WORDS = frozenset(_TABLES["also words"])
"""Symbols that are commoner as words: they count where no word and no year follows ("5 in", not "5
in all" or "5 in 2021")."""
_CODE_WORDS = frozenset(_TABLES["codes that are words"])
"""Codes of currencies that count in capitals alone: "all 180 men", "top 5"."""
_SCALED_CODES: dict[str, int] = _TABLES["scaled codes"]
"""Powers of ten of TEUR, kEUR, EURm and the like, as accounts are written: they count as spelt."""

ONE = Fraction(1)
_ALSO_WRITTEN: dict[str, list[str]] = _TABLES["also written"]
"""Locales whose words differ from those of the language: litres, 波蘭茲羅提."""


@dataclass(frozen=True, slots=True)
class Sense:
    """What a word beside a number may mean: ``factor`` times the number, in ``unit`` or in one of
    ``currencies``."""

    kind: Literal["scale", "unit", "currency", "ordinal"]
    factor: Fraction = ONE
    unit: str | None = None
    currencies: frozenset[str] = frozenset()
    closing: str | None = None  # of a unit before the number: what is behind it


_Senses = tuple[Sense, ...]


class Lexicon:
    """Forms by their first and by their last two characters, with the lengths that occur there.

    A look-up takes a few dictionary accesses for any text.
    """

    def __init__(self, forms: dict[str, list[Sense]]) -> None:
        self._exact = {form: tuple(senses) for form, senses in forms.items()}
        lowered: defaultdict[str, list[str]] = defaultdict(list)
        for form in sorted(forms, key=lambda form: form != form.lower()):
            lowered[fold(form).lowered].append(form)
        as_spelt = _as_spelt()
        self._lowered = {
            low: next((self._exact[form] for form in spelt if form not in as_spelt), ())
            for low, spelt in lowered.items()
        }
        self._after = _lengths(lowered, slice(2), slice(1))
        preceding = {form for form, senses in self._exact.items() if any(map(_may_precede, senses))}
        self._before = _lengths(
            (low for low, spelt in lowered.items() if not preceding.isdisjoint(spelt)),
            slice(-2, None),
            slice(-1, None),
        )

    def after(self, folded: Folded, at: int) -> tuple[int, _Senses] | None:
        """The longest form that starts at ``at``: its end and what it may mean."""
        start = folded.lowered[at : at + 2]
        for length in self._after.get(start) or self._after.get(start[:1], ()):
            end = at + length
            if folded.lowered[at:end] not in self._lowered or end > len(folded.text):
                continue
            senses = self._senses(folded, at, end)
            if senses and _is_border(folded.text, end):
                if folded.text[end - 1] == ".":  # "mm." at the end of a sentence
                    senses += self._senses(folded, at, end - 1)
                return end, senses
        return None

    def before(self, folded: Folded, end: int) -> tuple[int, _Senses] | None:
        """The longest currency or percent sign that ends at ``end``: its start, and what it is."""
        last = folded.lowered[max(0, end - 2) : end]
        for length in self._before.get(last) or self._before.get(last[-1:], ()):
            start = end - length
            if start < 0 or folded.lowered[start:end] not in self._lowered:
                continue
            senses = self._senses(folded, start, end)
            if senses and _is_border(folded.text, start):
                return start, tuple(filter(_may_precede, senses))
        return None

    def _senses(self, folded: Folded, start: int, end: int) -> _Senses:
        senses = self._lowered.get(folded.lowered[start:end])
        return () if senses is None else self._exact.get(folded.text[start:end], senses)


@lru_cache(maxsize=128)
def lexicon_of(language: str | None) -> Lexicon:
    """What is beside numbers in ``language``; English and international signs are in all.

    The language's own words come first: a German *Billion* is a million million.
    """
    forms: dict[str, list[Sense]] = {}
    first = language or "en"
    for source in dict.fromkeys((first, *_ALSO_WRITTEN.get(first, ()), "en", *_ALSO_WRITTEN["en"])):
        _add(forms, _senses_in(source))
    _add(forms, _senses_anywhere())
    return Lexicon(forms)


def _add(forms: dict[str, list[Sense]], senses: Iterable[tuple[str, Sense]]) -> None:
    """Add senses, but none of a kind that a form has from a source that comes before."""
    new: defaultdict[str, list[Sense]] = defaultdict(list)
    for form, sense in senses:
        folded = fold(form).text.replace(NO_BREAK, " ")
        kinds = {old.kind for old in forms.get(folded, ())}
        if folded and sense.kind not in kinds and sense not in new[folded]:
            new[folded].append(sense)
    for form, more in new.items():
        forms.setdefault(form, []).extend(more)


def _senses_in(language: str) -> Iterator[tuple[str, Sense]]:
    for form, factor in _scales_in(language):
        yield form, Sense("scale", factor)
    for form, codes in currency_forms(language).items():
        yield form, Sense("currency", currencies=codes)
    for form, unit, closing in unit_forms(language):
        folded = None if closing is None else fold(closing).lowered
        yield form, Sense("unit", unit=unit, closing=folded)


def _senses_anywhere() -> Iterator[tuple[str, Sense]]:
    for form, power in _SCALES.items():
        yield form, Sense("scale", Fraction(10**power))
    for form, unit in unit_symbols().items():
        yield form, Sense("unit", unit=unit)
    for form, codes in currency_symbols().items():
        yield form, Sense("currency", currencies=codes)
    yield from _scaled_codes().items()
    for form in MINOR:
        yield form, Sense("currency", Fraction(1, 100))
        yield form, Sense("currency")
    for form in _ORDINALS:
        yield form, Sense("ordinal")


@cache
def _scaled_codes() -> dict[str, Sense]:
    """TEUR is thousands of euros; the same in every language, so made once. A code that is a word
    makes other words: TALL."""
    return {
        pattern.replace("*", code): Sense(
            "currency", Fraction(10**power), currencies=frozenset({code})
        )
        for code in tender() - _CODE_WORDS
        for pattern, power in _SCALED_CODES.items()
    }


@cache
def _as_spelt() -> frozenset[str]:
    """Forms that do not count in other capitals."""
    return _CODE_WORDS.union(_scaled_codes())


def _scales_in(language: str) -> Iterator[tuple[str, Fraction]]:
    """Scale words by CLDR: its pattern "000 Mio." for a hundred millions makes one 1,000,000."""
    locale = locale_of(language)
    if locale is None:
        return
    for width in ("long", "short"):
        for patterns in locale.compact_decimal_formats.get(width, {}).values():
            for power, pattern in patterns.items():
                text = str(pattern.pattern).replace("'", "")
                form = text.replace("0", "").strip(f" {NO_BREAK}")
                if form and form != text and ";" not in form:
                    yield form, Fraction(int(power), 10 ** (text.count("0") - 1))


def _lengths(forms: Iterable[str], pair: slice, single: slice) -> dict[str, tuple[int, ...]]:
    """Lengths by the two characters nearest the number, longest first; a form of one character
    counts under it and under all pairs that begin with it."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for form in forms:
        lengths[form[pair]].add(len(form))
    for key, found in lengths.items():
        if len(key) == 2 and key[single] in lengths:
            found.add(1)
    return {key: tuple(sorted(found, reverse=True)) for key, found in lengths.items()}


def _may_precede(sense: Sense) -> bool:
    return sense.kind == "currency" or sense.closing is not None or sense.unit == "percent"


def _is_border(text: str, at: int) -> bool:
    """Whether a form may begin or end at ``at``: no letter or digit goes on where words have
    blanks."""
    sides = text[at - 1 : at], text[at : at + 1]
    return any(not side.isalnum() or is_unspaced(side) for side in sides)

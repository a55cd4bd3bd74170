"""Units: their names in every language of CLDR, and which amounts of two units are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING

from babel import localedata

from ..locales import locale_of
from .figure import FigureReading

if TYPE_CHECKING:
    import pint

_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_PREFIXES: dict[str, str] = _TABLES["prefixes"]
_PREFIXED: dict[str, tuple[str, str]] = _TABLES["prefixed"]
_SYMBOLS: dict[str, str] = _TABLES["symbols"]
"""Spellings that CLDR leaves out, none of them of one trade only."""
_SQUARES = {"²": "square", "2": "square", "^2": "square", "³": "cubic", "3": "cubic", "^3": "cubic"}
_PINT: dict[str, str] = _TABLES["pint"]
_NOT_MEASURED = re.compile("|".join(_TABLES["not measured"]))
"""Units of CLDR whose names are everyday words ("dot", "item", "light", "point", "night")."""
_MULTIPLES: dict[str, tuple[str, str]] = _TABLES["multiples"]
_MONTHS: dict[str, int] = _TABLES["months"]
_AROUND = " \u00a0\u202f\u200e\u200f-"
_CALENDAR = "calendar months"
_CLOCK = "[time]"
_SHORTEST_MONTH = Fraction(28 * 86400)
_LONGEST_MONTH = Fraction(31 * 86400)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a unit measures: an amount of it is ``scale * amount + offset`` of ``dimension``."""

    dimension: str
    scale: Fraction
    offset: Fraction


def unit_forms(language: str) -> Iterator[tuple[str, str, str | None]]:
    """How ``language`` writes units, by CLDR: "Kilogramm" and "kg" for ``kilogram``.

    Gives a form, its unit and, for one before the number, what is behind it. A form
    may represent several units: "minuty" are those of an hour and those of an angle.
    """
    locale = locale_of(language)
    if locale is None:
        return
    data = localedata.LocaleDataDict(dict(localedata.load(str(locale)).items()))
    patterns = data.get("unit_patterns", {})
    for unit in patterns:
        if _NOT_MEASURED.match(unit):
            continue
        name = unit.partition("-")[2].replace("-ofglucose", "")
        for width in ("long", "short"):
            for plural, pattern in dict(patterns[unit].get(width, {})).items():
                before, _, after = str(pattern).partition("{0}")
                if plural not in {"per", "compound"} and "{0}" in str(pattern):
                    if before.strip(_AROUND):
                        yield before.strip(_AROUND), name, after.strip(_AROUND)
                    else:
                        form = after.strip(_AROUND)
                        yield form, name, None
                        if unit.startswith("length-"):  # "metros²"
                            yield f"{form}²", f"square-{name}", None
                            yield f"{form}³", f"cubic-{name}", None


@cache
def unit_symbols() -> dict[str, str]:
    """Symbols that are in any language, written as they are ("mW" is not "MW")."""
    symbols = dict(_SYMBOLS)
    for symbol, (name, prefixes) in _PREFIXED.items():
        for prefix in ("", *prefixes):
            symbols[prefix + symbol] = _PREFIXES[prefix] + name
    for symbol in [s for s, name in symbols.items() if name.endswith("meter") and "-" not in name]:
        for mark, power in _SQUARES.items():
            symbols[symbol + mark] = f"{power}-{symbols[symbol]}"
    return symbols


@lru_cache(maxsize=4096)
def measure(unit: str) -> Measure | None:
    """What ``unit`` measures; None for one that nothing converts ("iu")."""
    if unit in _MONTHS:
        return Measure(_CALENDAR, Fraction(_MONTHS[unit]), Fraction(0))
    if unit in _MULTIPLES:
        base, times = _MULTIPLES[unit]
        found = measure(base)
        return found and Measure(found.dimension, found.scale * Fraction(times), found.offset)
    import pint  # noqa: PLC0415 - a fifth of a second, and most values have no unit

    try:
        expression = " / ".join(_factor(part) for part in unit.split("-per-"))
        nothing = _registry().Quantity(Fraction(0), expression).to_root_units()
        one = _registry().Quantity(Fraction(1), expression).to_root_units()
    except (pint.PintError, ArithmeticError, SyntaxError, TokenError, TypeError, ValueError):
        return None  # pint lets Python's tokenizer fail for a name that it does not know
    dimension = " ".join(sorted(f"{name}^{power}" for name, power in one.dimensionality.items()))
    offset = Fraction(nothing.magnitude)
    return Measure(dimension.replace("^1", ""), Fraction(one.magnitude) - offset, offset)


@cache
def _registry() -> pint.UnitRegistry[Fraction]:
    import pint  # noqa: PLC0415

    return pint.UnitRegistry(non_int_type=Fraction, cache_folder=None)


def _factor(part: str) -> str:
    for power, sign in (("square-", "** 2"), ("cubic-", "** 3")):
        if part.startswith(power):
            return f"({_PINT.get(part.removeprefix(power), part.removeprefix(power))} {sign})"
    return _PINT.get(part, part.replace("-", "_"))


def same_quantity(one: FigureReading, other: FigureReading) -> bool | None:
    """Whether the amounts of two units are one: exactly, or each is the other rounded as written.

    850 mg is 0.85 g and 70 kg is 154 lb. None where it depends: a month has 28 to 31 days.
    """
    if one.unit == other.unit:
        return one.amount == other.amount
    mine, theirs = measure(one.unit or ""), measure(other.unit or "")
    if mine is None or theirs is None:
        return False
    if mine.dimension != theirs.dimension:
        return _calendar(one, mine, other, theirs)
    here = one.amount * mine.scale + mine.offset
    there = other.amount * theirs.scale + theirs.offset
    if here == there:
        return True
    if (mine.scale / theirs.scale).denominator == 1 or (theirs.scale / mine.scale).denominator == 1:
        return False  # the same system: 850 mg is no rounded 0.9 g
    apart = abs(here - there) * 2
    return apart <= abs(one.step * mine.scale) and apart <= abs(other.step * theirs.scale)


def _calendar(
    one: FigureReading, mine: Measure, other: FigureReading, theirs: Measure
) -> bool | None:
    if mine.dimension != _CALENDAR:
        one, mine, other, theirs = other, theirs, one, mine
    if mine.dimension != _CALENDAR or theirs.dimension != _CLOCK:
        return False
    months, seconds = one.amount * mine.scale, other.amount * theirs.scale
    fits = months * _SHORTEST_MONTH <= seconds <= months * _LONGEST_MONTH
    return None if fits else False

"""Whether a figure of a passage is the figure of a value, and if not, in what they differ."""

from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Literal

from safepassage.schemas import FindingCode

from .figure import Figure, FigureReading
from .units import same_quantity

Level = Literal[0, 1, 2]
"""0: another figure. 1: it may be this one. 2: it is."""
End = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two figures agree; ``code`` is the finding that says what differs or is missing."""

    level: Level
    code: FindingCode | None = None


_NUMBER = Agreement(0, "number_differs")
_UNIT = Agreement(0, "unit_differs")
_CURRENCY = Agreement(0, "currency_differs")
_SAME = Agreement(2)
_DIRECTION = {"more_than": "up", "at_least": "up", "less_than": "down", "at_most": "down"}
_PERIODS = frozenset({"day", "week", "month", "quarter", "year"})
_NEARNESS = frozenset(
    {"comparator_differs", "comparator_unsure", "unit_differs", "unit_unsure", "currency_differs"}
)


def agreement(value: Figure, other: Figure, end: End | None) -> Agreement:
    """The best that any reading of ``other`` can do for ``value``.

    ``end`` is the end of a range that the entity type asks for. Precision counts: 3.14 is not
    3.1416, since one of them says more than the other.
    """
    if not other.readings:
        return Agreement(1, "number_unreadable")
    alike = bool(value.digits) and value.digits == other.digits
    found = [
        _read_as(mine, theirs, value, other, alike=alike)
        for mine in value.readings
        for theirs in other.readings
    ]
    best = max(found, key=_rank)
    if best.level == 0:
        return best
    return min(best, _bounds(value, other, end), key=attrgetter("level"))


def _read_as(
    mine: FigureReading, theirs: FigureReading, value: Figure, other: Figure, *, alike: bool
) -> Agreement:
    if value.pair != other.pair and not (value.pair and theirs.high):
        return _NUMBER
    found = _amounts(mine, theirs)
    if found.level != 2:
        return found
    if not alike and not (mine.sure and theirs.sure):
        return Agreement(1, "number_ambiguous")
    several = any(one.elsewhere for one in (*value.readings, *other.readings))
    if several and mine.amount != theirs.amount:
        # Converted: 44.738 litres are 44738 ml in one country and 44738 litres in another.
        return Agreement(1, "number_ambiguous")
    if not theirs.sure and other.part == "part":
        return Agreement(1, "number_ambiguous")
    return found


def _amounts(mine: FigureReading, theirs: FigureReading) -> Agreement:
    equal = mine.amount == theirs.amount and mine.high == theirs.high
    if (mine.high is None) != (theirs.high is None):
        return _NUMBER
    if mine.unit and theirs.unit:
        return _units(mine, theirs)
    if mine.high is None and theirs.high is None:
        shared = "percent" in (mine.unit, theirs.unit)
        equal = equal or (shared and _share(mine) == _share(theirs))  # 0.05 for 5%
    return _kinds(mine, theirs) if equal else _NUMBER


def _share(reading: FigureReading) -> Fraction:
    return reading.amount / 100 if reading.unit == "percent" else reading.amount


def _kinds(mine: FigureReading, theirs: FigureReading) -> Agreement:
    """What two equal amounts are amounts of, at most one of them of a unit."""
    if mine.currencies and theirs.currencies:
        return _SAME if mine.currencies & theirs.currencies else _CURRENCY
    if (mine.currencies and theirs.unit) or (mine.unit and theirs.currencies):
        return _UNIT
    if mine.currencies:
        return Agreement(1, "currency_missing")
    return Agreement(1, "unit_missing") if mine.unit else _SAME


def _units(mine: FigureReading, theirs: FigureReading) -> Agreement:
    unit, other = mine.unit or "", theirs.unit or ""
    found = same_quantity(mine, theirs)
    if found and mine.high is not None and theirs.high is not None:
        found = same_quantity(mine._replace(amount=mine.high), theirs._replace(amount=theirs.high))
    if found is None:
        return Agreement(1, "unit_unsure")
    if found:
        return _SAME
    if mine.amount == theirs.amount and mine.high == theirs.high:
        return Agreement(1, "unit_unsure") if _is_rate(unit, other) else _UNIT
    return _NUMBER


def _is_rate(unit: str, other: str) -> bool:
    """Whether one unit is the other "per day" or the like, as "5 mg" is said of "5 mg daily"."""
    short, long = sorted((unit, other), key=len)
    return long.startswith(f"{short}-per-") and long.rpartition("-per-")[2] in _PERIODS


def _bounds(value: Figure, other: Figure, end: End | None) -> Agreement:
    if other.part in ("low", "high") and value.part == "whole":
        if end is None:
            return Agreement(1, "part_of_range")
        return _SAME if end == other.part else Agreement(0, "range_end_differs")
    if value.ordinal != other.ordinal:
        return Agreement(1, "ordinal_differs")
    mine, theirs = value.bound, other.bound
    if mine == theirs or {mine, theirs} == {"none", "exactly"}:
        return _SAME
    asked = {"low": "up", "high": "down", None: ""}[end]
    if mine == "none" and _DIRECTION.get(theirs) == asked:
        return _SAME
    opposed = {_DIRECTION.get(mine), _DIRECTION.get(theirs)} == {"up", "down"}
    decided = opposed or (mine == "exactly" and theirs in _DIRECTION)
    return Agreement(0, "comparator_differs") if decided else Agreement(1, "comparator_unsure")


def _rank(found: Agreement) -> tuple[int, bool]:
    return found.level, found.code in _NEARNESS

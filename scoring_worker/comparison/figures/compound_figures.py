"""Figures that make one: "10–15", "between 10 and 15", "5 ft 11 in"."""

import json
from pathlib import Path

from .figure import Figure, FigureReading
from .figure_reader import Read
from .plain_text import Folded

_TABLES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_TO, _AND = frozenset(_TABLES["to"]), frozenset(_TABLES["and"])
_BETWEEN = tuple(_TABLES["between"])
_SMALLER: dict[str, tuple[str, int]] = _TABLES["smaller"]
"""A smaller unit that is added to a larger one, and how many make one."""
_MAX_GAP = 9


def linked(folded: Folded, reads: list[Read]) -> list[Figure]:
    """The figures of ``reads`` with the ranges and sums that neighbours make, in order."""
    figures: list[Figure] = []
    at = 0
    while at < len(reads):
        made = _link(folded, reads[at], reads[at + 1]) if at + 1 < len(reads) else None
        if made is None:
            figures.append(reads[at].figure)
            at += 1
        else:
            figures.extend(made)
            at += 2
    return figures


def _link(folded: Folded, one: Read, other: Read) -> tuple[Figure, ...] | None:
    if "part" in (one.figure.part, other.figure.part) or other.start - one.end > _MAX_GAP:
        return None
    if one.figure.pair or other.figure.pair or one.figure.ordinal or other.figure.ordinal:
        return None
    gap = folded.lowered[one.end : other.start].strip()
    before = folded.lowered[max(0, one.start - 14) : one.start].rstrip()
    if gap in _TO or (gap in _AND and before.endswith(_BETWEEN)):
        return _range(folded, one, other)
    return _sum(folded, one, other) if gap in {"", *_AND} - {"to"} else None


def _range(folded: Folded, one: Read, other: Read) -> tuple[Figure, ...] | None:
    if other.start < other.core.start and one.start == one.core.start and not one.has_suffix:
        return None  # "December 31, 2019 to $207 million": only the second has a sign before it
    lows = _completed(one, other)
    highs = _shared(other.figure.readings, lows)
    readings = tuple(
        low._replace(high=high.amount, sure=low.sure and high.sure)
        for low in lows
        for high in highs
        if low.unit == high.unit and low.amount < high.amount
    )
    if not readings:
        return None
    place = folded.place(one.start, other.end)
    whole = Figure(place, place, "", readings, other.figure.bound)
    return (
        whole,
        one.figure._replace(readings=lows, part="low", bound="none"),
        other.figure._replace(readings=highs, part="high", bound="none"),
    )


def _completed(one: Read, other: Read) -> tuple[FigureReading, ...]:
    """The lower end with the scale and unit that are written once: "2 to 3 million euros"."""
    readings = one.figure.readings
    unscaled = [reading.amount / other.scale for reading in other.figure.readings]
    if other.scale != 1 and not one.has_suffix and readings and readings[0].amount < unscaled[0]:
        readings = tuple(
            reading._replace(amount=reading.amount * other.scale) for reading in readings
        )
    return _shared(readings, other.figure.readings)


def _shared(
    mine: tuple[FigureReading, ...], theirs: tuple[FigureReading, ...]
) -> tuple[FigureReading, ...]:
    """My readings, with the unit or currency of their first one where I have none."""
    donor = next((one for one in theirs if one.unit or one.currencies), None)
    if donor is None or any(reading.unit or reading.currencies for reading in mine):
        return mine
    return tuple(one._replace(unit=donor.unit, currencies=donor.currencies) for one in mine)


def _sum(folded: Folded, one: Read, other: Read) -> tuple[Figure, ...] | None:
    """A large unit and a smaller one: "1 h 30 min" is 90 minutes."""
    for large in one.figure.readings:
        for small in other.figure.readings:
            smaller, factor = _SMALLER.get(large.unit or "", ("", 0))
            fits = small.unit == smaller and 0 <= small.amount < factor
            if fits and large.amount.denominator == 1:
                whole = small._replace(amount=large.amount * factor + small.amount)
                place = folded.place(one.start, other.end)
                figure = Figure(place, place, "", (whole,), one.figure.bound)
                return figure, _part(one.figure), _part(other.figure)
    return None


def _part(figure: Figure) -> Figure:
    readings = tuple(one._replace(sure=False) for one in figure.readings)
    return figure._replace(part="part", readings=readings)

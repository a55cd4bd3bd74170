"""Does the quote hold this number, amount of money or quantity?"""

import re
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from safepassage.schemas import Finding, FindingCode

from ..contract import Comparison, Passage, Place, undecided
from .agreement import Agreement, End, agreement
from .bounds import CLAIMED
from .context import WORD, asked_end, names_unit, scale_named, unit_named, unit_of
from .figure import Figure, FigureReading
from .number_words import has_number_words, number_words
from .plain_text import fold
from .search import figures_in

_REACH = 48
"""Code points before and after the quote that can still belong to a figure in it."""
_SHOWN = 60
_MAX_PLACES = 32
_LEVEL, _START = attrgetter("level"), attrgetter("start")
_EAST_ASIAN_NUMERALS = re.compile(r"[〇零一二三四五六七八九十两兩壹贰貳叁參肆伍陆陸柒捌玖拾]")


class _Seen(NamedTuple):
    """A figure of the quote, where it is there, and how far it agrees with the value."""

    figure: Figure
    place: Place
    found: Agreement


def compare_figure(
    figure: Figure, passage: Passage, entity_type: str = "", unit: str | None = None
) -> Comparison:
    """Compare one figure, as `parse_figure` gives it, with those of the quote; ``unit`` is
    the schema's.

    *Same*: the quote holds it, in its own or a converted unit, and no bound parts them.
    *Different*: the quote can be read and holds others, or none. *Not comparable* where a reading
    (1.234), a bound ("more than 5") or a unit that is not written decides, where digits are a
    piece of a date or a number cut by the quote, and where number words are in a language that is
    not read. Takes time linear in the passage and raises nothing.
    """
    asked = _Asked(figure, passage, entity_type, unit)
    seen = [
        _Seen(other, place, _found(asked, other, whole=whole))
        for other, place, whole in _in_quote(passage)
    ]
    held = [one for one in seen if one.found.level == 2]
    maybe = [one for one in seen if one.found.level == 1]
    known = [one for one in seen if one.figure.stands]
    if held or maybe:
        right = held or maybe
        places = tuple(dict.fromkeys(one.place for one in right))[:_MAX_PLACES]
        companions = _ranges_of(held, seen)
        doubt = None if held else right[0].found.code
        return Comparison(
            "same" if held else "not_comparable",
            figure.kind,
            places,
            _rivals(known, (*places, *companions)),
            (_finding(doubt, figure, right),) if doubt else (),
            companions,
        )
    if not _is_read(figure, passage, any_figures=bool(known)):
        return undecided(figure.kind, "number_unread", "numbers may be in words that are not read")
    rivals = tuple(dict.fromkeys(one.place for one in known))[:_MAX_PLACES]
    findings = (_finding(_code(known), figure, known),)
    return Comparison("different", figure.kind, rivals=rivals, findings=findings)


class _Asked:
    """The value's figure, and the end of a range, the unit and the scale that are asked for."""

    def __init__(
        self, figure: Figure, passage: Passage, entity_type: str, unit: str | None
    ) -> None:
        self.figure, self.passage, self.entity_type, self.unit = figure, passage, entity_type, unit
        self.end: End | None = asked_end(entity_type)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """What the schema's currency may be; empty where its unit is no currency."""
        named = unit_of(self.unit, self.passage.language) if self.unit else None
        return named.currencies if named else frozenset()

    @cached_property
    def with_unit(self) -> Figure | None:
        """A bare number with the unit that the schema or the type's end names, if one does."""
        if self.figure.kind != "number":
            return None
        language = self.passage.language
        named = unit_of(self.unit, language) if self.unit else None
        named = named or unit_named(self.entity_type, language)
        if named is None:
            return None
        readings = tuple(
            one._replace(unit=named.unit, currencies=named.currencies)
            for one in self.figure.readings
        )
        return self.figure._replace(readings=readings)

    @cached_property
    def scale(self) -> Fraction | None:
        """The scale that its type, its label or its unit names ("in millions"), if one does."""
        if any(reading.step > 1 for reading in self.figure.readings):
            return None
        labels = (self.entity_type, self.passage.heading, self.unit or "")
        named = (scale_named(label, self.passage.language) for label in labels)
        return next((scale for scale in named if scale is not None), None)

    @cached_property
    def scale_of_cells(self) -> Fraction | None:
        """The scale that the head of the column or the label gives for the passage's numbers."""
        return scale_named(self.passage.heading, self.passage.language)

    def agreement(self, figure: Figure, other: Figure) -> Agreement:
        """How far ``other`` agrees with ``figure``, as they are or in the scale that is named."""
        found = agreement(figure, other, self.end)
        if found.level or found.code != "number_differs":
            return found
        tried = [found]
        if self.scale is not None:
            tried.append(agreement(_scaled(figure, self.scale), other, self.end))
        if self.scale_of_cells is not None and all(one.step <= 1 for one in other.readings):
            tried.append(agreement(figure, _scaled(other, self.scale_of_cells), self.end))
        return max(tried, key=_LEVEL)


def _found(asked: _Asked, other: Figure, *, whole: bool) -> Agreement:
    if not whole:
        return Agreement(1, "number_cut")
    figure, passage = asked.figure, asked.passage
    found = asked.agreement(figure, other)
    if asked.with_unit is not None and other.kind != "number" and other.readings:
        of_unit = asked.agreement(asked.with_unit, other)
        share = of_unit.level == 0 and any(one.unit == "percent" for one in other.readings)
        found = found if share else of_unit  # 0.05 for 5%, in a field of percents too
    elif found.level == 2 and asked.currencies:
        # Where no currency is written, it may be the one that is asked for.
        paid = [one.currencies or asked.currencies for one in other.readings]
        if not any(asked.currencies & one for one in paid):
            found = Agreement(0, "currency_differs")
    if found.code in ("unit_missing", "currency_missing") and names_unit(passage, figure):
        return Agreement(2)
    return found


def _scaled(figure: Figure, scale: Fraction) -> Figure:
    readings = tuple(
        one._replace(
            amount=one.amount * scale,
            step=one.step * scale,
            high=None if one.high is None else one.high * scale,
        )
        for one in figure.readings
    )
    return figure._replace(readings=readings)


def _in_quote(passage: Passage) -> list[tuple[Figure, Place, bool]]:
    """Figures whose number is in the quote, their places there, and whether all of it does."""
    head = passage.before[-_REACH:]
    text = f"{head}{passage.quote}{passage.after[:_REACH]}"
    start, length = len(head), len(passage.quote)
    figures = []
    for figure in figures_in(text, passage.language):
        begin, end = figure.number.start - start, figure.number.end - start
        if end <= 0 or begin >= length:
            continue
        place = Place(max(0, figure.place.start - start), min(length, figure.place.end - start))
        figures.append((figure, place, begin >= 0 and end <= length))
    return figures


def _rivals(known: list[_Seen], places: tuple[Place, ...]) -> tuple[Place, ...]:
    apart = (one.place for one in known if not any(map(one.place.overlaps, places)))
    return tuple(dict.fromkeys(apart))[:_MAX_PLACES]


def _ranges_of(held: list[_Seen], seen: list[_Seen]) -> tuple[Place, ...]:
    """The ranges of which a figure that is held is the end that the type asks for."""
    ends = sorted({one.place for one in held if one.figure.part in ("low", "high")}, key=_START)
    whole = sorted({one.place for one in seen if _is_range(one.figure)}, key=_START)
    found = []
    at = 0
    for range_ in whole:  # both in order, and no two ranges overlap: one pass
        while at < len(ends) and ends[at].start < range_.start:
            at += 1
        if at < len(ends) and ends[at].end <= range_.end:
            found.append(range_)
    return tuple(found[:_MAX_PLACES])


def _is_range(figure: Figure) -> bool:
    return figure.part == "whole" and any(one.high is not None for one in figure.readings)


def _code(known: list[_Seen]) -> FindingCode:
    """What differs, by the figure that comes nearest."""
    if not known:
        return "number_missing"
    codes = [one.found.code for one in known if one.found.code]
    return next((code for code in codes if code != "number_differs"), "number_differs")


def _finding(code: FindingCode, figure: Figure, seen: list[_Seen]) -> Finding:
    says = ", ".join(_shown(one.figure) for one in seen[:3]) or "no number"
    return Finding(code=code, detail=f"passage says {says}; value says {_shown(figure)}")


def _shown(figure: Figure) -> str:
    """A figure for people: the number as it is written, its unit and bound. A sign that several
    currencies share says nothing that the number beside it does not."""
    if not figure.readings:
        return "a number too long to read"
    one = figure.readings[0]
    scaled = one.step > 1  # "65k" is 65,000, and its digits alone would mislead
    written = any(map(str.isdecimal, figure.digits)) and one.high is None and not scaled
    amount = figure.digits if written else _decimal(one, " and " if figure.pair else " to ")
    unit = (one.unit or "").replace("-per-", "/").replace("-", " ")
    if len(one.currencies) == 1:
        (unit,) = one.currencies
    bound = "" if figure.bound == "none" else figure.bound.replace("_", " ")
    return " ".join(part for part in (bound, amount, unit) if part)[:_SHOWN]


def _decimal(reading: FigureReading, joint: str) -> str:
    values = [reading.amount] if reading.high is None else [reading.amount, reading.high]
    whole = (value.denominator == 1 and len(str(value)) < 12 for value in values)
    return joint.join(
        str(value) if short else f"{float(value):.12g}"
        for value, short in zip(values, whole, strict=True)
    )


def _is_read(figure: Figure, passage: Passage, *, any_figures: bool) -> bool:
    """Whether a number that is not found is not there, as far as number words go."""
    if _EAST_ASIAN_NUMERALS.search(passage.quote):
        return False
    if not WORD.search(passage.quote) or (passage.language and has_number_words(passage.language)):
        return True
    amounts = {reading.amount for reading in figure.readings}
    lowered = fold(passage.quote).lowered
    for language in sorted(CLAIMED - {"en"}) if passage.language is None else ():
        if any(words.value in amounts for words in number_words(lowered, language)):
            return False
    return any_figures

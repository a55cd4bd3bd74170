"""Does the quote hold this date?

*Same*: a date of the quote states every part that the value states. *Different*: the quote's
dates state other parts, or fewer than the value, or the quote has no date in a language where that
can be known. Everything else is *not comparable*, with the finding that says why.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from safepassage.passages.date_order import day_first_of
from safepassage.schemas import Finding, FindingCode

from ..contract import Comparison, Passage, Place, different, undecided
from .cldr import base
from .number_words import spells
from .partial_date import PartialDate, Relation, doubted, relation
from .search import dates_in
from .times import same_time, times_in
from .tokens import tokens, words_in
from .vague_words import is_known, lexicon

_different = partial(different, "date")
_READ_WHOLE = words_in("languages_read_whole")
"""Here a part of a date that is not seen is not there: months do not change their form and
numbers in words are read. Elsewhere the part may be in a form that CLDR does not list."""
_HOLDING = ("stated", "weak", "part", "unread")
"""A date that may hold the value. A part of June is in June; a day that could not be read does not
matter to a value that states none."""
_BESIDE_THE_POINT = ("weak", "embedded")
"""Digits that may be no date: they count where they are the value and never against it."""
_BUDDHIST_ERA = 543
_ISLAMIC_YEARS = range(1280, 1500)
_ISLAMIC = words_in("languages_of_islamic_years")
_WHY_OPEN: dict[FindingCode, Callable[[PartialDate, Relation], bool]] = {
    "date_other_calendar": lambda date, how: date.certainty == "other_calendar",
    "date_ambiguous": lambda date, how: how == "perhaps" and date.certainty in ("stated", "weak"),
    "date_vague": lambda date, how: date.certainty in ("vague", "part") and how != "differs",
    "date_unread": lambda date, how: date.certainty == "unread" and how != "differs",
    "date_in_identifier": lambda date, how: date.certainty == "embedded" and how == "same",
}
"""What a date of the quote has to be for the quote to decide nothing, by finding."""


def compare_date(date: PartialDate, passage: Passage) -> Comparison:
    """Whether ``passage.quote`` holds ``date``. Never raises; linear in the passage.

    A value found only around the quote is *different* with ``date_outside_quote``: it is not
    quoted. Its year alone may be there ("2012" in the heading, "17 January" in the row): then
    the judge has to read.
    """
    around = "\n".join(filter(None, (passage.heading, passage.before, passage.after)))
    near = day_first_of(f"{passage.quote}\n{around}")
    order = passage.day_first if near is None else near
    if date.parts == (None, None, None) and date.quarter is None:
        if date.time is None:
            return Comparison("not_comparable", "date")
        timed = bool(times_in(passage.quote))
        return _with_time(date, passage.quote) if timed else undecided("date", "time_missing")
    stated = dates_in(passage.quote, passage.language, order)
    seen = [_seen_as(date, each, passage.language) for each in stated]
    return _decide(date, passage, seen, around, order)


def _seen_as(
    value: PartialDate, stated: PartialDate, language: str | None
) -> tuple[PartialDate, Relation]:
    """A date of the quote and what it is to the value; its year may be one of another calendar."""
    if stated.certainty == "other_calendar":
        return stated, "perhaps"
    found = relation(value, stated)
    if found != "differs" or value.year is None or stated.year is None:
        return stated, found
    islamic = (stated.year in _ISLAMIC_YEARS) != (value.year in _ISLAMIC_YEARS)
    elsewhere = abs(value.year - stated.year) == _BUDDHIST_ERA or (
        islamic and base(language) in _ISLAMIC
    )
    return (doubted(stated, "other_calendar"), "perhaps") if elsewhere else (stated, found)


_Seen = Sequence[tuple[PartialDate, Relation]]


def _decide(
    value: PartialDate, passage: Passage, seen: _Seen, around: str, order: bool | None
) -> Comparison:
    same = [each for each, how in seen if how == "same" and each.certainty in _HOLDING]
    held = {each.start for each in same}
    rivals = _places(
        each for each, _ in seen if each.certainty == "stated" and each.start not in held
    )
    if same:
        return _with_time(value, passage.quote, _places(same), rivals)
    open_ = _why_open(value, passage, seen, around)
    if open_ is not None:
        return Comparison("not_comparable", "date", rivals=rivals, findings=(open_,))
    stated = [(each, how) for each, how in seen if each.certainty not in _BESIDE_THE_POINT]
    if stated:
        less = any(how == "less" for _, how in stated)
        code: FindingCode = "date_more_precise" if less else "date_differs"
        if all(how == "unrelated" for _, how in stated):
            code = "date_missing"
        return _different(code, _said([each for each, _ in stated], value), rivals)
    return _without_dates(value, passage, around, order, rivals)


def _why_open(value: PartialDate, passage: Passage, seen: _Seen, around: str) -> Finding | None:
    for code, why in _WHY_OPEN.items():
        matched = [date for date, how in seen if why(date, how)]
        if matched:
            return Finding(code=code, detail=_said(matched, value))
    return _why_incomplete(value, passage, seen, around)


def _why_incomplete(
    value: PartialDate, passage: Passage, seen: _Seen, around: str
) -> Finding | None:
    less = [date for date, how in seen if how == "less" and date.certainty == "stated"]
    if not less:
        return _shifted_by_zone(value, seen)
    elsewhere = [date for date, _ in seen] + dates_in(around, passage.language)
    for date in less:
        dated = date.month is not None and (date.day is not None or value.day is None)
        if date.year is None and dated and any(other.year == value.year for other in elsewhere):
            detail = f"the passage says {date}; its year may be elsewhere"
            return Finding(code="date_completed", detail=detail)
    if base(passage.language) not in _READ_WHOLE:
        differs = any(how == "differs" and date.is_full for date, how in seen)
        if not differs or any(date.month is not None for date in less):
            return Finding(code="date_precision_unsure", detail=_said(less, value))
    return None


def _shifted_by_zone(value: PartialDate, seen: _Seen) -> Finding | None:
    """Late evening in one zone is the next day in another."""
    if value.time is None or value.time.offset is None or not value.is_full:
        return None
    for date, _ in seen:
        near = abs((date.day or 0) - (value.day or 0)) == 1
        if date.is_full and date.parts[:2] == value.parts[:2] and near:
            return Finding(code="date_zone", detail=_said([date], value))
    return None


def _with_time(
    value: PartialDate, quote: str, places: tuple[Place, ...] = (), rivals: tuple[Place, ...] = ()
) -> Comparison:
    """The date is there; so has its time to be, where it states one."""
    if value.time is None:
        return Comparison("same", "date", places, rivals)
    times = times_in(quote)
    agrees = same_time(value.time, times) if times else False
    if agrees:
        return Comparison("same", "date", places, rivals)
    if agrees is None:
        detail = "its half of the day or its zone is open"
        return undecided("date", "time_ambiguous", detail, places, rivals=rivals)
    code: FindingCode = "time_differs" if times else "date_more_precise"
    return _different(code, f"the value says {value}", rivals)


def _without_dates(
    value: PartialDate, passage: Passage, around: str, order: bool | None, rivals: tuple[Place, ...]
) -> Comparison:
    outside = dates_in(around, passage.language, order) if around else []
    if any(relation(value, each) == "same" for each in outside if each.certainty == "stated"):
        return _different("date_outside_quote", f"{value} is beside the quote only", rivals)
    found = tokens(passage.quote)
    words = lexicon(passage.language)
    if words.anywhere(found, "relative") or words.anywhere(found, "season"):
        detail = "the passage dates by another day or a season"
        return undecided("date", "date_relative", detail, rivals=rivals)
    whole = value.is_full and spells(passage.language)
    whole = whole or (value.year is not None and base(passage.language) in _READ_WHOLE)
    if whole and is_known(passage.language):
        return _different("date_missing", f"no date in the passage; the value says {value}", rivals)
    return undecided("date", "date_not_seen", "no date is seen in the passage", rivals=rivals)


def _said(dates: Sequence[PartialDate], value: PartialDate) -> str:
    said = ", ".join(dict.fromkeys(shown for date in dates if (shown := str(date))))
    shown = said or "something that could not be read"
    return f"the passage says {shown[:300]}; the value says {value}"[:500]


def _places(dates: Iterable[PartialDate]) -> tuple[Place, ...]:
    return tuple(Place(date.start, date.end) for date in dates)

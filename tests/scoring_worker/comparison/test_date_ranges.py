"""Ends of a period: the one that the type asks for, and the other one."""

from __future__ import annotations

import datetime

import pytest
from babel.dates import format_date
from hypothesis import example, given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Question
from safepassage.scoring_worker.comparison.date_ranges import asked_end


def asked(entity_type: str, value: object, quote: str, language: str | None = None) -> Comparison:
    return compare(Question(entity_type, value, Passage(quote, language=language)))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(
    st.dates(datetime.date(1950, 1, 1), datetime.date(2060, 1, 1)),
    st.integers(1, 5_000),
    st.sampled_from(["en_GB", "de_DE", "fr_FR", "es_ES", "it_IT"]),
    st.sampled_from([" - ", " – ", "–", " to ", " bis "]),
)
@example(datetime.date(2000, 5, 1), 1, "de_DE", " - ")  # "mai" twice: no Italian "never"
@example(datetime.date(2000, 5, 1), 1, "de_DE", " bis ")
@example(datetime.date(2000, 5, 30), 1, "fr_FR", "–")
def test_each_end_answers_its_own_type_alone(
    first: datetime.date, days: int, locale: str, joint: str
) -> None:
    last = first + datetime.timedelta(days)
    low, high = (format_date(day, "long", locale=locale) for day in (first, last))
    quote = f"{low}{joint}{high}"
    for entity_type, right, wrong in (("Start Date", first, last), ("Valid Until", last, first)):
        found = asked(entity_type, right.isoformat(), quote, locale[:2])
        assert found.answer == "same"
        assert not found.rivals
        assert [(at.start, at.end) for at in found.companions] == [(0, len(quote))]
        assert asked(entity_type, wrong.isoformat(), quote, locale[:2]).answer == "different"
    assert asked("Date", last.isoformat(), quote, locale[:2]).companions == ()


@pytest.mark.parametrize(
    ("entity_type", "value", "quote", "answer"),
    [
        ("End Date", "present", "2016 - present: nurse", "same"),
        ("Start Date", "present", "2016 - present: nurse", "different"),
        ("Start Date", "2016", "2016 - present: nurse", "same"),
        ("End Date", "2016", "2016 - present: nurse", "different"),
        ("Datum Ende", "2016", "2016 bis heute", "different"),
        ("Year", "2016", "2016 - present: nurse", "same"),
        ("Start and End", "2016", "2016 - present: nurse", "same"),
        ("End Date", "2016", "2012 - 2016, then 2016 - present", "same"),
        ("End Date", "2016", "2018 - 2016", "same"),
        ("End Date", "2016", "2016 | 2018", "same"),
        ("End Date", "2016", "2016, a present", "same"),
        ("Status", "present", "2016 - present: nurse", "same"),
    ],
)
def test_ends(entity_type: str, value: str, quote: str, answer: str) -> None:
    assert asked(entity_type, value, quote).answer == answer


def test_rivals_outside_the_range_stay() -> None:
    quote = "2012 - 2014; paid in 2019"
    found = asked("End Date", "2014", quote)
    assert [quote[at.start : at.end] for at in found.rivals] == ["2019"]


@pytest.mark.parametrize(
    ("entity_type", "end"),
    [
        ("startDate", "low"), ("valid_from", "low"), ("Vertragsbeginn", None), ("Beginn", "low"),
        ("Date de fin", "high"), ("Endorsement Date", None), ("Start/End", None), ("", None),
    ],
)  # fmt: skip
def test_the_end_that_a_type_asks_for(entity_type: str, end: str | None) -> None:
    assert asked_end(entity_type) == end

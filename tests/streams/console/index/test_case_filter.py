"""Order, filters and the lot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Alignment, Extraction, Verdict, reject, undetermined
from safepassage.streams.console.index.case_filter import CaseFilter, lot, margin
from tests.streams.console.cases import verdict


def not_found(score: float) -> Verdict:
    base = verdict(1)
    alignment = Alignment(
        score=score, matches=3, length=9, unaligned=2, threshold=0.6, route="full"
    )
    extraction = {k: getattr(base, k) for k in ("doc_id", "entity_type", "value", "context")}
    return reject(Extraction(id="x", **extraction), "not_found", base.document, alignment)


def test_most_uncertain_is_what_lies_closest_to_its_threshold_on_either_side() -> None:
    scores = [0.05, 0.49, 0.9, 0.53]
    ranked = sorted((verdict(1, score=s) for s in scores), key=margin)
    assert [v.score for v in ranked] == [0.49, 0.53, 0.9, 0.05]


def test_the_scored_come_before_the_only_aligned_and_those_before_the_unmeasured() -> None:
    base = verdict(1)
    unread = undetermined(
        Extraction(id="x", doc_id="d", entity_type="T", value="v", context="c"),
        "document_missing",
        base.document,
    )
    assert margin(verdict(1, score=0.0)) < margin(not_found(0.55)) < margin(not_found(0.2))
    assert margin(not_found(0.0)) < margin(unread)


def test_the_lot_is_even_and_depends_on_nothing_but_the_id() -> None:
    lots = [lot(verdict(number)) for number in range(2_000)]
    assert lots[:10] == [lot(verdict(number)) for number in range(10)]
    drawn = sum(value < 0.1 for value in lots)
    assert 150 < drawn < 250
    assert all(0 <= value < 1 for value in lots)


def test_a_filter_survives_its_query_string() -> None:
    wanted = CaseFilter(
        pool="stopped",
        order="oldest",
        entity_type="Judge",
        reason="not_found",
        model="m",
        document="d & e",
        age="older-day",
        min_score=0.25,
        max_score=0.5,
    )
    assert CaseFilter.parse(wanted.query()) == wanted
    assert wanted.restrictions == 7


@given(st.dictionaries(st.sampled_from(sorted(CaseFilter.__slots__)), st.text(max_size=20)))
def test_whatever_stands_in_a_query_string_is_a_filter(query: dict[str, str]) -> None:
    parsed = CaseFilter.parse(query)
    assert CaseFilter.parse(parsed.query()) == parsed


@pytest.mark.parametrize("wrong", ["nan", "2", "-1", "x", ""])
def test_a_score_that_is_none_restricts_nothing(wrong: str) -> None:
    assert CaseFilter.parse({"min_score": wrong}).min_score is None

"""Strict mode: a doubt of any kind stops what would be accepted, and nothing else changes."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Assessment, Finding, judge
from safepassage.schemas.evidence import Evidence, UnsupportedSpan
from safepassage.schemas.finding import Contradiction, Doubt
from safepassage.schemas.memory import LikeCase, MemoryTrail, ReviewerVote
from safepassage.schemas.rivals import with_rivals
from safepassage.scoring_worker.weighing.judged_batch import verdicts
from tests.schemas.test_finding import ALIGNED
from tests.schemas.test_rivals import aligned, extraction

STOPPED = ("quarantined", ("doubtful",))
ACCEPTED = ("accepted", ())


def said(
    strict: bool = True, score: float = 0.9, codes: tuple[str, ...] = (), **more
) -> Assessment:
    findings = tuple(Finding.model_validate({"code": code}) for code in codes)
    return Assessment(
        scorer="s",
        revision="r",
        score=score,
        threshold=0.5,
        findings=findings,
        strict=strict,
        **more,
    )


def decided(assessment: Assessment) -> tuple[str, tuple[str, ...]]:
    made = judge(ALIGNED, assessment)
    return made.decision, made.reasons


@pytest.mark.parametrize("code", sorted({*get_args(Doubt)} - {"says_this", "reviewed_alike"}))
def test_every_doubt_is_a_persons_case(code: str):
    assert decided(said(codes=(code,))) == STOPPED


def test_a_second_judge_who_agrees_is_no_doubt():
    assert decided(said(codes=("says_this",))) == ACCEPTED


@pytest.mark.parametrize(("score", "expected"), [(0.749, STOPPED), (0.75, ACCEPTED)])
def test_a_score_nearer_to_the_threshold_than_to_one_is_a_doubt(score, expected):
    assert decided(said(score=score)) == expected


def test_words_of_a_claim_that_nothing_supports_are_a_doubt():
    evidence = Evidence(unsupported=(UnsupportedSpan(start=0, end=3),))
    assert decided(said(evidence=evidence)) == STOPPED


@pytest.mark.parametrize(
    ("votes", "expected"), [([True], ACCEPTED), ([False], STOPPED), ([True, False], STOPPED)]
)
def test_a_decision_of_a_person_against_a_value_like_this_is_a_doubt(votes, expected):
    cast = tuple(ReviewerVote(reviewer=f"r{at}", supported=one) for at, one in enumerate(votes))
    memory = MemoryTrail(
        snapshot="0123456789abcdef",
        shift=0.1,
        cases=(LikeCase(case_id="c", likeness=0.9, votes=cast),),
    )
    assert decided(said(codes=("reviewed_alike",), memory=memory)) == expected


@given(
    st.floats(0, 1),
    st.lists(st.sampled_from([*get_args(Doubt), *get_args(Contradiction)]), max_size=3),
)
def test_nothing_is_accepted_that_is_stopped_without_it_and_reasons_stay(score, codes):
    loose = decided(said(strict=False, score=score, codes=tuple(codes)))
    strict = decided(said(score=score, codes=tuple(codes)))
    assert strict == loose or (loose, strict) == (ACCEPTED, STOPPED)


def test_a_doubtful_rival_is_heard_and_conflicts():
    """Otherwise strict mode would accept one of two values that are conflicting without it."""
    one, other = with_rivals([extraction("a", "Ann"), extraction("b", "Bob")])
    events = [aligned(one, "b"), aligned(other, "a")]
    sure, near = said(score=0.95), said(score=0.6)
    found = verdicts(events, [sure, near, near, sure])
    assert [verdict.reasons for verdict in found] == [("conflicting",)] * 2


def test_an_assessment_that_is_not_strict_is_written_as_before():
    assert b"strict" not in said(strict=False).model_dump_json().encode()

"""A candidate goes live only if it beats the incumbent on gold labels, within stated bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.cases import LabelledCase, Lost
from safepassage.streams.release.promotion_bounds import (
    Bounds,
    PromotionResult,
    judge_candidate,
)

BOUNDS = Bounds(min_labels=5)


@dataclass
class Recorded:
    """A scorer that accepts exactly the values it is told to; None gives no score."""

    name: str
    accepts: dict[str, bool | None]

    @property
    def revision(self) -> str:
        return f"{self.name}-1"

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return [self._one(self.accepts[str(pair.value)]) for pair in pairs]

    def close(self) -> None:
        """Holds nothing."""

    def _one(self, accepted: bool | None) -> Assessment:
        if accepted is None:
            return Assessment(scorer=self.name, revision=self.revision, failure="scorer_failed")
        score = 0.9 if accepted else 0.1
        return Assessment(scorer=self.name, revision=self.revision, score=score, threshold=0.5)


def case(number: int, supported: bool) -> LabelledCase:
    value = str(number)
    pair = Pair(premise="p", hypothesis="h", entity_type="T", value=value)
    return LabelledCase(value, f"doc-{number}", supported, "T", (pair,))


def compare(
    labels: list[bool], old: list[bool | None], new: list[bool | None], bounds: Bounds = BOUNDS
) -> PromotionResult:
    cases = [case(n, supported) for n, supported in enumerate(labels)]
    return judge_candidate(
        cases,
        Recorded("old", {str(n): accepted for n, accepted in enumerate(old)}),
        Recorded("new", {str(n): accepted for n, accepted in enumerate(new)}),
        bounds,
    )


def missed(result: PromotionResult) -> set[str]:
    return {bound.name for bound in result.bounds if not bound.passed}


LABELS = [True] * 40 + [False] * 40


def test_better_candidate_passes():
    old = [True] * 30 + [False] * 10 + [False] * 30 + [True] * 10
    result = compare(LABELS, old, LABELS)
    assert result.passed
    assert (result.candidate.f1, result.candidate.recall) == (1.0, 1.0)
    assert result.incumbent.recall == 0.75


def test_candidate_that_is_no_better_is_refused():
    result = compare(LABELS, LABELS, LABELS)
    assert missed(result) == {"macro F1"}
    assert "+0.000" in next(b.explanation for b in result.bounds if b.name == "macro F1")


def test_better_f1_does_not_buy_a_loss_of_recall():
    # The old one stops everything: recall 1, but useless precision.
    new = [True] * 40 + [False] * 34 + [True] * 6
    result = compare(LABELS, [False] * 80, new)
    assert result.candidate.f1 > result.incumbent.f1
    assert missed(result) == {"recall"}


def test_who_stops_nearly_everything_is_refused_though_f1_rises():
    """Of reviews nearly all are of stopped values, and so nearly all are wrong."""
    labels = [True] * 10 + [False] * 70
    old = [True] * 10 + [False] * 40 + [True] * 30
    result = compare(labels, old, [False] * 80)
    assert result.candidate.f1 > result.incumbent.f1
    assert result.candidate.accepted == 0.0
    assert {"accepted", "macro F1"} <= missed(result)


def test_how_many_labels_are_wanted_is_said_of_each_class():
    result = compare([True] * 3 + [False] * 4, [False] * 7, [True] * 3 + [False] * 4)
    (said,) = (bound.explanation for bound in result.bounds if bound.name == "labels")
    assert "2 more supported and 1 more unsupported are wanted" in said


def test_allowed_loss_is_stated_by_the_operator():
    new = [True] * 40 + [False] * 34 + [True] * 6
    lenient = Bounds(min_labels=5, max_recall_loss=0.5)
    assert compare(LABELS, [False] * 80, new, lenient).passed


def test_few_labels_are_no_evidence():
    old = [False] * 40 + [False] * 40
    assert missed(compare(LABELS, old, LABELS, Bounds(min_labels=41))) == {"labels"}


def test_candidate_that_cannot_judge_is_refused():
    old = [True] * 30 + [False] * 10 + [False] * 40
    new = [True] * 40 + [None] * 40
    assert missed(compare(LABELS, old, new)) == {"unjudged"}


def test_one_class_alone_is_no_evidence():
    result = compare([True] * 40, [False] * 40, [True] * 40)
    assert "labels" in missed(result)
    assert not result.passed


def test_no_cases_at_all_are_refused():
    assert not compare([], [], []).passed


def test_case_that_never_reaches_a_scorer_is_stopped_by_both():
    lost = LabelledCase("x", "doc-x", False, "T", (Lost("low_evidence"),))
    scorer = Recorded("s", {})
    result = judge_candidate([lost], scorer, scorer, BOUNDS)
    assert (result.incumbent.recall, result.candidate.recall) == (1.0, 1.0)


def test_answer_is_accepted_only_with_all_its_parts():
    parts = tuple(Pair("p", "h", "T", value) for value in ("a", "b"))
    whole = LabelledCase("x", "doc-x", False, "T", parts)
    half = Recorded("s", {"a": True, "b": False})
    assert judge_candidate([whole], half, half, BOUNDS).candidate.recall == 1.0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_worse_candidate_never_passes(rows):
    labels, old, noise = (list(column) for column in zip(*rows, strict=True))
    # The new one errs wherever the old one does, and in more places.
    new = [
        o if o != label else (not o if flip else o)
        for label, o, flip in zip(labels, old, noise, strict=True)
    ]
    assert not compare(labels, old, new, Bounds(min_labels=1)).passed


@pytest.mark.parametrize("changes", [{"max_recall_loss": 2}, {"confidence": 0.2}])
def test_bounds_that_mean_nothing_are_refused(changes):
    with pytest.raises(ValueError, match=r"less than|greater than"):
        Bounds(**changes)

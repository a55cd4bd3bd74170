"""Nothing that is accepted carries a contradiction, whatever reader, grader or stack would say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import CLAIM_TYPE, Assessment, Finding, SchemaField, hypothesis
from safepassage.schemas.finding import Doubt
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.comparison import Comparison
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.packs.registry import NAMES, packs_named
from safepassage.scoring_worker.scorers.cascade import CascadeScorer
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.features import FINDINGS, UNWEIGHED
from safepassage.scoring_worker.weighing.opinion import SHAPES
from tests.scoring_worker.weighing.reading import ToldReader

STACK = {"shapes": {shape: {"bias": 6.0, "weights": {}} for shape in SHAPES}}
"""Accepts everything that the comparators let pass."""
MANIFEST = ScorerManifest(name="yes", kind="reader", labels=0, max_length=64, stack=STACK)

VALUES = (
    "pneumonia", "£2,500", "5 mg", "more than 5", "exactly 5", "2014-03-05", "yes", "no", "none",
    "Ann Roe", "AB-12345", "350", True, 5, None,
)  # fmt: skip
TYPES = (
    "Diagnosis", "Excluded Diagnosis", "Rent", "Dose (mg)", "Decision Date", "Smoker", "Tenant",
    "Reference Number", CLAIM_TYPE,
)  # fmt: skip
CLAUSES = (
    "Pneumonia was ruled out.", "No pneumonia.", "His mother had pneumonia.", "Rent: £2,500.",
    "The rent is less than 5.", "5 mg daily", "5 ml", "more than 5", "on 6 March 2014",
    "5 March 2014", "Smoker: no", "Return if pneumonia is suspected.", "Tenant: Bob Roe",
    "AB-12346", "350 kg", "none known", "Pneumonia.",
)  # fmt: skip
FIELDS = (None, SchemaField(unit="EUR"), SchemaField(unit="kg"), SchemaField(allowed=("yes", "5")))

values = st.one_of(
    st.sampled_from(VALUES),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(("dose", "date", "name")), st.sampled_from(VALUES), min_size=1),
)
pairs = st.builds(
    lambda kind, value, clauses, field: Pair(
        " ".join(clauses), hypothesis(kind, value), kind, value, field=field
    ),
    st.sampled_from(TYPES),
    values,
    st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=3),
    st.sampled_from(FIELDS),
)


class Sure:
    """A second scorer that supports everything."""

    name, revision = "sure", "1"

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return [Assessment(scorer="sure", revision="1", score=1.0, threshold=0.5) for _ in pairs]

    def close(self) -> None:
        """Nothing is held open."""


def contradicted(assessment: Assessment) -> bool:
    return any(finding.contradicts for finding in assessment.findings)


def accepted(assessment: Assessment) -> bool:
    score, threshold = assessment.score, assessment.threshold
    return score is not None and threshold is not None and score >= threshold


@pytest.mark.parametrize("packs", [(), NAMES])
@given(pair=pairs)
def test_nothing_accepted_carries_a_contradiction(packs: tuple[str, ...], pair: Pair) -> None:
    first = DefaultScorer(MANIFEST, ToldReader(), packs_named(packs))  # type: ignore[arg-type]
    cascade = CascadeScorer(first, Sure(), band=(0.0, 1.0))
    for scorer in (first, cascade):
        (said,) = scorer.assess([pair])
        assert not (accepted(said) and contradicted(said)), said.findings


def test_a_contradiction_makes_the_answer_of_any_comparison_different() -> None:
    found = Comparison("same", "words", findings=(Finding(code="denied"),))
    assert found.answer == "different"
    assert Comparison("same", "words", findings=(Finding(code="denial_near"),)).answer == "same"


def test_the_features_of_findings_are_of_doubts() -> None:
    assert set(Doubt.__args__) >= FINDINGS | UNWEIGHED

"""The stacked scorer: what it weighs, what it says, and how it fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring_worker.checks import SHAPES, examine
from scoring_worker.encoders.batching import PairFailure
from scoring_worker.encoders.encoder import EncoderScores
from scoring_worker.manifest import ModelError, ScorerManifest, Thresholds
from scoring_worker.scorer import Pair, Scorer
from scoring_worker.scorers.default import ENCODER, NEGLIGIBLE, Stack, StackedScorer, stack_features

WEIGHTS = {"bias": 0.0, "weights": {ENCODER: 2.0, "date_differs": -8.0, "date_shown": 3.0}}
GOOD = Pair("signed May 4, 2015", "Date: May 4, 2015", "Date", "2015-05-04")
WRONG = Pair("signed May 4, 2015", "Date: May 4, 2016", "Date", "2016-05-04")


class FakeEncoder:
    """Gives each premise a probability by rule, and fails where told."""

    def __init__(self, probability: float = 0.5, failing: str = "no text has this") -> None:
        self._probability = probability
        self._failing = failing
        self.asked: list[str] = []

    def revision_of(self, manifest: ScorerManifest) -> str:
        return manifest.revision

    def unreadable(self, premises: list[str], hypotheses: list[str]) -> dict[int, PairFailure]:
        return {
            at: PairFailure("scorer_failed", "it cannot be read")
            for at, text in enumerate(hypotheses)
            if "unreadable" in text
        }

    def score(self, premises: list[str], hypotheses: list[str]) -> EncoderScores:
        self.asked += hypotheses
        failed = [at for at, text in enumerate(hypotheses) if self._failing in text]
        scores = np.full(len(premises), self._probability)
        scores[failed] = np.nan
        return EncoderScores(
            scores, {at: PairFailure("scorer_failed", "no memory") for at in failed}
        )


def scorer(encoder: FakeEncoder | None = None, **changes: object) -> StackedScorer:
    stack = {"shapes": dict.fromkeys(SHAPES, WEIGHTS)}
    manifest = ScorerManifest(name="s", kind="stacked", labels=0, max_length=64, stack=stack)
    return StackedScorer(manifest.model_copy(update=changes), encoder or FakeEncoder())


def test_it_is_a_scorer():
    assert isinstance(scorer(), Scorer)


def test_checks_and_encoder_are_weighed_together():
    good, wrong = scorer().assess([GOOD, WRONG])
    assert good.score == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-6)
    assert wrong.score == pytest.approx(1 / (1 + np.exp(8)), abs=1e-6)
    sure = scorer(FakeEncoder(0.999)).assess([GOOD])[0]
    assert sure.score > good.score


def test_the_verdict_can_name_what_was_found():
    assert [f.code for f in scorer().assess([WRONG])[0].findings] == ["date_differs"]


def test_thresholds_are_per_entity_type():
    thresholds = Thresholds.model_validate(
        {"default": 0.4, "by_type": {"date": {"value": 0.9, "n": 50}}}
    )
    (assessment,) = scorer(thresholds=thresholds).assess([GOOD])
    assert assessment.threshold == 0.9


def test_a_failed_pair_has_no_score_and_takes_no_other_with_it():
    good, wrong = scorer(FakeEncoder(failing="2015")).assess([GOOD, WRONG])
    assert (good.score, good.failure) == (None, "scorer_failed")
    assert wrong.score is not None


def test_what_the_encoder_cannot_read_fails_even_where_it_is_not_asked():
    unreadable = Pair(WRONG.premise, "Date: unreadable", "Date", WRONG.value)
    good, wrong = scorer().assess([GOOD, unreadable])
    assert good.score is not None
    assert (wrong.score, wrong.failure) == (None, "scorer_failed")


def test_the_encoder_is_asked_only_where_its_opinion_matters():
    """Eight against its two: whatever it says of the wrong date changes nothing."""
    encoder = FakeEncoder()
    scorer(encoder).assess([WRONG, GOOD])
    assert encoder.asked == [GOOD.hypothesis]


def test_the_encoder_is_asked_wherever_it_could_decide():
    """A threshold within its reach, however small that is, makes its opinion matter."""
    encoder = FakeEncoder()
    scorer(encoder, thresholds=Thresholds(default=0.001)).assess([WRONG])
    assert encoder.asked == [WRONG.hypothesis]


@given(
    probability=st.floats(0, 1),
    bias=st.floats(-9, 9),
    weight=st.floats(-3, 3),
    threshold=st.floats(0.01, 0.99),
)
def test_not_asking_changes_no_verdict_and_hardly_a_score(probability, bias, weight, threshold):
    """Against a scorer that always asks, for any stack and any opinion."""
    shapes = {shape: {"bias": bias, "weights": {ENCODER: weight}} for shape in SHAPES}
    thresholds = Thresholds(default=threshold)
    made = scorer(FakeEncoder(probability), stack={"shapes": shapes}, thresholds=thresholds)
    (given_,) = made.assess([GOOD])
    always = made._score(examine(GOOD), probability)
    assert (given_.score >= threshold) == (always >= threshold)
    assert abs(given_.score - always) <= NEGLIGIBLE


def test_an_encoder_that_gives_no_number_is_a_failure_not_a_pass():
    (assessment,) = scorer(FakeEncoder(float("nan"))).assess([GOOD])
    assert (assessment.score, assessment.failure) == (None, "score_not_finite")


def test_certain_encoders_stay_finite():
    for probability in (0.0, 1.0):
        assert stack_features(examine(GOOD), probability)[ENCODER] in {-1.0, 1.0}


def test_the_revision_changes_with_the_stack():
    other = {"shapes": {shape: {"bias": 0.1, "weights": {}} for shape in SHAPES}}
    assert scorer().revision != scorer(stack=other).revision


@pytest.mark.parametrize(
    "stack",
    [None, {}, {"shapes": {"date": WEIGHTS}}, {"shapes": {"date": {"bias": float("nan")}}}, "x"],
)
def test_a_stack_that_does_not_cover_every_shape_is_refused(stack):
    manifest = ScorerManifest(name="s", kind="stacked", labels=0, max_length=64)
    with pytest.raises(ModelError, match="s: no"):
        Stack.of(manifest.model_copy(update={"stack": stack}))

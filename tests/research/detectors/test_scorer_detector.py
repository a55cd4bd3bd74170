"""A scorer of pairs over windows and claims."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.detectors.scorer_detector import ScorerDetector
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding
from tests.scoring_worker.detectors.doubles import WordScorer

RENT = "The rent was 900 euros."
BEGAN = "The lease began in May."


def _detector(room: int = 40) -> ScorerDetector:
    return ScorerDetector("words", WordScorer(), room=room)


def _ground(context, response) -> Grounding:
    [found] = _detector().ground([Answer(context=tuple(context), response=response)])
    return found


def test_one_passage_that_supports_a_claim_is_enough_and_is_named():
    found = _ground(["Nothing here.", f"Nor here. {RENT}"], RENT)
    assert found.score == 1.0
    [passage] = found.claims[0].passages
    assert passage.passage == 1
    assert passage.supports
    assert RENT in f"Nor here. {RENT}"[passage.start : passage.end]


def test_a_response_is_as_grounded_as_its_worst_claim_which_is_marked():
    response = f"{RENT} Dogs bark."
    found = _ground([RENT, BEGAN], response)
    assert found.score == 0.0
    [span] = found.evidence.unsupported
    assert response[span.start : span.end] == "Dogs bark."


def test_a_window_that_cannot_be_scored_makes_the_answer_undetermined_and_loses_no_other():
    detector = _detector()
    good = Answer((RENT,), RENT)
    found = detector.ground([good, Answer((RENT, "This is broken."), RENT), good])
    assert [one.score for one in found] == [1.0, None, 1.0]
    assert found[1].failure == "window_not_scored"


@pytest.mark.parametrize(
    ("context", "response", "failure"),
    [((), RENT, "no_context"), (("",), RENT, "no_context"), ((RENT,), " … ", "no_claims")],
)
def test_what_is_not_there_is_undetermined(context, response, failure):
    found = _ground(context, response)
    assert found.score is None
    assert found.failure == failure


def test_a_context_with_too_many_windows_is_undetermined():
    assert _ground(["Dogs bark. " * 20_000], RENT).failure == "context_too_long"


@given(st.permutations([RENT, BEGAN, "Dogs bark."]))
def test_the_order_of_passages_does_not_move_a_score(context):
    assert _ground(context, f"{RENT} {BEGAN}").score == 1.0


def test_all_answers_are_scored_in_one_call():
    scorer = WordScorer()
    detector = ScorerDetector("words", scorer)
    detector.ground([Answer((RENT,), RENT), Answer((BEGAN,), f"{RENT} {BEGAN}")])
    assert len(scorer.asked) == 3
    detector.close()
    assert scorer.closed


@pytest.mark.parametrize(("score", "failure"), [(None, None), (0.5, "x"), (1.5, None)])
def test_a_grounding_has_either_a_score_or_a_failure(score, failure):
    with pytest.raises(ValueError, match="score"):
        Grounding(score, failure)
    with pytest.raises(ValueError, match="score"):
        ClaimGrounding(0, 1, score, failure)

"""What the stream says of an answer, as a detector."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.stream_detector import StreamDetector
from tests.scoring_worker.detectors.doubles import WordScorer

RENT = "The rent was 900 euros."
BEGAN = "The lease began in May."


def _detector() -> StreamDetector:
    return StreamDetector("words", WordScorer())


def test_each_sentence_is_judged_on_what_speaks_of_it_and_the_worst_counts():
    response = f"{RENT} Cats sleep."
    [found] = _detector().ground([Answer((BEGAN, f"Dogs bark. {RENT}"), response)])
    rent, ended = found.claims
    assert rent.score == 1.0
    assert [one.passage for one in rent.passages] == [1]
    assert found.score == ended.score == 0.0
    [span] = found.evidence.unsupported
    assert response[span.start : span.end] == "Cats sleep."


def test_a_claim_that_cannot_be_scored_makes_its_answer_undetermined_and_no_other():
    good = Answer((RENT,), RENT)
    broken = Answer(("This is broken.",), "This is broken.")
    found = _detector().ground([good, broken, good])
    assert [one.score for one in found] == [1.0, None, 1.0]


@pytest.mark.parametrize(
    ("context", "response", "failure"),
    [
        ((), RENT, "no_context"),
        (("",), RENT, "no_context"),
        ((RENT,), " … ", "no_claims"),
        (("x" * 1_000_001,), RENT, "context_too_long"),
    ],
)
def test_what_is_not_there_is_undetermined(context, response, failure):
    [found] = _detector().ground([Answer(context, response)])
    assert found.score is None
    assert found.failure == failure

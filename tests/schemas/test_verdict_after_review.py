"""What decisions lead to downstream: a pure function."""

from __future__ import annotations

import pytest

from safepassage.schemas import Verdict
from safepassage.schemas.reviews_that_count import in_order, standing
from safepassage.schemas.verdict_after_review import next_verdict
from tests.streams.console.cases import review, verdict

STOPPED = verdict(1, score=0.4)
PASSED = verdict(2, score=0.9)


def follow(judged: Verdict, *reviews: object) -> list[Verdict]:
    """Every verdict that a sequence of reviews leads to, each published before the next."""
    published: list[Verdict] = []
    made: list = []
    for one in in_order(reviews):
        made.append(one)
        last = published[-1] if published else None
        if follows := next_verdict(judged, standing(made), one, last):
            published.append(follows)
    return published


def test_a_confirmed_verdict_is_accepted_with_the_reviewer_and_its_whole_trail() -> None:
    made = review(STOPPED)
    (accepted,) = follow(STOPPED, made)
    assert (accepted.decision, accepted.reasons) == ("accepted", ("review_confirmed",))
    assert accepted.review is not None
    assert (accepted.review.reviewer, accepted.review.review_id) == ("Ana", made.id)
    kept = {"alignment", "score", "threshold", "scorer_revision", "extractor", "document"}
    assert accepted.model_dump(include=kept) == STOPPED.model_dump(include=kept)
    assert accepted.extraction_id == STOPPED.extraction_id
    assert accepted.id != STOPPED.id


def test_a_corrected_verdict_carries_the_new_value_its_hypothesis_and_the_old_value() -> None:
    (accepted,) = follow(STOPPED, review(STOPPED, "corrected", value="Ann Leigh"))
    assert accepted.reasons == ("review_corrected",)
    assert accepted.value == "Ann Leigh"
    assert accepted.hypothesis == "Hearing Date: Ann Leigh"
    assert accepted.review is not None
    assert accepted.review.corrects == STOPPED.value


@pytest.mark.parametrize("decision", ["insufficient", "skipped"])
def test_what_stays_in_quarantine_is_not_published_again(decision: str) -> None:
    assert follow(STOPPED, review(STOPPED, decision)) == []


def test_an_undo_puts_the_verdict_back_and_names_what_it_retracts() -> None:
    made = review(STOPPED)
    accepted, retracted = follow(
        STOPPED, made, review(STOPPED, "undone", minute=1, supersedes=made.id)
    )
    assert (retracted.decision, retracted.reasons) == (STOPPED.decision, STOPPED.reasons)
    assert retracted.review is not None
    assert retracted.review.retracts == accepted.id


def test_an_accepted_verdict_that_a_person_refuses_is_retracted() -> None:
    (refused,) = follow(PASSED, review(PASSED, "insufficient"))
    assert (refused.decision, refused.reasons) == ("quarantined", ("review_rejected",))
    assert refused.review is not None
    assert refused.review.retracts == PASSED.id


def test_an_accepted_verdict_that_a_person_corrects_replaces_the_wrong_value() -> None:
    (corrected,) = follow(PASSED, review(PASSED, "corrected", value="B"))
    assert (corrected.decision, corrected.value) == ("accepted", "B")
    assert corrected.review is not None
    assert corrected.review.retracts == PASSED.id


def test_a_second_reviewer_who_agrees_changes_nothing_downstream() -> None:
    assert len(follow(STOPPED, review(STOPPED), review(STOPPED, by="Ben", minute=1))) == 1


def test_a_second_reviewer_who_differs_decides_because_he_is_later() -> None:
    accepted, retracted = follow(
        STOPPED, review(STOPPED), review(STOPPED, "insufficient", by="Ben", minute=1)
    )
    assert retracted.decision == "quarantined"
    assert retracted.review is not None
    assert (retracted.review.reviewer, retracted.review.retracts) == ("Ben", accepted.id)


def test_the_same_decision_gives_the_same_id_so_that_a_repetition_is_no_second_effect() -> None:
    assert follow(STOPPED, review(STOPPED)) == follow(STOPPED, review(STOPPED))


def test_an_undetermined_verdict_that_is_confirmed_is_accepted_without_a_score() -> None:
    unjudged = verdict(3, score=None)
    (accepted,) = follow(unjudged, review(unjudged))
    assert (accepted.decision, accepted.score) == ("accepted", None)

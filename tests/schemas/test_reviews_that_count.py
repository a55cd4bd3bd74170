"""Which decision stands."""

from __future__ import annotations

from datetime import datetime
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Review
from safepassage.schemas.reviews_that_count import case_id, opinions, standing
from tests.streams.console.cases import review, verdict

CASE = verdict(1)


def test_the_latest_decision_of_a_reviewer_replaces_his_earlier_ones() -> None:
    made = [review(CASE), review(CASE, "insufficient", minute=1)]
    assert opinions(made)["Ana"].decision == "insufficient"


def test_of_several_reviewers_the_latest_decision_stands() -> None:
    made = [review(CASE, by="Ben", minute=2), review(CASE, "insufficient", minute=5)]
    stands = standing(made)
    assert stands is not None
    assert stands.reviewer == "Ana"


def test_an_undo_leaves_the_other_reviewers_decision_standing() -> None:
    first, second = review(CASE, by="Ben"), review(CASE, "insufficient", minute=1)
    undo = review(CASE, "undone", minute=2, supersedes=second.id)
    assert standing([first, second, undo]) == first


def test_an_undo_of_a_decision_that_was_replaced_meanwhile_is_void() -> None:
    first, second = review(CASE), review(CASE, "insufficient", minute=1)
    undo = review(CASE, "undone", minute=2, supersedes=first.id)
    assert standing([first, second, undo]) == second


def test_a_skip_is_an_opinion_in_force_that_does_not_stand() -> None:
    skip = review(CASE, "skipped")
    assert standing([skip]) is None
    assert opinions([skip]) == {"Ana": skip}


def test_times_without_a_zone_are_utc() -> None:
    naive = review(CASE).model_copy(update={"decided_at": datetime(2026, 3, 2, 10)})
    assert standing([naive, review(CASE, "insufficient", minute=30)]) == naive


@given(st.randoms())
def test_neither_order_nor_repetition_of_delivery_matters(random: object) -> None:
    made = [
        review(CASE, by="Ben"),
        review(CASE, "insufficient", minute=1),
        review(CASE, "corrected", minute=2, value="x"),
    ]
    delivered: list[Review] = made * 2
    random.shuffle(delivered)  # type: ignore[attr-defined]
    assert standing(delivered) == made[2]
    assert all(opinions(order) == opinions(made) for order in permutations(made))


def test_two_texts_under_one_document_id_are_two_cases() -> None:
    first = verdict(1, text="one text, long enough to be quoted from here", extraction_id="x")
    second = verdict(1, text="another text, long enough to be quoted here", extraction_id="x")
    assert case_id(first) != case_id(second)


def test_a_new_revision_of_the_scorer_judges_the_same_case() -> None:
    again = verdict(1, revision="scorer-2")
    assert again.id != CASE.id
    assert case_id(again) == case_id(CASE)

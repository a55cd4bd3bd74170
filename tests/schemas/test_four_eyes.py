"""A value that the scorer stopped passes once enough different people decided the same."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Review, ReviewerLogin, StandingDecision
from safepassage.schemas.reviews_that_count import opinions, standing, waits
from safepassage.schemas.verdict_after_review import decision_on, next_verdict, verdict_in_place
from tests.streams.console.cases import review, verdict

STOPPED, PASSED = verdict(1), verdict(1, score=0.9)
ISSUER = "https://id.example.org"


def decided(
    decision: str = "supports",
    *,
    by: str = "Ana",
    minute: int = 0,
    approvals: int = 2,
    of=STOPPED,
    value: object = None,
    supersedes: str | None = None,
    proven: bool = True,
) -> Review:
    login = ReviewerLogin(way="oidc", subject=f"sub-{by}", issuer=ISSUER)
    if not proven:
        login = ReviewerLogin(way="shared_token", subject=by)
    made = review(of, decision, by=by, minute=minute, value=value, supersedes=supersedes)
    return made.model_copy(update={"login": login, "approvals": approvals})


def test_one_acceptance_waits_and_the_second_person_makes_it_count() -> None:
    first, second = decided(), decided(by="Ben", minute=1)
    assert standing([first]) is None
    assert standing([first, second]) == second
    decision = decision_on(STOPPED, [first])
    assert decision is not None
    assert decision.decision is None
    assert waits([first])
    assert not waits([first, second])


def test_one_person_under_two_names_is_one_person() -> None:
    again = decided(by="Ana", minute=1).model_copy(update={"reviewer": "Ana the Second"})
    assert standing([decided(), again]) is None


def test_two_people_of_one_name_are_two_people() -> None:
    namesake = decided(by="Ben", minute=1).model_copy(update={"reviewer": "Ana"})
    assert len(opinions([decided(), namesake])) == 2
    assert standing([decided(), namesake]) == namesake


def test_claimed_names_approve_nothing() -> None:
    assert standing([decided(proven=False), decided(by="Ben", minute=1, proven=False)]) is None
    assert standing([decided(), decided(by="Ben", minute=1, proven=False)]) is None


def test_a_claimed_name_cannot_be_a_proven_person() -> None:
    proven = decided()
    typed = decided(by=proven.person.strip(), minute=1, proven=False)
    assert typed.person != proven.person


def test_a_refusal_needs_nobody_else_and_stops_a_single_acceptance() -> None:
    refusal = decided("insufficient", by="Ben", minute=1)
    assert standing([decided(), refusal]) == refusal
    assert standing([refusal, decided(by="Cleo", minute=2)]) == refusal
    two = [decided(by="Cleo", minute=2), decided(by="Dan", minute=3)]
    assert standing([refusal, *two]) == two[1]


def test_two_different_corrections_are_not_the_same_decision() -> None:
    first = decided("corrected", value="x")
    for other in (decided("corrected", by="Ben", minute=1, value="y"), decided(by="Ben", minute=1)):
        stands = standing([first, other])
        assert stands is not None
        assert stands.decision == "insufficient"
    same = decided("corrected", by="Ben", minute=1, value="x")
    assert standing([first, same]) == same


def test_a_correction_refuses_the_value_at_once_and_brings_its_own_with_the_second_person() -> None:
    first = decided("corrected", value="x", of=PASSED)
    decision = decision_on(PASSED, [first])
    assert decision is not None
    assert (decision.decision, decision.value) == ("insufficient", None)
    assert waits([first])
    refused = next_verdict(PASSED, standing([first], PASSED.decision), first, None)
    assert refused is not None
    assert (refused.decision, refused.reasons) == ("quarantined", ("review_rejected",))
    second = decided("corrected", by="Ben", minute=1, value="x", of=PASSED)
    both = [first, second]
    assert not waits(both)
    corrected = next_verdict(PASSED, standing(both, PASSED.decision), second, refused)
    assert corrected is not None
    assert (corrected.decision, corrected.value) == ("accepted", "x")


def test_a_single_acceptance_after_a_refusal_waits_for_a_third_person() -> None:
    made = [decided("insufficient"), decided(by="Ben", minute=1)]
    assert waits(made)
    assert not waits([*made, decided("insufficient", by="Cleo", minute=2)])
    assert not waits([*made, decided(by="Cleo", minute=2)])


def test_an_undo_takes_one_of_the_two_back() -> None:
    first, second = decided(), decided(by="Ben", minute=1)
    undo = decided("undone", by="Ben", minute=2, supersedes=second.id)
    assert standing([first, second, undo]) is None


def test_a_lead_undoes_the_decision_of_another() -> None:
    first = decided(approvals=1)
    undo = decided("undone", by="Lead", minute=1, supersedes=first.id)
    assert standing([first, undo]) is None


def test_the_rule_is_that_of_the_time_of_the_decision() -> None:
    before = decided(approvals=1)
    assert standing([before]) == before


def test_three_approvals_are_three_people() -> None:
    made = [decided(by=name, minute=n, approvals=3) for n, name in enumerate(("A", "B", "C"))]
    assert standing(made[:2]) is None
    assert standing(made) == made[2]


def test_what_one_person_confirmed_while_it_passed_waits_when_a_scorer_stops_it_later() -> None:
    """The worker, which knows only the decision, and the console, which has the reviews."""
    confirmed = decided(of=PASSED)
    assert standing([confirmed]) == confirmed
    decision = decision_on(PASSED, [confirmed])
    assert decision is not None
    assert (decision.decision, decision.approvals, decision.approvers) == ("supports", 2, 1)
    assert verdict_in_place(STOPPED, decision) is None
    assert standing([confirmed], STOPPED.decision) is None
    both = decision_on(PASSED, [confirmed, decided(by="Ben", minute=1, of=PASSED)])
    assert both is not None
    instead = verdict_in_place(STOPPED, both)
    assert instead is not None
    assert instead.decision == "accepted"


PEOPLE = st.sampled_from(["A", "B", "C"])
DECISIONS = st.sampled_from(["supports", "insufficient", "corrected", "skipped"])
MADE = st.lists(st.tuples(PEOPLE, DECISIONS, st.sampled_from([1, 2, 3]), st.booleans()), max_size=6)


def history(made) -> list[Review]:
    return [
        decided(
            decision,
            by=by,
            minute=n,
            approvals=approvals,
            proven=proven,
            value="x" if decision == "corrected" else None,
        )
        for n, (by, decision, approvals, proven) in enumerate(made)
    ]


@given(MADE, st.sampled_from([STOPPED, PASSED]))
def test_worker_and_console_agree_on_every_history(made, judged) -> None:
    """What a worker puts in place of a verdict, knowing the topic ``decisions`` alone, is what the
    console publishes on that verdict, knowing the reviews."""
    reviews = history(made)
    decision = decision_on(judged, reviews)
    if decision is None:
        return
    again = verdict(1, score=0.9 if judged is PASSED else 0.4, revision="scorer-2")
    instead = verdict_in_place(again, StandingDecision.model_validate_json(decision.to_json()))
    told = next_verdict(again, standing(reviews, again.decision), reviews[-1], None)
    assert (instead is None) == (told is None)
    if instead and told:
        assert (instead.decision, instead.value) == (told.decision, told.value)


@given(MADE)
def test_no_worker_lets_pass_on_an_old_decision_what_the_console_would_not(made) -> None:
    """The decision was applied to a verdict that passed; a new scorer stops the same value."""
    reviews = history(made)
    decision = decision_on(PASSED, reviews)
    again = verdict(1, revision="scorer-2")
    instead = verdict_in_place(again, decision) if decision else None
    if instead and instead.decision == "accepted":
        told = next_verdict(again, standing(reviews, again.decision), reviews[-1], None)
        assert told is not None
        assert (instead.decision, instead.value) == (told.decision, told.value)


@given(st.permutations([decided(), decided(by="Ben", minute=1), decided("skipped", by="Cleo")]))
def test_order_of_delivery_does_not_matter(delivered) -> None:
    stands = standing(delivered)
    assert stands is not None
    assert stands.reviewer == "Ben"


def test_every_order_counts_the_same_people() -> None:
    made = [decided(), decided(by="Ben", minute=1), decided("insufficient", by="Cleo", minute=2)]
    assert {standing(order).reviewer for order in permutations(made)} == {"Cleo"}


@pytest.mark.parametrize("field", ["login", "approvals", "double_blind"])
def test_a_review_from_before_leaves_no_trace_of_what_came_later(field: str) -> None:
    old = review(STOPPED)
    assert field not in old.model_dump()
    assert Review.model_validate_json(old.to_json()) == old

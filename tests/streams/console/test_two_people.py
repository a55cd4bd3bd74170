"""Cases that two people decide: four eyes, and double-blind reviews of a share."""

from __future__ import annotations

from typing import Any

import pytest

from safepassage.schemas import Review, ReviewerLogin, StandingDecision, Verdict
from safepassage.schemas.memory import LikeCase, MemoryTrail, ReviewerVote
from safepassage.schemas.reviews_that_count import case_id
from safepassage.streams.console.index.case_filter import CaseFilter, double_lot
from safepassage.streams.console.index.measures import agreements, open_cases
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.login.modes import login_of
from safepassage.streams.console.review_desk import CaseChanged, ReviewDesk
from safepassage.streams.console.session import Session
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DECISIONS, REVIEWS
from tests.streams.doubles import FakePublisher

from .cases import conflicting, verdict
from .test_review_desk import answer
from .web.test_app import Console, opened

QUEUE = CaseFilter()
FOUR_EYES = {"console_approvals": 2}
DOUBLE = {"console_double_share": 1.0}


def who(name: str, role: Any = "reviewer") -> Session:
    login = ReviewerLogin(way="oidc", subject=f"sub-{name}", issuer="https://id.example.org")
    return Session(f"session-{name}", name, 0, role, login)


ANA, BEN, CLEO = who("Ana"), who("Ben"), who("Cleo")


def desk_with(publisher: FakePublisher, *verdicts: Verdict, **changes: Any) -> ReviewDesk:
    settings = Settings(console_grace_seconds=0, leakage_sample=0, **changes)
    desk = ReviewDesk(CaseStore(0), publisher, settings)
    for at, one in enumerate(verdicts):
        desk.note_verdict(one, at)
    desk.ready = True
    return desk


async def decide(desk: ReviewDesk, session: Session, decision: str = "supports", **more: Any):
    case = await desk.next_case(session, QUEUE)
    assert case is not None
    seen = case.standing.id if case.standing else ""
    return await desk.decide(session, answer(case.id, decision, seen=seen, **more))


async def test_an_acceptance_waits_for_a_second_person_and_then_counts() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), **FOUR_EYES)
    first = await decide(desk, ANA)
    await desk.publish_due()
    assert publisher.to(ACCEPTED) == []
    assert first.approvals == 2
    assert all(decision.decision is None for decision in publisher.to(DECISIONS))
    assert open_cases(desk.store) == {"queue": 0, "checks": 0, "double": 1}
    assert await desk.next_case(ANA, QUEUE) is None, "nobody is the second person to himself"
    await decide(desk, BEN)
    await desk.publish_due()
    (accepted,) = publisher.to(ACCEPTED)
    assert accepted.reasons == ("review_confirmed",)
    assert open_cases(desk.store)["double"] == 0
    decision = publisher.to(DECISIONS)[-1]
    assert (decision.decision, decision.approvals, decision.approvers) == ("supports", 2, 2)


async def test_a_refusal_needs_nobody_else() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), **FOUR_EYES)
    await decide(desk, ANA, "insufficient")
    assert open_cases(desk.store) == {"queue": 0, "checks": 0, "double": 0}
    assert publisher.to(REVIEWS)[0].decision == "insufficient"


async def test_an_undo_after_the_second_approval_takes_the_value_back() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), **FOUR_EYES)
    first = await decide(desk, ANA)
    await decide(desk, BEN)
    await desk.publish_due()
    await desk.undo(ANA, first.id)
    await desk.publish_due()
    retraction = publisher.published[-2].event
    assert isinstance(retraction, Verdict)
    assert retraction.decision == "quarantined"
    assert open_cases(desk.store)["double"] == 1
    assert await desk.next_case(CLEO, QUEUE) is not None


async def test_the_next_process_waits_as_well() -> None:
    """What a restart reads from the topics is all that the rule needs, whatever is set by then."""
    publisher = FakePublisher()
    await decide(desk_with(publisher, verdict(1), **FOUR_EYES), ANA)
    desk = desk_with(publisher)
    for out in list(publisher.published):
        if isinstance(out.event, Review):
            desk.note_review(out.event)
        elif isinstance(out.event, StandingDecision):
            desk.note_decision(out.event)
    desk.note_verdict(verdict(1), 1)
    await desk.publish_due()
    assert publisher.to(ACCEPTED) == []
    assert open_cases(desk.store)["double"] == 1


async def test_what_one_person_confirmed_waits_again_when_a_new_scorer_stops_it() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1, score=0.9), **FOUR_EYES)
    case = case_id(verdict(1))
    desk.store.keep(case, verdict(1, score=0.9))
    await desk.decide(ANA, answer(case))
    assert open_cases(desk.store)["double"] == 0
    desk.note_verdict(verdict(1, revision="scorer-2"), 9)
    await desk.publish_due()
    assert publisher.to(ACCEPTED) == []
    assert open_cases(desk.store)["double"] == 1
    await decide(desk, BEN)
    await desk.publish_due()
    assert len(publisher.to(ACCEPTED)) == 1


async def test_rivals_are_refused_once_the_acceptance_counts() -> None:
    publisher = FakePublisher()
    first, second = conflicting("1 May", "2 May")
    desk = desk_with(publisher, first, second, **FOUR_EYES)
    chosen = answer(case_id(first))
    await desk.decide(ANA, chosen)
    assert [review.decision for review in publisher.to(REVIEWS)] == ["supports"]
    await desk.decide(BEN, chosen)
    assert [r.decision for r in publisher.to(REVIEWS)[1:]] == ["insufficient", "supports"]


@pytest.mark.parametrize("who_undoes", [ANA, BEN])
async def test_rivals_are_open_again_once_an_approval_is_taken_back(who_undoes: Session) -> None:
    publisher = FakePublisher()
    first, second = conflicting("1 May", "2 May")
    desk = desk_with(publisher, first, second, **FOUR_EYES)
    made = {}
    for session in (ANA, BEN):
        made[session.id] = await desk.decide(session, answer(case_id(first)))
    await desk.undo(who_undoes, made[who_undoes.id].id)
    rival = desk.store.case(case_id(second))
    assert rival is not None
    assert rival.standing is None
    assert open_cases(desk.store) == {"queue": 1, "checks": 0, "double": 1}


async def test_a_drawn_case_goes_to_a_second_reviewer_and_the_draw_is_on_both_reviews() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), console_double_share=0.999_999)
    first = await decide(desk, ANA)
    assert await desk.next_case(ANA, QUEUE) is None
    second = await decide(desk, BEN, "insufficient")
    assert (first.double_blind, second.double_blind) == (0.999_999, 0.999_999)
    assert await desk.next_case(CLEO, QUEUE) is None, "two are enough"
    (every, judge) = agreements(desk.store)
    assert (every.cases, every.agree, judge.entity_type) == (1, 0, verdict(1).entity_type)


async def test_the_first_decision_takes_effect_without_the_second() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), **DOUBLE)
    await decide(desk, ANA)
    await desk.publish_due()
    assert len(publisher.to(ACCEPTED)) == 1


async def test_the_share_is_drawn_by_the_case_and_outlives_a_restart() -> None:
    desk = desk_with(FakePublisher(), *(verdict(n) for n in range(60)), console_double_share=0.3)
    drawn = set()
    for _ in range(60):
        case = await desk.next_case(ANA, CaseFilter(pool="stopped"))
        assert case is not None
        made = await desk.decide(ANA, answer(case.id))
        if made.double_blind:
            assert made.double_blind == 0.3
            drawn.add(case.id)
    assert drawn == {
        case_id(verdict(n)) for n in range(60) if double_lot(case_id(verdict(n))) < 0.3
    }
    assert 8 <= len(drawn) <= 30


async def test_one_who_could_have_seen_the_other_is_not_blind() -> None:
    publisher = FakePublisher()
    desk = desk_with(publisher, verdict(1), **DOUBLE)
    first = await decide(desk, ANA)
    second = await decide(desk, BEN)
    case = case_id(verdict(1))
    await desk.undo(ANA, first.id)
    again = await desk.decide(ANA, answer(case, "insufficient", seen=second.id))
    assert again.double_blind is None
    third = await desk.decide(CLEO, answer(case, seen=again.id))
    assert third.double_blind is None


async def test_a_conflict_says_nothing_of_what_the_second_reviewer_is_not_to_see() -> None:
    desk = desk_with(FakePublisher(), verdict(1), **DOUBLE)
    await decide(desk, ANA, "insufficient")
    with pytest.raises(CaseChanged) as refusal:
        await desk.decide(BEN, answer(case_id(verdict(1))))
    assert "Ana" not in str(refusal.value)
    assert "insufficient" not in str(refusal.value)


@pytest.mark.parametrize("address", ["/review", "/cases/{}", "/cases/{}?pool=document", "second"])
def test_no_page_shows_the_second_reviewer_what_the_first_said(address: str) -> None:
    with opened(Console(**DOUBLE)) as console:
        case = console.add(verdict(1), "On the day 1 the panel sat.")
        console.login("Ana")
        console.decide(console.page(), decision="insufficient:denied", comment="It says no.")
        console.login("Ben")
        path = address.format(case) if address != "second" else "/review?pool=second"
        page = console.page(path)
        assert f'data-case="{case}"' in page
        for told in ("Ana", "denied</code>", "It says no.", "Decided so far"):
            assert told not in page
        assert console.decide(page, decision="supports").status_code == 303
        assert "Decided so far" in console.page(f"/cases/{case}")


def test_the_second_reviewer_of_a_rival_does_not_see_its_decision_either() -> None:
    with opened(Console(**DOUBLE)) as console:
        first, second = conflicting("1 May", "2 May")
        for one in (first, second):
            console.add(one, "a text")
        console.login("Ana")
        page = console.page(f"/cases/{case_id(first)}")
        console.decide(page, decision="insufficient")
        console.login("Ben")
        page = console.page(f"/cases/{case_id(second)}")
        assert "2 May" in page
        rivals = page.partition('id="rivals"')[2].partition("</section>")[0]
        assert "insufficient" not in rivals


def test_the_page_says_what_the_case_waits_for_and_leads_see_the_agreement() -> None:
    with opened(Console(**DOUBLE)) as console:
        case = console.add(verdict(1), "On the day 1 the panel sat.")
        console.login("Ana")
        console.decide(console.page(), decision="supports")
        assert "picked this case for a second reviewer" in console.page(f"/cases/{case}")
        console.page("/review")  # which closes the case
        console.login("Ben")
        console.decide(console.page("/review"), decision="insufficient")
        page = console.page("/agreement")
        assert verdict(1).entity_type in page
        assert "100.0% of the cases for two reviewers" in page


def test_cases_alike_that_the_reviewer_is_to_judge_say_nothing() -> None:
    with opened(Console(**DOUBLE)) as console:
        asked = console.add(verdict(1), "On the day 1 the panel sat.")
        memory = MemoryTrail(
            snapshot="0" * 16,
            shift=0.1,
            cases=(
                LikeCase(
                    case_id=asked,
                    likeness=0.9,
                    votes=(ReviewerVote(reviewer="Ana", supported=False),),
                ),
            ),
        )
        other = console.add(verdict(2).model_copy(update={"memory": memory}), "a text")
        console.login("Ana")
        console.decide(console.page(f"/cases/{asked}"), decision="insufficient")
        assert "rejected by Ana" in console.page(f"/cases/{other}")
        console.page("/review?pool=stopped")
        console.login("Ben")
        assert "rejected by Ana" not in console.page(f"/cases/{other}")


def test_with_the_shared_token_the_review_says_that_the_name_is_claimed() -> None:
    with opened(Console()) as console:
        case = console.add(verdict(1), "On the day 1 the panel sat.")
        console.login("Ana")
        console.decide(console.page(), decision="insufficient")
        (review,) = console.publisher.to(REVIEWS)
        assert review.login == ReviewerLogin(way="shared_token", subject="Ana")
        assert not review.login.proven
        assert review.approvals == 1
        assert "name as typed" in console.page(f"/cases/{case}")


def test_four_eyes_need_proven_names() -> None:
    with pytest.raises(Exception, match="APPROVALS needs names that are proven"):
        login_of(Settings(console_approvals=2))

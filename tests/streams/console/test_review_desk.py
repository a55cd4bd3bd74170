"""The reviewers' desk: leases, saving, undo, and what is published when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from types import SimpleNamespace

import pytest

from safepassage.schemas import Review, StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import verdict_in_place
from safepassage.scoring_worker.risk import draws
from safepassage.scoring_worker.risk.draws import FLOOR
from safepassage.streams.console import review_desk as desk_module
from safepassage.streams.console import reviewed_verdicts
from safepassage.streams.console.index.case_filter import CaseFilter
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.review_desk import (
    Answer,
    CaseChanged,
    CaseGone,
    CaseTaken,
    NotSaved,
    ReviewDesk,
)
from safepassage.streams.console.session import Session
from safepassage.streams.kafka.publisher import PublishFailed, WriteRefused
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DECISIONS, QUARANTINE, REVIEWS, Topic
from tests.streams.doubles import FakePublisher

from .cases import conflicting, review, verdict

ANA = Session("session-a", "Ana", 0)
BEN = Session("session-b", "Ben", 0)
STOPPED = CaseFilter(pool="stopped")


def new_desk(
    publisher: FakePublisher, *verdicts: Verdict, grace: float = 0, sample: float = 0
) -> ReviewDesk:
    settings = Settings(console_grace_seconds=grace, leakage_sample=sample)
    desk = ReviewDesk(CaseStore(sample), publisher, settings)
    for at, one in enumerate(verdicts):
        desk.note_verdict(one, at)
    desk.ready = True
    return desk


def answer(
    case_id: str, decision: str = "supports", value: object = None, seen: str = ""
) -> Answer:
    return Answer(case_id, decision, value, seen, time.time() - 5)  # type: ignore[arg-type]


def restarted(publisher: FakePublisher, *verdicts: Verdict, grace: float = 0) -> ReviewDesk:
    """A new process that reads what the first one left on the topics."""
    desk = new_desk(publisher, grace=grace)
    for out in publisher.published:
        if isinstance(out.event, Review):
            desk.note_review(out.event)
        elif isinstance(out.event, StandingDecision):
            desk.note_decision(out.event)
    published = [out.event for out in publisher.published if isinstance(out.event, Verdict)]
    for at, one in enumerate([*verdicts, *published]):
        desk.note_verdict(one, at)
    return desk


async def test_two_reviewers_never_have_the_same_case() -> None:
    desk = new_desk(FakePublisher(), verdict(1), verdict(2))
    ana, ben = await desk.next_case(ANA, STOPPED), await desk.next_case(BEN, STOPPED)
    assert ana is not None
    assert ben is not None
    assert ana.id != ben.id
    assert await desk.next_case(Session("session-c", "Cleo", 0), STOPPED) is None


async def test_a_reload_shows_the_same_case_and_another_filter_another_one() -> None:
    desk = new_desk(FakePublisher(), verdict(1), verdict(2))
    first = await desk.next_case(ANA, STOPPED)
    assert first == await desk.next_case(ANA, STOPPED)
    assert first is not None
    other = {"Judge", "Hearing Date"} - {first.verdict.entity_type}
    second = await desk.next_case(ANA, CaseFilter(pool="stopped", entity_type=other.pop()))
    assert second is not None
    assert second.id != first.id
    assert await desk.next_case(BEN, STOPPED) == first


async def test_a_decision_is_on_the_topic_before_the_reviewer_hears_of_it() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    assert publisher.to(REVIEWS) == [saved]
    assert (saved.reviewer, saved.decision, saved.verdict) == ("Ana", "supports", verdict(1))
    assert 4 < saved.seconds < 60
    assert await desk.next_case(BEN, STOPPED) is None


@pytest.mark.parametrize(
    "publisher", [FakePublisher(broken=True), FakePublisher(refuse=lambda _: "TooLarge")]
)
async def test_a_decision_that_kafka_did_not_take_is_not_saved_and_the_case_stays(
    publisher: FakePublisher,
) -> None:
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    with pytest.raises(NotSaved):
        await desk.decide(ANA, answer(case.id))
    assert await desk.next_case(ANA, STOPPED) == case


class ReaderOnly(FakePublisher):
    """The publisher of a user who may not write to ``reviews``."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        raise WriteRefused("topic reviews: this user may not Write it")


async def test_a_console_that_may_not_write_decisions_says_so_and_does_not_ask_again() -> None:
    desk = new_desk(ReaderOnly(), verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    with pytest.raises(NotSaved, match="topic reviews: this user may not Write it") as told:
        await desk.decide(ANA, answer(case.id))
    assert "again" not in str(told.value)
    assert isinstance(desk.refused, WriteRefused)


class SlowPublisher(FakePublisher):
    """A broker that answers after the reviewer's patience is over."""

    released: asyncio.Event
    answered: asyncio.Event

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        await self.released.wait()
        refused = await super().publish(outgoing)
        self.answered.set()
        return refused


async def test_a_decision_that_arrives_late_comes_back_over_the_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desk_module, "SAVE_PATIENCE_SECONDS", 0.01)
    publisher = SlowPublisher()
    publisher.released, publisher.answered = asyncio.Event(), asyncio.Event()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    with pytest.raises(NotSaved, match="in time"):
        await desk.decide(ANA, answer(case.id))
    publisher.released.set()
    await publisher.answered.wait()
    desk.note_review(publisher.to(REVIEWS)[0])
    assert await desk.next_case(ANA, STOPPED) is None


async def test_a_case_that_another_has_open_cannot_be_decided() -> None:
    desk = new_desk(FakePublisher(), verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    with pytest.raises(CaseTaken, match="Ana"):
        await desk.decide(BEN, answer(case.id))


async def test_of_two_decisions_at_the_same_moment_one_is_saved() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    results = await asyncio.gather(
        desk.decide(ANA, answer(case.id)),
        desk.decide(ANA, answer(case.id, "insufficient")),
        return_exceptions=True,
    )
    assert [type(result) for result in results] in ([Review, CaseTaken], [Review, CaseChanged])
    assert len(publisher.to(REVIEWS)) == 1


async def test_a_case_decided_since_the_page_was_shown_is_not_decided_over() -> None:
    desk = new_desk(FakePublisher(), verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.leases.release(ANA.id)
    await desk.decide(BEN, answer(case.id, "insufficient"))
    with pytest.raises(CaseChanged, match="Ben decided"):
        await desk.decide(ANA, answer(case.id))


async def test_a_second_opinion_says_that_it_knew_of_the_first() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    first = await desk.decide(ANA, answer(case.id))
    shown = await desk.next_case(BEN, CaseFilter(pool="second"))
    assert shown is not None
    assert shown.standing == first
    await desk.decide(BEN, answer(case.id, "insufficient", seen=first.id))
    assert [r.reviewer for r in publisher.to(REVIEWS)] == ["Ana", "Ben"]


async def test_an_unknown_case_is_gone() -> None:
    with pytest.raises(CaseGone):
        await new_desk(FakePublisher()).decide(ANA, answer("no-such-case"))


async def test_a_confirmed_verdict_is_published_once_the_grace_is_over() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    await desk.publish_due()
    (accepted,) = publisher.to(ACCEPTED)
    assert accepted.review.review_id == saved.id


async def test_within_the_grace_nothing_is_published_and_an_undo_leaves_no_trace() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1), grace=3600)
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    await desk.undo(ANA, saved.id)
    later = restarted(publisher, verdict(1), grace=0)
    await later.publish_due()
    assert publisher.to(ACCEPTED) == publisher.to(QUARANTINE) == []
    assert await later.next_case(ANA, STOPPED) is not None


async def test_an_undo_after_the_grace_retracts_what_was_published() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    await desk.undo(ANA, saved.id)
    await desk.publish_due()
    (accepted,), (retracted,) = publisher.to(ACCEPTED), publisher.to(QUARANTINE)
    assert retracted.review.retracts == accepted.id
    assert (retracted.decision, retracted.reasons) == ("quarantined", ("unsupported",))


async def test_only_ones_own_latest_decision_can_be_undone_and_only_once() -> None:
    desk = new_desk(FakePublisher(), verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    with pytest.raises(CaseGone):
        await desk.undo(BEN, saved.id)
    await desk.undo(ANA, saved.id)
    with pytest.raises(CaseChanged):
        await desk.undo(ANA, saved.id)


async def test_a_process_killed_before_the_outcome_publishes_it_in_its_next_life() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1), grace=3600)
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id, "corrected", "Ann Leigh"))
    later = restarted(publisher, verdict(1))
    await later.publish_due()
    (accepted,) = publisher.to(ACCEPTED)
    assert accepted.value == "Ann Leigh"


async def test_a_restart_publishes_nothing_again() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    await restarted(publisher, verdict(1)).publish_due()
    assert len(publisher.to(ACCEPTED)) == 1


async def test_an_outcome_that_kafka_does_not_take_stays_due() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id))
    publisher.broken = True
    with pytest.raises(PublishFailed):
        await desk.publish_due()
    publisher.broken = False
    await desk.publish_due()
    assert len(publisher.to(ACCEPTED)) == 1


async def test_a_refused_verdict_is_not_published_and_its_decision_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither in this process nor in the next, and it holds up no other case."""
    big, small = verdict(1), verdict(3)
    publisher = FakePublisher(refuse=_too_large(ACCEPTED, big))
    desk = new_desk(publisher, big, small)
    saved = [await desk.decide(ANA, answer(case_id(one))) for one in (big, small)]
    await desk.publish_due()
    assert [out.doc_id for out in publisher.to(ACCEPTED)] == [small.doc_id]
    assert [out.doc_id for out in publisher.to(DECISIONS)] == [small.doc_id]
    assert [desk.refusal(review) for review in saved] == ["TooLarge", None]
    again = restarted(publisher, big, small)
    await again.publish_due()
    assert again.refusal(saved[0]) == "TooLarge"
    publisher.refuse = lambda _: None
    await again.publish_due()
    assert len(publisher.to(ACCEPTED)) == 1, "a refused record is tried again after a while"
    _pass(monkeypatch, 61)
    await again.publish_due()
    assert [out.doc_id for out in publisher.to(ACCEPTED)] == [small.doc_id, big.doc_id]
    assert [out.doc_id for out in publisher.to(DECISIONS)] == [small.doc_id, big.doc_id]
    assert again.refusal(saved[0]) is None


async def test_a_workers_late_word_on_an_earlier_decision_is_corrected() -> None:
    """It did not know yet that the decision was taken back, and spoke after the undo was out."""
    publisher, judged = FakePublisher(), verdict(1)
    desk = new_desk(publisher, judged)
    case = case_id(judged)
    corrected = await desk.decide(ANA, answer(case, "corrected", "another"))
    await desk.publish_due()
    await desk.undo(ANA, corrected.id)
    await desk.publish_due()
    earlier = publisher.to(DECISIONS)[0]
    late = verdict_in_place(judged, earlier)
    assert late
    outcomes = [out for out in publisher.to(QUARANTINE) if out.review]
    for _ in range(2):  # at-least-once: it may come again
        desk.note_verdict(late, int(time.time() * 1000))
        await desk.publish_due()
    now = [out for out in publisher.to(QUARANTINE) if out.review]
    assert len(now) > len(outcomes), "downstream would hold what was undone"
    assert now[-1].review.retracts == late.id
    assert now[-1].id not in [out.id for out in outcomes], "a consumer reads each id once"
    assert len({out.to_json() for out in now if out.id == now[-1].id}) == 1


def _pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Some time passes, or the clock is set back."""
    clock = SimpleNamespace(time=lambda: time.time() + seconds)
    monkeypatch.setattr(reviewed_verdicts, "time", clock)


async def test_a_clock_that_was_set_back_makes_no_decision_wait_for_longer_than_the_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1), grace=10)
    _pass(monkeypatch, -3_600)
    await desk.decide(ANA, answer(case_id(verdict(1))))
    await desk.publish_due()
    assert publisher.to(DECISIONS) == []
    _pass(monkeypatch, -3_589)
    await desk.publish_due()
    assert len(publisher.to(DECISIONS)) == 1


async def test_a_refused_note_is_tried_again_without_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher = FakePublisher(refuse=_too_large(DECISIONS, verdict(1)))
    desk = new_desk(publisher, verdict(1))
    await desk.decide(ANA, answer(case_id(verdict(1))))
    await desk.publish_due()
    publisher.refuse = lambda _: None
    _pass(monkeypatch, 61)
    await desk.publish_due()
    assert (len(publisher.to(ACCEPTED)), len(publisher.to(DECISIONS))) == (1, 1)


async def test_an_undo_of_a_decision_whose_verdict_is_refused_leaves_no_trace() -> None:
    publisher = FakePublisher(refuse=_too_large(ACCEPTED, verdict(1)))
    desk = new_desk(publisher, verdict(1))
    saved = await desk.decide(ANA, answer(case_id(verdict(1))))
    await desk.publish_due()
    await desk.undo(ANA, saved.id)
    await desk.publish_due()
    assert desk.refusal(saved) is None
    assert publisher.to(ACCEPTED) + publisher.to(QUARANTINE) == []


def _too_large(topic: Topic, of: Verdict) -> Callable[[Outgoing], str | None]:
    def refuse(out: Outgoing) -> str | None:
        return "TooLarge" if out.topic is topic and out.key == key[topic] else None

    key = {ACCEPTED: of.doc_id, DECISIONS: case_id(of)}
    return refuse


async def test_every_second_case_is_a_spot_check_at_first_then_every_tenth(monkeypatch) -> None:
    monkeypatch.setattr(draws, "FIRST_CHECKS", 4)
    stopped = [verdict(n) for n in range(40)]
    accepted = [verdict(n, score=0.9) for n in range(100, 110)]
    desk = new_desk(FakePublisher(), *stopped, *accepted, sample=1)
    checks = []
    for _ in range(30):
        case = await desk.next_case(ANA, CaseFilter())
        assert case is not None
        checks.append(case.sampled)
        assert await desk.next_case(ANA, CaseFilter()) == case
        await desk.decide(ANA, answer(case.id))
    assert [n for n, check in enumerate(checks) if check] == [1, 3, 5, 7, 9, 19, 29]


async def test_no_case_is_a_spot_check_where_they_are_switched_off() -> None:
    desk = new_desk(FakePublisher(), verdict(1), verdict(2), verdict(3, score=0.9))
    for _ in range(2):
        case = await desk.next_case(ANA, CaseFilter())
        assert case is not None
        assert not case.sampled
        await desk.decide(ANA, answer(case.id))
    assert await desk.next_case(ANA, CaseFilter()) is None


async def test_a_refused_spot_check_is_retracted_from_what_was_accepted() -> None:
    publisher = FakePublisher()
    passed = verdict(1, score=0.9)
    desk = new_desk(publisher, passed, sample=1)
    case = await desk.next_case(ANA, CaseFilter())
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id, "insufficient"))
    assert saved.sampled
    await desk.publish_due()
    (retracted,) = publisher.to(QUARANTINE)
    assert retracted.review.retracts == passed.id


async def test_decisions_on_verdicts_that_passed_their_retention_are_inert() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher)
    desk.note_review(review(verdict(1)))
    desk.note_review(review(verdict(2), "corrected", value="Ann Leigh", minute=1))
    await desk.publish_due()
    assert publisher.to(ACCEPTED) == []
    assert [decision.decision for decision in publisher.to(DECISIONS)] == ["supports", "corrected"]


async def test_an_acceptance_that_expired_before_its_verdict_is_not_published_again() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    (accepted,) = publisher.to(ACCEPTED)
    publisher.published = [out for out in publisher.published if out.event is not accepted]
    await restarted(publisher, verdict(1)).publish_due()
    assert publisher.to(ACCEPTED) == []


async def test_an_undo_of_a_decision_that_expired_is_still_carried_out() -> None:
    publisher = FakePublisher()
    desk = new_desk(publisher, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    later = restarted(publisher, verdict(1))
    await later.undo(ANA, saved.id)
    await later.publish_due()
    assert publisher.to(DECISIONS)[-1].decision is None
    assert [v.review.retracts for v in publisher.to(QUARANTINE)] == [publisher.to(ACCEPTED)[0].id]


async def test_a_decision_is_noted_only_after_its_verdict_is_out() -> None:
    refused = FakePublisher(refuse=lambda out: None)
    desk = new_desk(refused, verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id))
    await desk.publish_due()
    topics = [out.topic for out in refused.published]
    assert topics == [REVIEWS, ACCEPTED, DECISIONS]


@pytest.mark.parametrize("decision", ["insufficient", "supports", "corrected"])
async def test_a_case_that_a_scorer_judges_again_is_held_to_the_decision_and_not_queued(
    decision: str,
) -> None:
    publisher = FakePublisher()
    first, again = (verdict(1, score=0.4), verdict(1, score=0.9, revision="scorer-2"))
    if decision == "supports":
        first, again = again, first
    desk = new_desk(publisher, first, sample=1)
    case = await desk.next_case(ANA, CaseFilter())
    assert case is not None
    value = "Ann Leigh" if decision == "corrected" else None
    await desk.decide(ANA, answer(case.id, decision, value))
    await desk.publish_due()
    before = len(publisher.to(ACCEPTED) + publisher.to(QUARANTINE))
    desk.note_verdict(again, 500)
    await desk.publish_due()
    assert await desk.next_case(BEN, CaseFilter()) is None
    held = (publisher.to(ACCEPTED) + publisher.to(QUARANTINE))[before:] or publisher.to(ACCEPTED)
    wanted = "quarantined" if decision == "insufficient" else "accepted"
    assert held[-1].decision == wanted
    assert held[-1].review.judged == again.id
    retracted = again.id if again.decision == "accepted" else None
    assert held[-1].review.retracts == retracted
    count = len(publisher.published)
    await restarted(publisher, first, again).publish_due()
    assert len(publisher.published) == count


async def test_a_case_comes_back_where_its_value_changed() -> None:
    desk = new_desk(FakePublisher(), verdict(1))
    case = await desk.next_case(ANA, STOPPED)
    assert case is not None
    await desk.decide(ANA, answer(case.id, "insufficient"))
    desk.note_verdict(verdict(1, value="Ann Lea"), 500)
    back = await desk.next_case(BEN, STOPPED)
    assert back is not None
    assert back.verdict.value == "Ann Lea"


async def test_accepting_one_of_two_contradicting_values_refuses_the_other_before_it() -> None:
    publisher = FakePublisher()
    one, other = conflicting("Ann", "Bob")
    desk = new_desk(publisher, one, other)
    saved = await desk.decide(ANA, answer(case_id(one)))
    assert [(r.verdict.value, r.decision) for r in publisher.to(REVIEWS)] == [
        ("Bob", "insufficient"),
        ("Ann", "supports"),
    ]
    await desk.publish_due()
    assert [v.value for v in publisher.to(ACCEPTED)] == ["Ann"]
    later = restarted(publisher, one, other)
    assert [later.store.case(case_id(v)).standing.decision for v in (one, other)] == [
        "supports",
        "insufficient",
    ]
    await desk.undo(ANA, saved.id)
    assert [r.decision for r in publisher.to(REVIEWS)[2:]] == ["undone", "undone"]
    assert desk.store.case(case_id(other)).standing is None


async def test_a_broker_that_takes_only_some_never_leaves_a_second_accepted_value() -> None:
    publisher = FakePublisher(
        refuse=lambda out: "TooLarge" if out.event.decision == "supports" else None
    )
    one, other = conflicting("Ann", "Bob")
    desk = new_desk(publisher, one, other)
    with pytest.raises(NotSaved):
        await desk.decide(ANA, answer(case_id(one)))
    assert [r.decision for r in publisher.to(REVIEWS)] == ["insufficient"]
    assert desk.store.case(case_id(one)).standing is None


async def test_two_contradicting_values_are_never_both_accepted() -> None:
    one, other, third = conflicting("Ann", "Bob", "Eve")
    desk = new_desk(FakePublisher(), one, other, third)
    desk.note_review(review(other, by="Ben"))
    with pytest.raises(CaseChanged, match="Ben accepted another value"):
        await desk.decide(ANA, answer(case_id(one)))
    refused = await desk.decide(ANA, answer(case_id(third), "insufficient"))
    assert refused.decision == "insufficient"
    assert desk.store.case(case_id(one)).standing is None


async def test_a_value_that_another_has_open_is_not_refused_under_his_hands() -> None:
    one, other = conflicting("Ann", "Bob")
    desk = new_desk(FakePublisher(), one, other)
    await desk.open_case(BEN, case_id(other))
    with pytest.raises(CaseTaken):
        await desk.decide(ANA, answer(case_id(one)))


async def test_a_correction_to_the_other_value_refuses_nothing() -> None:
    publisher = FakePublisher()
    one, other = conflicting("Ann", "Bob")
    desk = new_desk(publisher, one, other)
    await desk.decide(ANA, answer(case_id(one), "corrected", "Bob"))
    assert [r.decision for r in publisher.to(REVIEWS)] == ["corrected"]


async def test_a_draw_and_its_probability_stand_on_the_review() -> None:
    desk = new_desk(FakePublisher(), *[verdict(n, score=n / 100) for n in range(40)])
    weights = []
    for judged in range(40):
        case = await desk.next_case(ANA, CaseFilter())
        assert case is not None
        saved = await desk.decide(ANA, answer(case.id))
        assert saved.draw is not None
        assert (saved.draw.among, saved.draw.before) == (40 - judged, judged)
        weights.append(saved.draw.weight)
    assert max(weights) <= 1 / FLOOR + 1e-9
    assert min(weights) < 0.99, "what teaches most is drawn more often"


async def test_spot_checks_say_how_many_accepted_ones_each_stands_for() -> None:
    passed = [verdict(n, score=0.9) for n in range(240)]
    desk = new_desk(FakePublisher(), *passed, sample=0.02)
    assert 0.5 < desk.store.sample_rate < 1.0
    waiting = desk.store.count(CaseFilter(pool="checks"), "Ana")
    case = await desk.next_case(ANA, CaseFilter(pool="checks"))
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    assert saved.draw is not None
    assert (saved.draw.among, saved.draw.rate) == (waiting, desk.store.sample_rate)
    assert saved.draw.weight == pytest.approx(1.0)


async def test_what_a_person_chose_is_no_draw() -> None:
    desk = new_desk(FakePublisher(), *[verdict(n) for n in range(5)])
    chosen = desk.store.cases(STOPPED, "Ana", 5)[3]
    await desk.open_case(ANA, chosen)
    assert (await desk.decide(ANA, answer(chosen))).draw is None
    oldest = await desk.next_case(ANA, CaseFilter(order="oldest"))
    assert oldest is not None
    assert (await desk.decide(ANA, answer(oldest.id))).draw is None
    typed = await desk.next_case(ANA, CaseFilter(entity_type="Judge"))
    assert typed is not None
    assert (await desk.decide(ANA, answer(typed.id))).draw is None


async def test_a_decision_taken_back_and_made_again_keeps_its_draw() -> None:
    desk = new_desk(FakePublisher(), verdict(1))
    case = await desk.next_case(ANA, CaseFilter())
    assert case is not None
    saved = await desk.decide(ANA, answer(case.id))
    await desk.undo(ANA, saved.id)
    await desk.open_case(ANA, case.id)
    again = await desk.decide(ANA, answer(case.id, "insufficient"))
    assert again.draw == saved.draw is not None


async def test_accepted_values_of_a_document_are_labelled_on_purpose() -> None:
    """The index keeps no copy of what was accepted: it is read where it stands."""
    passed = [verdict(n, score=0.9, doc_id="doc", extraction_id=f"e{n}") for n in range(3)]
    stopped = verdict(9, doc_id="doc")
    asked = []

    async def read(place: str) -> Verdict | None:
        asked.append(place)
        return passed[int(place.partition(":")[2])]

    settings = Settings(console_grace_seconds=0, leakage_sample=0)
    desk = ReviewDesk(CaseStore(0), FakePublisher(), settings, read_accepted=read)
    for at, one in enumerate(passed):
        desk.note_verdict(one, at, f"0:{at}")
    desk.note_verdict(stopped, 5, "0:5")
    desk.ready = True
    wanted = CaseFilter(pool="document", document="doc")
    assert desk.store.count(wanted, "Ana") == 4
    await desk.bring(desk.store.cases(wanted, "Ana", 50))
    assert sorted(asked) == ["0:0", "0:1", "0:2"]
    saved = await desk.decide(ANA, answer(case_id(passed[0])))
    assert saved.verdict == passed[0]
    assert (saved.draw, saved.sampled) == (None, False)


async def test_a_decision_counts_after_the_clock_was_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher, judged = FakePublisher(), verdict(1)
    desk = new_desk(publisher, judged)
    case = case_id(judged)
    first = await desk.decide(ANA, answer(case, "supports"))

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Earlier:
            return cls.fromtimestamp(time.time() - 3600, tz)

    monkeypatch.setattr(desk_module, "datetime", Earlier)
    second = await desk.decide(BEN, answer(case, "insufficient", seen=first.id))
    assert second.decided_at > first.decided_at
    held = desk.store.case(case)
    assert held is not None
    assert held.standing is not None
    assert held.standing.id == second.id
    taken_back = await desk.undo(BEN, second.id)
    assert taken_back.decided_at > second.decided_at

"""One verdict for each extraction: a person's where one decided, else the last scorer's."""

from __future__ import annotations

from safepassage.schemas import ReviewTrail, Verdict
from safepassage.streams.kafka.records import Received
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, REVIEWS, Topic
from safepassage.streams.verdicts.deduplication import VERDICT_TOPICS
from safepassage.streams.verdicts.latest import LatestPerExtraction, latest_verdicts
from tests.streams.console.cases import review
from tests.streams.console.cases import verdict as case
from tests.streams.judged import FakeScorer, publish, received, verdict

STOPPED = case(1, score=0.4)
PASSED_LATER = case(1, score=0.9, revision="scorer-2")


async def read(settings: Settings, *topics: Topic) -> list:
    return [result async for result in latest_verdicts(settings, topics or VERDICT_TOPICS)]


async def the_only(settings: Settings) -> Verdict:
    (result,) = await read(settings)
    assert isinstance(result, Received)
    return result.event


def test_latest_revision_of_an_extraction_counts():
    latest = LatestPerExtraction()
    old = received(verdict(1), 5)
    new = received(verdict(1, FakeScorer(revision="fake-2")), 8)
    latest.note(new)
    latest.note(old)
    assert latest.holds(new)
    assert not latest.holds(old)


def test_person_outranks_a_later_scorer():
    latest = LatestPerExtraction()
    person = verdict(1).model_copy(
        update={"id": "by-a-person", "review": ReviewTrail(review_id="r", reviewer="Ada")}
    )
    latest.note(received(person, 5))
    latest.note(received(verdict(1, FakeScorer(revision="fake-9")), 50))
    assert latest.holds(received(person, 5))


async def test_one_verdict_per_extraction_across_revisions(kafka: Settings):
    newer = FakeScorer(revision="fake-2", stop=frozenset({"May 2"}))
    await publish(kafka, ACCEPTED, [verdict(1), verdict(2)])
    await publish(kafka, QUARANTINE, [verdict(2, newer)])
    results = await read(kafka)
    assert {r.event.extraction_id: r.event.scorer_revision for r in results} == {
        "extraction-1": "fake-1",
        "extraction-2": "fake-2",
    }


async def test_a_refusal_that_led_to_nothing_outranks_a_later_scorers_acceptance(kafka: Settings):
    await publish(kafka, QUARANTINE, [STOPPED])
    await publish(kafka, REVIEWS, [review(STOPPED, "insufficient")])
    await publish(kafka, ACCEPTED, [PASSED_LATER])
    stands = await the_only(kafka)
    assert (stands.decision, stands.reasons) == ("quarantined", ("review_rejected",))
    assert stands.score == PASSED_LATER.score
    assert await read(kafka, ACCEPTED) == []


async def test_a_confirmed_spot_check_outranks_a_later_scorers_refusal(kafka: Settings):
    passed, stopped = case(1, score=0.9), case(1, score=0.1, revision="scorer-2")
    await publish(kafka, ACCEPTED, [passed])
    await publish(kafka, REVIEWS, [review(passed, "supports")])
    await publish(kafka, QUARANTINE, [stopped])
    assert (await the_only(kafka)).decision == "accepted"


async def test_a_decision_that_was_taken_back_outranks_nothing(kafka: Settings):
    undone = STOPPED.model_copy(
        update={
            "id": "taken-back",
            "review": ReviewTrail(review_id="r", reviewer="Ada", stands=False),
        }
    )
    made = review(STOPPED)
    await publish(kafka, QUARANTINE, [STOPPED, undone])
    await publish(kafka, REVIEWS, [made, review(STOPPED, "undone", minute=1, supersedes=made.id)])
    await publish(kafka, ACCEPTED, [PASSED_LATER])
    assert await the_only(kafka) == PASSED_LATER


async def test_a_decision_that_was_published_and_taken_back_is_not_shown(kafka: Settings):
    def by_ada(decision: str, *, stands: bool) -> Verdict:
        trail = ReviewTrail(review_id=decision, reviewer="Ada", stands=stands)
        changes = {"id": decision, "decision": decision, "review": trail}
        return STOPPED.model_copy(update=changes)

    made = review(STOPPED)
    await publish(kafka, QUARANTINE, [STOPPED])
    await publish(kafka, ACCEPTED, [by_ada("accepted", stands=True)])
    await publish(kafka, REVIEWS, [made, review(STOPPED, "undone", minute=1, supersedes=made.id)])
    await publish(kafka, QUARANTINE, [by_ada("quarantined", stands=False)])
    assert (await the_only(kafka)).decision == "quarantined"
    assert await read(kafka, ACCEPTED) == []


async def test_a_decision_says_nothing_about_another_value_or_text(kafka: Settings):
    await publish(kafka, QUARANTINE, [STOPPED])
    await publish(kafka, REVIEWS, [review(STOPPED, "insufficient")])
    other = case(1, score=0.9, value="Ann Lea", revision="scorer-2")
    await publish(kafka, ACCEPTED, [other])
    assert await the_only(kafka) == other


async def test_what_was_taken_back_is_not_accepted_though_only_that_topic_is_asked_for(
    kafka: Settings,
):
    await publish(kafka, ACCEPTED, [verdict(1), verdict(2)])
    await publish(kafka, QUARANTINE, [verdict(2, FakeScorer(revision="fake-2", stop={"May 2"}))])
    assert [r.event.extraction_id for r in await read(kafka, ACCEPTED)] == ["extraction-1"]

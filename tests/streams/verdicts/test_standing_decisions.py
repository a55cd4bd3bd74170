"""A person's standing decision outranks every later scorer's verdict, on the stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from safepassage.agents.aligner import Aligner
from safepassage.schemas import Document, Extraction, StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on, verdict_in_place
from safepassage.streams import wiring
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS, DECISIONS, QUARANTINE, REVIEWS
from safepassage.streams.topology import align_role, as_judged
from safepassage.streams.verdicts.standing_decisions import StandingDecisions
from tests.streams.broker import all_records
from tests.streams.console.cases import review
from tests.streams.console.cases import verdict as case
from tests.streams.console.running import console_settings, put, running_console
from tests.streams.judged import FakeScorer, aligned, publish, received, verdict

NEW = FakeScorer("new", "new-1")
PATIENCE = 60.0


def decided(judged: Verdict, decision: str, value: object = None, number: int = 0) -> Any:
    """The record on ``decisions`` that a review of the verdict leads to."""
    made = decision_on(judged, [review(judged, decision, value=value, minute=number)])
    assert made is not None
    return received(made, number, topic="decisions").record


def held(*records: Any) -> StandingDecisions:
    decisions = StandingDecisions()
    for record in records:
        decisions.note(record)
    return decisions


@pytest.mark.parametrize(
    ("decision", "value", "first", "later", "wanted"),
    [
        ("insufficient", None, 0.4, 0.9, ("quarantined", "review_rejected")),
        ("insufficient", None, 0.9, 0.9, ("quarantined", "review_rejected")),
        ("supports", None, 0.4, 0.1, ("accepted", "review_confirmed")),
        ("supports", None, 0.9, None, ("accepted", "review_confirmed")),
        ("corrected", "Ann Leigh", 0.4, 0.9, ("accepted", "review_corrected")),
    ],
)
def test_a_later_judgement_that_differs_gives_way(decision, value, first, later, wanted) -> None:
    before = case(1, score=first)
    again = case(1, score=later, revision="scorer-2")
    published = held(decided(before, decision, value)).settle(again)
    assert (published.decision, *published.reasons) == wanted
    assert published.value == (value or again.value)
    assert (published.review.judged, published.review.in_place) == (again.id, True)
    assert (published.score, published.scorer_revision) == (again.score, again.scorer_revision)
    assert published.id not in (before.id, again.id)
    assert case_id(published) == case_id(before)


def test_a_later_judgement_that_agrees_stands_as_it_is() -> None:
    again = case(1, score=0.2, revision="scorer-2")
    assert held(decided(case(1), "insufficient")).settle(again) == again


def test_a_decision_holds_only_for_its_text_and_value() -> None:
    decisions = held(decided(case(1), "insufficient"))
    for other in (case(1, score=0.9, value="Ann Lea"), case(1, score=0.9, text="Another text.")):
        assert decisions.settle(other) == other


def test_a_decision_that_was_taken_back_holds_no_longer() -> None:
    undone = decision_on(
        case(1),
        [made := review(case(1), "insufficient"), review(case(1), "undone", supersedes=made.id)],
    )
    assert undone is not None
    decisions = held(decided(case(1), "insufficient"), received(undone, 1).record)
    again = case(1, score=0.9, revision="scorer-2")
    assert decisions.settle(again) == again


def test_rubbish_on_the_topic_decides_nothing() -> None:
    decisions = held(received(case(1), 0).record)
    assert decisions.next_offset == 1
    assert decisions.settle(case(1)) == case(1)


def test_the_verdict_in_place_is_the_same_whenever_it_is_made() -> None:
    decision = StandingDecision.model_validate_json(decided(case(1), "insufficient").value)
    again = case(1, score=0.9, revision="scorer-2")
    assert verdict_in_place(again, decision) == verdict_in_place(again, decision)


async def test_a_quote_that_is_no_longer_found_does_not_undo_a_confirmation() -> None:
    document = Document(id="d", text="Nothing of the kind.")
    ref = document.ref()
    extraction = Extraction(
        id="e", doc_id="d", entity_type="Judge", value="Ann", context="Ann Lee sat", document=ref
    )

    class Texts:
        async def get(self, _: object) -> str:
            return document.text

    aligner = Aligner()
    try:
        step = align_role(aligner, Texts()).step  # type: ignore[arg-type]
        ((lost,),) = await step([received(extraction, 0, topic="extractions")])
        settle = held(decided(lost.event, "supports")).settle
        step = align_role(aligner, Texts(), settle=settle).step  # type: ignore[arg-type]
        ((kept,),) = await step([received(extraction, 0, topic="extractions")])
    finally:
        aligner.close()
    assert (lost.topic, lost.event.reasons) == (QUARANTINE, ("not_found",))
    assert (kept.topic, kept.event.reasons) == (ACCEPTED, ("review_confirmed",))


def test_a_replay_is_held_to_nobodys_decision() -> None:
    assert as_judged(case(1)) is not None
    assert as_judged(case(1)) == case(1)


@asynccontextmanager
async def scoring(settings: Settings):
    """A running score role, with a scorer that accepts what the first one stopped."""
    settings = settings.model_copy(update={"scorer": "new"})
    async with AsyncExitStack() as resources:
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        resources.push_async_callback(publisher.stop)
        source = await wiring.score_source(lambda _: NEW, publisher, settings, resources)
        stop = asyncio.Event()
        task = asyncio.create_task(source.run(stop))
        try:
            yield
        finally:
            stop.set()
            await task


async def verdicts_on(settings: Settings, extraction_id: str) -> list[Verdict]:
    found = [Verdict.model_validate_json(r.value) for r in await all_records(settings, ACCEPTED)]
    found += [Verdict.model_validate_json(r.value) for r in await all_records(settings, QUARANTINE)]
    return [one for one in found if one.extraction_id == extraction_id]


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - it asks the broker
            await asyncio.sleep(0.1)


def accepted_numbers(count: int) -> Sequence[int]:
    return [n for n in range(200) if verdict(n, NEW).decision == "accepted"][:count]


async def test_a_resubmission_under_a_new_scorer_is_not_accepted_against_a_person(
    kafka: Settings,
) -> None:
    first, second = accepted_numbers(2)
    value = aligned(first).extraction.value
    stopped = verdict(first, FakeScorer(stop=frozenset({value})))
    await put(kafka, [stopped])
    await publish(kafka, REVIEWS, [review(stopped, "insufficient")])
    async with running_console(console_settings(kafka)):
        await until(lambda: all_records(kafka, DECISIONS))
    await publish(kafka, ALIGNMENTS, [aligned(first), aligned(second)])
    async with scoring(kafka):
        await until(lambda: verdicts_on(kafka, f"extraction-{second}"))
        await until(lambda: has_two(kafka, f"extraction-{first}"))
    (before, after) = await verdicts_on(kafka, f"extraction-{first}")
    assert before == stopped
    assert (after.decision, after.scorer_revision) == ("quarantined", "new-1")


async def has_two(settings: Settings, extraction_id: str) -> bool:
    return len(await verdicts_on(settings, extraction_id)) == 2


async def test_a_decision_made_while_the_role_runs_is_obeyed(kafka: Settings) -> None:
    (first,) = accepted_numbers(1)
    value = aligned(first).extraction.value
    stopped = verdict(first, FakeScorer(stop=frozenset({value})))
    await create_topics(kafka)
    async with scoring(kafka):
        made = decision_on(stopped, [review(stopped, "insufficient")])
        await publish(kafka, DECISIONS, [made], key="case")

        async def obeyed() -> bool:
            await publish(kafka, ALIGNMENTS, [aligned(first)])
            found = await verdicts_on(kafka, f"extraction-{first}")
            return any(one.review for one in found)

        await until(obeyed)


async def test_topics_are_read_to_the_end_before_anything_is_judged(kafka: Settings) -> None:
    made = decision_on(case(1), [review(case(1), "insufficient")])
    await publish(kafka, DECISIONS, [made] * 3, key="case")
    async with AsyncExitStack() as resources:
        decisions = await wiring._decisions(kafka, resources)
        assert decisions.next_offset == len([r async for r in read_topics(kafka, [DECISIONS])])
        assert decisions.settle(case(1, score=0.9)).decision == "quarantined"

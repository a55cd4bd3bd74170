"""An answer that is written before our eyes, through the live steps to its report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any, cast

import pytest

from safepassage.pipeline import new_aligner
from safepassage.schemas import DocumentReport, Part, Response, Verdict
from safepassage.streams.agent_factory import document_store
from safepassage.streams.delivery.circuit_breaker import CircuitBreaker
from safepassage.streams.delivery.record_outcomes import Delivery, Role
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, REPORTS, RESPONSES
from safepassage.streams.topology import align_role, extract_role
from tests.streams.broker import all_records
from tests.streams.judged import FakeScorer, publish
from tests.streams.replay.test_engine import judge_live
from tests.streams.report.test_source import reporting, until

CONTEXT = ["The lease began on 1 May 2019. The rent was 900 euros.", "The tenant kept a dog."]
ANSWER = (
    "The lease began on 1 May 2019. It was signed by Dr. Roe. The rent was 900 euros a month.\n\n"
    "- The tenant kept a dog.\n- The tenant kept no dog."
)
CUTS = (0, 25, 33, 70, 96, 118, len(ANSWER))


def in_parts(answer_id: str) -> list[Response]:
    return [
        Response(
            id=answer_id,
            context=CONTEXT,
            response=ANSWER[:end],
            part=Part(since=since, final=end == len(ANSWER)),
        )
        for since, end in pairwise(CUTS)
    ]


async def handle(settings: Settings, role: Role, *, each_twice: bool = False) -> None:
    """One role over all that its topics hold; ``each_twice``, with a crash before every commit."""
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    models = {settings.topic(topic.name): topic.model for topic in role.topics}
    delivery = Delivery(role, publisher, CircuitBreaker(), models)
    records = [record async for record in read_topics(settings, role.topics)]
    for record in sorted(records, key=lambda r: (r.topic, r.partition, r.offset)):
        await delivery.handle([record])
        if each_twice:
            await delivery.handle([record])
    await publisher.stop()


async def judged(
    settings: Settings, responses: Sequence[Response], *, each_twice: bool = False
) -> tuple[dict[str, Verdict], DocumentReport]:
    """The verdicts by claim, and the one report."""
    await publish(settings, RESPONSES, responses, key=responses[0].id)
    async with AsyncExitStack() as resources:
        store = await document_store(settings, resources)
        extractor = cast("Any", None)  # answers need none
        extract = extract_role(extractor, store, max_characters=10_000, lanes=1)
        await handle(settings, extract, each_twice=each_twice)
        aligner = new_aligner(settings)
        resources.callback(aligner.close)
        await handle(settings, align_role(aligner, store))
    await judge_live(settings, FakeScorer())
    async with reporting(settings):
        await until(lambda: all_records(settings, REPORTS))
    [record] = await all_records(settings, REPORTS)
    verdicts = [
        Verdict.model_validate_json(r.value)
        async for r in read_topics(settings, [ACCEPTED, QUARANTINE])
    ]
    return {v.extraction_id: v for v in verdicts}, DocumentReport.model_validate_json(record.value)


def without_place(verdict: Verdict) -> dict[str, Any]:
    """What the verdict says, but for the record that its text was in."""
    return verdict.model_dump(exclude={"document"})


@pytest.mark.parametrize("each_twice", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_in_parts_or_whole_the_verdicts_are_the_same(
    kafka: Settings, each_twice: bool
) -> None:
    apart = kafka.model_copy(update={"topic_prefix": f"{kafka.topic_prefix}whole-"})
    streamed, report = await judged(kafka, in_parts("r"), each_twice=each_twice)
    whole, _ = await judged(apart, [Response(id="r", context=CONTEXT, response=ANSWER)])
    assert {i: without_place(v) for i, v in streamed.items()} == {
        i: without_place(v) for i, v in whole.items()
    }
    assert len(streamed) == report.extractions == 5
    assert (report.missing, report.dead_lettered) == (0, 0)
    assert report.accepted + report.quarantined + report.undetermined == 5
    assert len(report.earlier_parts) >= 2
    places = {v.document.coordinates for v in streamed.values() if v.document}
    assert places <= {*report.earlier_parts, report.document.coordinates}

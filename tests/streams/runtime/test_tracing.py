"""A document's way is one trace, over batches and dead letters; nothing costs where it is off."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from safepassage.schemas import Document
from safepassage.streams.delivery.record_outcomes import Failed, Outcome
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import PublishFailed, hand_over
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.runtime import tracing
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS, DOCUMENTS, MANIFESTS, QUARANTINE
from tests.streams.broker import all_records, batch_source, running, until
from tests.streams.doubles import (
    FakePublisher,
    delivery_of,
    document_record,
    document_role,
    note_each,
)
from tests.streams.judged import FakeScorer, verdict

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
GIVEN = f"00-{TRACE}-00f067aa0ba902b7-01"


def given(offset: int, traceparent: str = GIVEN) -> Record:
    return replace(
        document_record(f"d{offset}", offset), headers=(("traceparent", traceparent.encode()),)
    )


def traces(outgoing: Sequence[Outgoing]) -> list[str]:
    return [str(out.traceparent).split("-")[1] for out in outgoing]


async def fail(batch: Sequence[Received[Document]]) -> list[Outcome]:
    return [Failed("Boom", "a text") for _ in batch]


@pytest.fixture
def spans() -> Iterator[Any]:
    """What is traced, by an exporter in memory."""
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from safepassage.streams.runtime.otel import OtelTracing

    exporter = InMemorySpanExporter()
    tracing.use(OtelTracing(SimpleSpanProcessor(exporter)))
    try:
        yield exporter
    finally:
        tracing.stop()


async def test_untraced_a_trace_context_is_passed_on():
    publisher = FakePublisher()
    await delivery_of(document_role(), publisher).handle([given(1), document_record("d2", 2)])
    assert [out.traceparent for out in publisher.published] == [GIVEN, None]
    assert ("traceparent", GIVEN.encode()) in publisher.published[0].headers()
    assert "traceparent" not in dict(publisher.published[1].headers())


@pytest.mark.parametrize(
    "value", [b"", b"x", GIVEN.encode() + b"0", b"ff" + GIVEN.encode()[2:], b"\xff" * 55]
)
def test_a_header_that_is_no_trace_context_is_ignored(value: bytes):
    assert Record("t", 0, 0, None, None, headers=(("traceparent", value),)).traceparent is None


async def test_a_record_is_traced_below_its_producer_and_linked_to_its_batch(spans: Any):
    publisher = FakePublisher()
    await delivery_of(document_role(), publisher).handle([given(1), document_record("d2", 2)])
    *records, batch = spans.get_finished_spans()
    assert batch.name == "extract batch"
    assert [record.name for record in records] == ["extract record"] * 2
    for record in records:
        assert [link.context.span_id for link in record.links] == [batch.context.span_id]
        assert record.context.trace_id != batch.context.trace_id
    assert f"{records[0].parent.span_id:016x}" in GIVEN
    assert records[1].parent is None
    assert traces(publisher.published) == [f"{r.context.trace_id:032x}" for r in records]
    assert traces(publisher.published)[0] == TRACE
    assert [str(out.traceparent).split("-")[2] for out in publisher.published] == [
        f"{record.context.span_id:016x}" for record in records
    ]


async def test_a_dead_letter_is_of_its_record_s_trace_and_names_the_error_alone(spans: Any):
    publisher = FakePublisher()
    await delivery_of(document_role(fail), publisher).handle([given(1)])
    (letter,) = publisher.published
    assert letter.topic is DEAD_LETTERS
    assert traces([letter]) == [TRACE]
    record = spans.get_finished_spans()[0]
    assert record.attributes["error.type"] == "Boom"
    assert "a text" not in record.to_json()


async def test_a_verdict_is_an_evaluation_as_opentelemetry_names_it(spans: Any):
    judged = verdict(1, FakeScorer(stop=frozenset({"May 1"})))

    async def judge(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [(Outgoing(QUARANTINE, "d", judged),) for _ in batch]

    await delivery_of(document_role(step=judge), FakePublisher()).handle([given(1)])
    (event,) = [event for span in spans.get_finished_spans() for event in span.events]
    assert event.name == "gen_ai.evaluation.result"
    assert event.attributes == {
        "gen_ai.evaluation.name": "safepassage",
        "gen_ai.evaluation.score.label": "quarantined",
        "gen_ai.evaluation.score.value": judged.score,
        "gen_ai.evaluation.explanation": "unsupported",
        "safepassage.verdict.id": judged.id,
        "safepassage.entity_type": judged.entity_type,
    }


async def test_a_batch_that_could_not_be_published_is_an_error_of_all_its_spans(spans: Any):
    with pytest.raises(PublishFailed):
        await delivery_of(document_role(), FakePublisher(broken=True)).handle([given(1)])
    assert [s.attributes["error.type"] for s in spans.get_finished_spans()] == ["PublishFailed"] * 2
    assert all(not span.events for span in spans.get_finished_spans())


async def test_a_document_s_way_through_the_broker_is_one_trace(spans: Any, kafka: Settings):
    """A document that a traced process submits, and both its result and its dead letter."""

    async def either(batch: Sequence[Received[Document]]) -> list[Outcome]:
        good = [r for r in batch if r.event.id == "good"]
        noted = iter(await note_each(good))
        return [next(noted) if r in good else Failed("Boom") for r in batch]

    await create_topics(kafka)
    producer = new_producer(kafka)
    await producer.start()
    try:
        for name in ("good", "bad"):
            event = Outgoing(DOCUMENTS, name, Document(id=name, text="t"))
            await (await hand_over(producer, event, kafka))
    finally:
        await producer.stop()
    ended = lambda: len(  # noqa: E731
        [s for s in spans.get_finished_spans() if s.name == "extract record"]
    )
    async with running(batch_source, document_role(either), kafka) as member:
        await until(lambda: ended() == 2, "both records", member.task)
    way = {record.key: record.traceparent for record in await all_records(kafka, DOCUMENTS)}
    for topic, key in ((MANIFESTS, b"good"), (DEAD_LETTERS, b"bad")):
        (record,) = await all_records(kafka, topic)
        assert record.traceparent is not None
        assert record.traceparent.split("-")[1] == str(way[key]).split("-")[1]


def test_a_command_traces_where_it_is_told_to(spans: Any, monkeypatch):
    from safepassage.streams import cli
    from safepassage.streams.cli import promote
    from safepassage.streams.runtime import otel

    began: list[tracing.Tracing] = []

    class Noted(tracing.Tracing):
        def __init__(self) -> None:
            began.append(self)

        def stop(self) -> None:
            began.remove(self)

    during: list[bool] = []
    monkeypatch.setattr(otel, "OtelTracing", Noted)
    monkeypatch.setattr(cli, "settings", lambda: Settings(traces=True))
    monkeypatch.setattr(promote, "settings", lambda: during.append(bool(began)))
    result = CliRunner().invoke(cli.app, ["scorers"])
    assert result.exception is not None  # there are no settings: it ends where it asks for them
    assert during == [True]
    assert began == []


def test_a_worker_that_traces_nothing_imports_nothing_of_it():
    code = (
        "import sys, safepassage.streams.worker, safepassage.streams.delivery.record_outcomes; "
        "sys.exit('safepassage.streams.runtime.otel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Metrics say what is: of every role, and of no partition that was given up."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

import pytest
from prometheus_client import REGISTRY

from safepassage.schemas import Assessment, Document, Extraction, ScorerTrail, Usage
from safepassage.streams import wiring, worker
from safepassage.streams.delivery.lag import LagMeter
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.records import BORN_HEADER, Record
from safepassage.streams.runtime import metrics
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, READ_BY
from safepassage.streams.topology import score_role
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve
from tests.streams.broker import batch_source, faust_source, running, send, send_documents, until
from tests.streams.doubles import document_role
from tests.streams.judged import FakeScorer, aligned, received

TEXT = "Rent: 900 a month."


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def lags(role: str) -> dict[tuple[str, str], float]:
    (family,) = [f for f in REGISTRY.collect() if f.name == "safepassage_lag"]
    return {
        (s.labels["topic"], s.labels["partition"]): s.value
        for s in family.samples
        if s.labels["role"] == role
    }


async def test_every_role_measures_a_document_on_its_way(kafka: Settings, monkeypatch):
    document = Document(id="lease", text=TEXT)
    extraction = Extraction(
        id="e", doc_id="lease", entity_type="Rent", value="900 a month", context=TEXT
    )
    before = {
        name: value(name, **labels)
        for name, labels in {
            "safepassage_llm_tokens_total": {"role": "extract", "direction": "input"},
            "safepassage_llm_cost_usd_total": {"role": "extract"},
            "safepassage_llm_seconds_count": {"role": "extract"},
        }.items()
    }
    verdicts = lambda: sum(  # noqa: E731
        value("safepassage_end_to_end_seconds_count", decision=d)
        for d in ("accepted", "quarantined", "undetermined")
    )
    seen = verdicts()
    measured = {*READ_BY} - {"learn"}  # it reads for a run, and follows nothing
    metrics.LAG.clear()  # the simulation's processes are killed in this one, and leave theirs
    monkeypatch.setattr("safepassage.scoring_worker.load_scorer", lambda *_, **__: FakeScorer())
    async with serve(create_app([document], [extraction])) as url:
        settings = kafka.model_copy(
            update={
                "openai_base_url": url,
                "entity_types": ("Rent",),
                "console_port": 0,
                "llm_input_usd_per_million": 1.0,
                "llm_output_usd_per_million": 1.0,
            }
        )
        await create_topics(settings)
        stop = asyncio.Event()
        monkeypatch.setattr(worker, "stop_event", lambda *_: stop)
        task = asyncio.create_task(worker._run([*READ_BY], settings))
        await send(settings, DOCUMENTS, [(b"lease", document.to_json())])
        try:
            await until(lambda: verdicts() > seen, "the verdict", task)
            for role in measured:
                await until(lambda role=role: bool(lags(role)), f"the lag of {role}", task)
                counted = lambda role=role: value(  # noqa: E731
                    "safepassage_batch_seconds_count", role=role
                )
                await until(lambda c=counted: c() > 0, f"a batch of {role}", task)
        finally:
            stop.set()
            await asyncio.wait((task,), timeout=60)
    task.result()
    for role in measured:
        assert lags(role) == {}
    assert value("safepassage_records_total", role="report", outcome="counted") > 0
    assert value("safepassage_records_total", role="audit", outcome="published") > 0
    assert value("safepassage_cache_total", cache="extractions", answer="miss") > 0
    for name, was in before.items():
        labels = {"role": "extract"} | ({"direction": "input"} if "tokens" in name else {})
        assert value(name, **labels) > was


async def test_tokens_and_money_of_a_scorer_that_asks_an_llm_are_counted():
    usage = Usage(input_tokens=70, output_tokens=5, cost_usd=0.25, milliseconds=800)

    async def assess(pairs):
        trail = ScorerTrail(scorer="llm", revision="1", score=0.9, threshold=0.5, usage=usage)
        return [
            Assessment(scorer="llm", revision="1", score=0.9, threshold=0.5, trail=(trail,))
            for _ in pairs
        ]

    names = {
        "safepassage_llm_tokens_total": {"role": "score", "direction": "input"},
        "safepassage_llm_cost_usd_total": {"role": "score"},
        "safepassage_llm_seconds_sum": {"role": "score"},
    }
    before = {name: value(name, **labels) for name, labels in names.items()}
    await score_role(assess, batch=8).step([received(aligned(n), n) for n in range(2)])
    spent = [value(name, **labels) - before[name] for name, labels in names.items()]
    assert spent == [140, 0.5, 1.6]


@pytest.mark.parametrize("source", [faust_source, batch_source])
async def test_role_knows_its_oldest_record_until_it_is_done(kafka: Settings, source):
    await create_topics(kafka)
    await send_documents(kafka, [f"d{n}" for n in range(5)])
    gate = asyncio.Event()
    held: list[Record] = []

    async def step(batch):
        held.extend(entry.record for entry in batch)
        await gate.wait()
        return [[] for _ in batch]

    async with running(source, document_role(step), kafka) as member:
        oldest = member.source.progress.oldest_timestamp
        assert oldest() is None
        await until(lambda: bool(held), "a batch", member.task)
        written = oldest()
        assert written is not None
        assert written <= min(record.timestamp for record in held)
        gate.set()
        await until(lambda: oldest() is None, "the end of it", member.task)


async def test_faust_role_shows_what_it_has_not_done_yet(kafka: Settings):
    await create_topics(kafka)
    await send_documents(kafka, [f"d{n}" for n in range(40)])
    gate = asyncio.Event()

    async def step(batch):
        await gate.wait()
        return [[] for _ in batch]

    async with running(faust_source, document_role(step), kafka) as member:
        await until(lambda: sum(lags("extract").values()) == 40, "the lag", member.task)
        gate.set()
        await until(lambda: sum(lags("extract").values()) == 0, "the end of it", member.task)
    assert lags("extract") == {}


def test_partition_that_was_given_up_is_not_shown_any_more():
    meter = LagMeter(Progress("tested"))
    meter.show([("documents", 0, 5), ("documents", 1, 7)])
    meter.show([("documents", 1, 3)])
    assert lags("tested") == {("documents", "1"): 3}
    meter.clear()
    assert lags("tested") == {}


@pytest.mark.parametrize(
    ("header", "born"),
    [(b"1699999999000", 1699999999000), (b"9999999999999", 1.7e12), (b"x", 1.7e12), (b"", 1.7e12)],
)
def test_time_of_birth_from_a_header_is_not_trusted_blindly(header: bytes, born: float):
    record = Record("t", 0, 0, None, None, int(1.7e12), ((BORN_HEADER, header),))
    assert record.born == born


async def test_extractions_from_the_cache_cost_nothing(kafka: Settings):
    document = Document(id="lease", text=f"{TEXT} {time.time()}")
    async with serve(create_app([document], [])) as url, AsyncExitStack() as opened:
        settings = kafka.model_copy(update={"openai_base_url": url, "entity_types": ("Rent",)})
        await create_topics(settings)
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        opened.push_async_callback(publisher.stop)
        source = await wiring.source("extract", publisher, settings, opened)
        asked = lambda: value("safepassage_llm_seconds_count", role="extract")  # noqa: E731
        hits = lambda: value("safepassage_cache_total", cache="extractions", answer="hit")  # noqa: E731
        before, hit_before = asked(), hits()
        stop = asyncio.Event()
        task = asyncio.create_task(source.run(stop))
        await send(settings, DOCUMENTS, [(b"lease", document.to_json())] * 2)
        try:
            await until(lambda: hits() > hit_before, "the second document", task)
        finally:
            stop.set()
            await asyncio.wait((task,), timeout=60)
        assert asked() == before + 1

"""A decision on the console's page is in the next verdict on a like value; an undo takes it out; a
replay repeats both to the byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Document,
    Extraction,
    MemorySnapshot,
    Span,
    StandingDecision,
    Verdict,
)
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.manifest import ScorerManifest, Thresholds
from safepassage.scoring_worker.weighing.judged_batch import judge_all
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.memory.live import SnapshotLost
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    ALIGNMENTS,
    DECISIONS,
    MEMORIES,
    QUARANTINE,
    REVIEWS,
    Topic,
)
from safepassage.streams.wiring import score_source
from tests.scoring_worker.tiny import reader_scorer
from tests.streams.console.cases import review
from tests.streams.console.running import console_settings, running_console
from tests.streams.console.test_source import Reviewer, browser
from tests.streams.judged import publish
from tests.streams.replay.test_engine import NoRest

PATIENCE = 120.0


def rent(number: int, said: str = "deposit") -> AlignedExtraction:
    """A sum that is no rent, quoted as one."""
    value = str(700 + number)
    text = f"rent: {2000 + number} a month. {said}: {value}"
    document = Document(id=f"lease-{number}", text=text)
    ref = document.ref()
    extraction = Extraction(
        id=f"rent-{number}",
        doc_id=document.id,
        entity_type="Rent",
        value=value,
        context=text,
        document=ref,
    )
    alignment = Alignment(
        score=1.0,
        matches=len(text),
        length=len(text),
        unaligned=0,
        threshold=0.5,
        spans=(Span(start=0, end=len(text), text=text),),
        route="verbatim",
        language="en",
    )
    return AlignedExtraction(extraction=extraction, document=ref, alignment=alignment)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny scorer that accepts next to nothing, so that all comes before a reviewer."""
    folder = reader_scorer(tmp_path / "tiny")
    manifest = ScorerManifest.load(folder)
    manifest.model_copy(update={"thresholds": Thresholds(default=0.999)}).save(folder)
    return folder


@asynccontextmanager
async def scoring(settings: Settings) -> AsyncIterator[None]:
    """The score role at work."""
    async with AsyncExitStack() as resources:
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        resources.push_async_callback(publisher.stop)
        source = await score_source(
            lambda name: load_scorer(name, device="cpu"), publisher, settings, resources
        )
        stop = asyncio.Event()
        task = asyncio.create_task(source.run(stop))
        try:
            yield
        finally:
            stop.set()
            await task


async def verdict_on(settings: Settings, event: AlignedExtraction) -> Verdict:
    """What the worker says of it, once it is there."""
    await publish(settings, ALIGNMENTS, [event])
    found: list[Verdict] = []

    async def judged() -> bool:
        records = [r async for r in read_topics(settings, [ACCEPTED, QUARANTINE])]
        verdicts = [Verdict.model_validate_json(r.value or b"") for r in records]
        found[:] = [v for v in verdicts if v.extraction_id == event.extraction.id]
        return bool(found)

    await until(judged)
    return found[0]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - it asks the broker
            await asyncio.sleep(0.1)


async def snapshots(settings: Settings) -> list[MemorySnapshot]:
    records = [r async for r in read_topics(settings, [MEMORIES])]
    return [MemorySnapshot.model_validate_json(r.value or b"") for r in records]


async def wait_for(settings: Settings, topic: Topic, count: int) -> None:
    async def there() -> bool:
        return len([r async for r in read_topics(settings, [topic])]) >= count

    await until(there)


async def replayed(settings: Settings, model: Path, name: str, memory: str) -> dict[str, bytes]:
    """The replay's verdicts, by extraction."""
    request = ReplayRequest(name, memory=memory)
    await run_replay(request, load_scorer(model, device="cpu"), settings, NoRest())
    records = [r async for r in read_topics(settings, [verdicts_topic(name)])]
    return {
        Verdict.model_validate_json(r.value or b"").extraction_id: r.value or b"" for r in records
    }


async def test_a_decision_counts_for_the_next_like_it_until_it_is_undone(
    kafka: Settings, model: Path
) -> None:
    settings = console_settings(kafka, scorer=str(model))
    await create_topics(settings)
    async with AsyncExitStack() as running:
        await running.enter_async_context(scoring(settings))
        address = await running.enter_async_context(running_console(settings))
        client = await running.enter_async_context(browser(address))
        reviewer = Reviewer(client)
        await reviewer.login("Ana")

        first = await verdict_on(settings, rent(1))
        assert first.memory is None
        page = await reviewer.next_page(f"/cases/{case_id(first)}")
        while "Insufficient" not in page:
            page = await reviewer.next_page(f"/cases/{case_id(first)}")
        await reviewer.decide(page, "insufficient:wrong_field", comment="the deposit")
        await wait_for(settings, MEMORIES, 1)
        await asyncio.sleep(1)  # published before it is leant on

        second = await verdict_on(settings, rent(2))
        alone = judge_all([rent(2)], load_scorer(model, device="cpu"))[0]
        assert second.memory is not None
        assert [case.case_id for case in second.memory.cases] == [case_id(first)]
        assert second.memory.snapshot == (await snapshots(settings))[-1].name
        assert second.score < alone.score
        assert second.id != alone.id
        said = {finding.code: finding.detail for finding in second.findings}
        assert said["reviewed_alike"] == "1 like this was rejected by Ana"
        page = await reviewer.next_page(f"/cases/{case_id(second)}")
        assert f'href="/cases/{case_id(first)}"' in page
        assert "rejected by Ana" in page

        reviews = [r async for r in read_topics(settings, [REVIEWS])]
        (made,) = [REVIEWS.model.model_validate_json(r.value or b"") for r in reviews]
        assert (made.reason, made.comment) == ("wrong_field", "the deposit")
        await client.post(f"/reviews/{made.id}/undo", data={"csrf": csrf_of(page)})
        await wait_for(settings, MEMORIES, 2)
        await asyncio.sleep(1)
        third = await verdict_on(settings, rent(3))
        assert third.memory is None
        assert third == judge_all([rent(3)], load_scorer(model, device="cpu"))[0]

    live = {v.extraction_id: v.to_json() for v in (first, second, third)}
    then = await replayed(settings, model, "then", second.memory.snapshot)
    assert then["rent-2"] == live["rent-2"]
    now = await replayed(settings, model, "now", "now")
    assert now["rent-1"] == live["rent-1"]
    assert now["rent-3"] == live["rent-3"]
    assert now["rent-2"] == alone.to_json()
    with pytest.raises(SnapshotLost, match="not on the topic"):
        await replayed(settings, model, "never", "0123456789abcdef")


def csrf_of(page: str) -> str:
    return page.split('name="csrf" value="', 1)[1].split('"', 1)[0]


async def test_a_worker_goes_on_with_what_was_learnt_and_a_tombstone_erases_it(
    kafka: Settings, model: Path
) -> None:
    settings = kafka.model_copy(update={"scorer": str(model)})
    first = judge_all([rent(1)], load_scorer(model, device="cpu"))[0]
    await publish(settings, DECISIONS, [decision(first)], key=case_id(first))
    async with scoring(settings):
        second = await verdict_on(settings, rent(2))
    learnt = await snapshots(settings)
    assert second.memory is not None
    async with scoring(settings):
        third = await verdict_on(settings, rent(3))
    assert third.memory is not None
    assert third.memory.snapshot == second.memory.snapshot
    assert await snapshots(settings) == learnt, "what is known is not learnt again"

    await erase(settings, DECISIONS, case_id(first))
    async with scoring(settings):
        fourth = await verdict_on(settings, rent(4))
    assert fourth.memory is None


def decision(verdict: Verdict) -> StandingDecision:
    made = decision_on(verdict, [review(verdict, "insufficient")])
    assert made is not None
    return made


async def erase(settings: Settings, topic: Topic, key: str) -> None:
    """A tombstone."""
    producer = new_producer(settings)
    await producer.start()
    try:
        await producer.send_and_wait(settings.topic(topic.name), value=None, key=key.encode())
    finally:
        await producer.stop()

"""A console on the tests' servers, for as long as a test needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from pydantic import SecretStr
from redis.asyncio import Redis

from safepassage.agents.document_store import DocumentStore
from safepassage.schemas import Review, Verdict
from safepassage.streams import wiring
from safepassage.streams.demo.embedded import free_port
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import Outgoing, decode
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, REVIEWS, Topic

TOKEN = "the token of the tests"
PATIENCE_SECONDS = 30.0


def console_settings(kafka: Settings, **changes: object) -> Settings:
    """Settings with a free port, a known token and no spot checks."""
    fixed = {
        "console_port": free_port(),
        "console_token": SecretStr(TOKEN),
        "console_grace_seconds": 0.0,
        "leakage_sample": 0.0,
    }
    return kafka.model_copy(update=fixed | changes)


@asynccontextmanager
async def running_console(settings: Settings) -> AsyncIterator[str]:
    """The review role, started and stopped; yields its address once it can be used."""
    await create_topics(settings)
    stop = asyncio.Event()
    async with AsyncExitStack() as resources:
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        resources.push_async_callback(publisher.stop)
        (source,) = await wiring.sources(["review"], publisher, settings, resources)
        task = asyncio.create_task(source.run(stop))
        try:
            yield await _address(settings, task)
        finally:
            stop.set()
            await task


async def put(settings: Settings, verdicts: Iterable[Verdict]) -> None:
    """Verdicts onto their topics."""
    await create_topics(settings)
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    topics = {"accepted": ACCEPTED}
    try:
        await publisher.publish(
            [Outgoing(topics.get(v.decision, QUARANTINE), v.doc_id, v) for v in verdicts]
        )
    finally:
        await publisher.stop()


async def keep_text(settings: Settings, verdict: Verdict, text: str) -> None:
    """The text of a verdict's document to where the console looks for it first."""

    async def nowhere(_: object) -> str:
        raise LookupError

    assert verdict.document is not None
    async with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        await DocumentStore(redis, reread=nowhere).put(verdict.document, text)


async def reviews(settings: Settings) -> list[Review]:
    """What was decided, oldest first."""
    found = [decode(r, Review).event async for r in read_topics(settings, [REVIEWS])]
    return sorted(found, key=lambda review: review.decided_at)


async def outcomes(settings: Settings, topic: Topic, count: int) -> list[Verdict]:
    """The ``count`` verdicts of ``topic`` that reviews led to, once they are there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = [decode(r, Verdict).event async for r in read_topics(settings, [topic])]
            if len(reviewed := [v for v in found if v.review]) >= count:
                return reviewed


async def _address(settings: Settings, task: asyncio.Task[None]) -> str:
    address = f"http://127.0.0.1:{settings.console_port}"
    async with httpx2.AsyncClient() as client, asyncio.timeout(PATIENCE_SECONDS):
        while not task.done():
            try:
                metrics = (await client.get(f"{address}/health")).json()
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
                continue
            assert metrics["healthy"]
            return address
    await task
    raise AssertionError("the console ended at once")

"""An LLM that hangs costs its documents, and neither the worker nor a second round of calls."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from starlette.testclient import TestClient

from safepassage.schemas import DeadLetter, Document
from safepassage.streams import wiring
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.runtime.health import health_app
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS, DOCUMENTS
from tests.recorded_llm.faults import Fault, Faults
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve
from tests.streams.broker import Running, all_records, send, until

STALLED_SECONDS = 2.0
# Longer than what looks stalled, and all together longer than a member may go without fetching.
TIMEOUT_SECONDS, ATTEMPTS, REBALANCE_SECONDS = 4.0, 2, 5.0
# More than lanes and Faust's buffers hold, so that fetching stops while the LLM hangs.
COUNT = 60


async def test_hanging_llm_ends_in_a_dead_letter_while_the_worker_stays_healthy(kafka: Settings):
    documents = [Document(id=f"lease-{n}", text=f"Rent: {n} a month.") for n in range(COUNT)]
    # Hangs for the first documents and answers the others.
    faults = Faults(plan=(Fault.HANG,) * 2 * ATTEMPTS)
    async with serve(create_app(documents, [], faults=faults)) as url, AsyncExitStack() as opened:
        settings = kafka.model_copy(
            update={
                "openai_base_url": url,
                "entity_types": ("Rent",),
                "llm_timeout_seconds": TIMEOUT_SECONDS,
                "llm_attempts": ATTEMPTS,
                "llm_concurrency": 2,
                "stalled_after_seconds": STALLED_SECONDS,
                "kafka_rebalance_timeout_seconds": REBALANCE_SECONDS,
            }
        )
        await create_topics(settings)
        await send(settings, DOCUMENTS, [(d.id.encode(), d.to_json()) for d in documents])
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        member = Running(await wiring.source("extract", publisher, settings, opened), publisher)
        health = TestClient(health_app([member.source.progress], STALLED_SECONDS))
        unhealthy: list[Any] = []
        letters: list[DeadLetter] = []

        async def look() -> None:
            while True:
                answer = await asyncio.to_thread(health.get, "/health")
                # Joining the group takes longer than the short limit of this test.
                stalled = answer.status_code != 200 and answer.json()["in_flight"]["extract"]
                unhealthy.extend([answer.json()] if stalled else [])
                await asyncio.sleep(0.2)

        looking = asyncio.create_task(look())
        try:
            while len(letters) < 2:
                assert not member.task.done()
                found = await all_records(settings, DEAD_LETTERS)
                letters = [DeadLetter.model_validate_json(record.value) for record in found]
                await asyncio.sleep(0.2)
            await until(lambda: not member.source.progress.outstanding, "the rest", member.task)
        finally:
            looking.cancel()
            await member.stop()
    assert {letter.error for letter in letters} == {"llm_unavailable"}
    assert unhealthy == []
    assert member.source.assignments == 2  # taken up once, given back at the end

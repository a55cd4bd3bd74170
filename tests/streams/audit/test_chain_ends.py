"""Taking up a bookmarked chain reads no block, however long ago its last one was written.

What is counted is the records read, not the time. The embedded broker forgets the metadata of a
commit; a stand-in remembers it there, as Apache Kafka does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, OffsetAndMetadata, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from safepassage.streams.audit import audit_source as module
from safepassage.streams.audit.audit_source import ROLE, ChainEnd, chain_ends
from safepassage.streams.audit.verification import verify
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_group_consumer
from safepassage.streams.kafka.records import Record
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, AUDIT, QUARANTINE
from tests.streams.broker import send
from tests.streams.judged import publish, verdict

from .test_audit import auditing, recorded

LONG_AGO = 600
"""Blocks of other chains."""


@dataclass
class Kept:
    """The metadata of the commits, by group and partition."""

    metadata: dict[tuple[str, TopicPartition], str] = field(default_factory=dict)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Metadata that the broker forgets is remembered."""
    kept = Kept()
    commit, told = AIOKafkaConsumer.commit, AIOKafkaAdminClient.list_consumer_group_offsets

    async def remembering(self: AIOKafkaConsumer, offsets: Any) -> None:
        await commit(self, offsets)
        for tp, committed in offsets.items():
            kept.metadata[self._group_id, tp] = "" if isinstance(committed, int) else committed[1]

    async def reminded(self: AIOKafkaAdminClient, group: str, **options: Any) -> Any:
        return {
            tp: OffsetAndMetadata(offset, metadata or kept.metadata.get((group, tp), ""))
            for tp, (offset, metadata) in (await told(self, group, **options)).items()
        }

    monkeypatch.setattr(AIOKafkaConsumer, "commit", remembering)
    monkeypatch.setattr(AIOKafkaAdminClient, "list_consumer_group_offsets", reminded)
    return kept


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The offsets of the records that were read to find where the chains go on."""
    offsets: list[int] = []
    read_topics = module.read_topics

    async def counting(*arguments: Any, **options: Any) -> AsyncGenerator[Record, None]:
        async for record in read_topics(*arguments, **options):
            offsets.append(record.offset)
            yield record

    monkeypatch.setattr(module, "read_topics", counting)
    return offsets


@pytest.fixture
def settings(kafka: Settings) -> Settings:
    """All chains share one partition of the topic of the chains."""
    return kafka.model_copy(update={"partitions": 1})


async def rested(settings: Settings) -> None:
    """Ten verdicts were recorded, and since then a great many blocks of others."""
    await create_topics(settings)
    await publish(settings, ACCEPTED, [verdict(n) for n in range(10)])
    async with auditing(settings):
        await recorded(settings, 10)
    await send(settings, AUDIT, [(b"others", b"a block")] * LONG_AGO)


async def goes_on(settings: Settings, first: int) -> None:
    """Five more verdicts are recorded by a new auditor, and all of them verify."""
    await publish(settings, ACCEPTED, [verdict(n) for n in range(first, first + 5)])
    async with auditing(settings):
        await recorded(settings, first + 5)
    result = await verify(settings)
    assert (result.verified, result.pending, result.findings) == (first + 5, 0, [])


async def test_a_chain_that_rested_is_taken_up_without_reading_the_whole_topic(
    settings: Settings, kept: Kept, read: list[int]
):
    """`quarantine` holds nothing: a chain that never began is none to look for either."""
    await rested(settings)
    read.clear()
    await goes_on(settings, 10)
    assert read == []


async def test_a_chain_without_a_bookmark_is_found_and_bookmarked(
    settings: Settings, kept: Kept, read: list[int]
):
    """As a tool leaves it, or a broker that forgot the group."""
    await rested(settings)
    await commit(settings, {TopicPartition(settings.topic("accepted"), 0): (10, "")})
    await commit(settings, {TopicPartition(settings.topic("quarantine"), 0): (0, "")})
    read.clear()
    await goes_on(settings, 10)
    assert len(read) > LONG_AGO
    read.clear()
    await goes_on(settings, 15)
    assert read == []


@pytest.mark.parametrize(
    "metadata",
    [
        "of a tool",
        '{"chain":"another-0","entries":7,"hash":"' + "0" * 64 + '"}',
        '{"chain":"%s-0","entries":-1,"hash":"' + "0" * 64 + '"}',
    ],
)
async def test_metadata_that_is_no_bookmark_of_the_chain_is_left_alone(
    settings: Settings, kept: Kept, metadata: str
):
    await create_topics(settings)
    name = settings.topic(QUARANTINE.name)
    tp = TopicPartition(name, 0)
    await commit(settings, {tp: (7, metadata.replace("%s", name))})
    assert await chain_ends(settings, ROLE, [tp]) == {}
    bookmark = ChainEnd(7, "f" * 64, 9).bookmark(f"{name}-0")
    await commit(settings, {tp: (9, bookmark)})
    assert await chain_ends(settings, ROLE, [tp]) == {tp: ChainEnd(7, "f" * 64, 9)}


async def commit(settings: Settings, offsets: dict[TopicPartition, tuple[int, str]]) -> None:
    """As a member of the auditor's group."""
    consumer = new_group_consumer(settings, ROLE)
    consumer.subscribe([tp.topic for tp in offsets])
    try:
        await consumer.start()
        async with asyncio.timeout(40):
            while not consumer.assignment():
                await consumer.getmany(timeout_ms=100)
        await consumer.commit(offsets)
    finally:
        await consumer.stop()

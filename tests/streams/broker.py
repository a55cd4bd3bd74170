"""What the tests put onto the broker, read back from it, and run against it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from safepassage.schemas import Document
from safepassage.streams.delivery.batch_source import BatchSource
from safepassage.streams.delivery.faust_source import FaustSource
from safepassage.streams.delivery.record_outcomes import Role
from safepassage.streams.kafka.clients import connection, new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher, Publisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import Record
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, Topic

from .doubles import delivery_of

PATIENCE_SECONDS = 60.0

NewSource = Callable[[Role, Publisher, Settings], Any]


def batch_source(role: Role, publisher: Publisher, settings: Settings) -> BatchSource:
    return BatchSource(role, delivery_of(role, publisher, settings).handle, settings)


def faust_source(role: Role, publisher: Publisher, settings: Settings) -> FaustSource:
    return FaustSource(role, delivery_of(role, publisher, settings), settings)


async def send(
    settings: Settings,
    topic: Topic,
    values: Iterable[tuple[bytes | None, Any]],
    transaction: str | None = None,
) -> None:
    """Put raw keys and values onto ``topic``, in a transaction of this id where one is given."""
    options = connection(settings)
    producer = (
        AIOKafkaProducer(**options, acks="all", transactional_id=transaction)
        if transaction
        else new_producer(settings)
    )
    try:
        await producer.start()
        async with producer.transaction() if transaction else contextlib.nullcontext():
            sent = [await producer.send(settings.topic(topic.name), v, k) for k, v in values]
            await asyncio.gather(*sent)
    finally:
        await producer.stop()


async def send_documents(
    settings: Settings, ids: Iterable[str], transaction: str | None = None
) -> None:
    """One document for each id, keyed by it."""
    values = [(i.encode(), Document(id=i, text=f"text {i}").to_json()) for i in ids]
    await send(settings, DOCUMENTS, values, transaction)


async def all_records(settings: Settings, *topics: Topic) -> list[Record]:
    """Every record of ``topics`` as they are now."""
    return [record async for record in read_topics(settings, topics)]


async def committed(settings: Settings, role: str, topic: Topic) -> dict[int, int]:
    """The offsets that the role's group has committed, by partition."""
    consumer = AIOKafkaConsumer(
        **connection(settings), group_id=settings.group(role), enable_auto_commit=False
    )
    try:
        await consumer.start()
        offsets = {}
        for partition in range(settings.partitions):
            offset = await consumer.committed(TopicPartition(settings.topic(topic.name), partition))
            offsets[partition] = offset or 0
        return offsets
    finally:
        await consumer.stop()


class Running:
    """A source at work. ``stop`` ends it gracefully, ``kill`` as SIGKILL would: nothing more of
    it reaches the broker."""

    def __init__(self, source: Any, publisher: KafkaPublisher) -> None:
        self.source = source
        self._publisher = publisher
        self._stop = asyncio.Event()
        self.task = asyncio.create_task(source.run(self._stop))

    async def stop(self) -> None:
        self._stop.set()
        try:
            await asyncio.wait_for(self.task, PATIENCE_SECONDS)
        finally:
            await self._publisher.stop()


@asynccontextmanager
async def running(new_source: NewSource, role: Role, settings: Settings) -> AsyncIterator[Running]:
    """The source with a producer of its own, stopped on the way out."""
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    member = Running(new_source(role, publisher, settings), publisher)
    try:
        yield member
    finally:
        await member.stop()


async def until(condition: Callable[[], bool], what: str, *watched: asyncio.Task[Any]) -> None:
    """Wait for ``condition``; a watched task that ends with an error ends the wait with it.

    Raises:
        TimeoutError: it did not come true in time.
    """
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while not condition():
        for task in watched:
            if task.done():
                task.result()
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"waited in vain for {what}")
        await asyncio.sleep(0.02)


def offsets_of(records: Sequence[Record]) -> dict[int, int]:
    """Records by partition."""
    counts: dict[int, int] = {}
    for record in records:
        counts[record.partition] = counts.get(record.partition, 0) + 1
    return counts

"""The role in its process: what is known of the documents is read when partitions are assigned."""

import asyncio
from collections.abc import Collection
from functools import partial

from aiokafka import AIOKafkaConsumer, TopicPartition

from safepassage.streams.delivery.batch_source import BatchSource, Handle, Preparation
from safepassage.streams.delivery.record_outcomes import Role
from safepassage.streams.kafka.reading import read_at
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DOCUMENTS

from .known import MAX_BYTES
from .role import realign_role
from .store import ValuesStore


class RealignSource(BatchSource):
    """A `BatchSource` that knows the documents of its partitions before it handles a record."""

    def __init__(self, role: Role, handle: Handle, settings: Settings, store: ValuesStore) -> None:
        super().__init__(role, handle, settings)
        self._store = store

    async def run(self, stop: asyncio.Event) -> None:
        try:
            await super().run(stop)
        finally:
            self._store.close()

    def _preparation(self, consumer: AIOKafkaConsumer) -> Preparation:
        return self._read_known({tp.partition for tp in consumer.assignment()})

    async def _read_known(self, partitions: Collection[int]) -> dict[TopicPartition, int]:
        self._store.clear()
        await self._store.read(self._settings, partitions)
        return {}


def new_role(store: ValuesStore, settings: Settings) -> Role:
    """The role over the topics that ``settings`` name."""
    return realign_role(
        store,
        partial(read_at, settings),
        accepted=settings.topic(ACCEPTED.name),
        documents=settings.topic(DOCUMENTS.name),
        max_bytes=min(MAX_BYTES, settings.max_record_bytes // 2),
    )

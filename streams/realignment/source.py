"""The role in its process: what is known of the documents is read when partitions are assigned."""

import asyncio
from collections.abc import Collection, Mapping
from functools import partial

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from safepassage.schemas import DocumentValues
from safepassage.streams.delivery.assignment_work import polling_meanwhile
from safepassage.streams.delivery.batch_source import BatchSource
from safepassage.streams.delivery.record_outcomes import Delivery, Role
from safepassage.streams.kafka.reading import read_at, read_topics
from safepassage.streams.kafka.records import event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DOCUMENT_VALUES, DOCUMENTS

from .known import MAX_BYTES
from .role import realign_role
from .store import ValuesStore


class RealignSource(BatchSource):
    """A `BatchSource` that knows the documents of its partitions before it handles a record."""

    def __init__(
        self, role: Role, delivery: Delivery, settings: Settings, store: ValuesStore
    ) -> None:
        super().__init__(role, delivery, settings)
        self._store = store
        self._known = -1  # the rebalance after which the documents were read

    async def run(self, stop: asyncio.Event) -> None:
        try:
            await super().run(stop)
        finally:
            self._store.close()

    async def _take(
        self, consumer: AIOKafkaConsumer, fetched: Mapping[TopicPartition, list[ConsumerRecord]]
    ) -> None:
        while fetched and self._known != self._turn.generation:
            generation = self._turn.generation
            partitions = {tp.partition for tp in consumer.assignment()}
            done, newer = await polling_meanwhile(
                consumer,
                self.progress,
                self._read_known(partitions),
                partial(self._reassigned_since, generation),
            )
            if done:
                self._known = generation
            else:
                fetched = newer
        await super()._take(consumer, fetched)

    def _reassigned_since(self, generation: int) -> bool:
        return self._turn.generation != generation

    async def _read_known(self, partitions: Collection[int]) -> bool:
        self._store.clear()
        async for record in read_topics(
            self._settings, [DOCUMENT_VALUES], partitions=sorted(partitions)
        ):
            if record.value is None:
                self._store.forget((record.key or b"").decode("utf-8", "replace"))
                continue
            known = event_of(record, DocumentValues)
            # A member that was taken for dead may write once more, behind its successor.
            if known and sum(known.reach) >= sum(self._store.get(known.doc_id).reach):
                self._store.put(known)
        return True


def new_role(store: ValuesStore, settings: Settings) -> Role:
    """The role over the topics that ``settings`` name."""
    return realign_role(
        store,
        partial(read_at, settings),
        accepted=settings.topic(ACCEPTED.name),
        documents=settings.topic(DOCUMENTS.name),
        max_bytes=min(MAX_BYTES, settings.max_record_bytes // 2),
    )

"""The plain aiokafka loop of the batched roles: get many, handle, commit exactly that."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalGenerationError, RebalanceInProgressError

from ..kafka.clients import group_member
from ..kafka.erasures_and_seals import protection
from ..kafka.reading import to_record
from ..kafka.records import Record
from ..runtime.progress import Progress
from ..settings import Settings
from ..topics import Topic
from .lag import LagMeter
from .record_outcomes import Role

log = structlog.get_logger(__name__)

POLL_MILLISECONDS = 200
# The partition has another owner by now, who will handle the batch again.
LOST_PARTITIONS = (CommitFailedError, IllegalGenerationError, RebalanceInProgressError)

Fetched = Mapping[TopicPartition, list[ConsumerRecord]]
Preparation = Coroutine[Any, Any, Mapping[TopicPartition, int]]
Handle = Callable[[Sequence[Record]], Awaitable[None]]
"""Does all that follows from some records: what it led to is acknowledged when it returns."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a role reads: the topics, and at most how many records at once."""

    name: str
    topics: tuple[Topic, ...]
    batch: int


class BatchSource:
    """One role on an aiokafka consumer of its own.

    A batch is handled under a lock that a rebalance waits for, so that partitions are given up
    between batches, with everything committed. Fetching is outside of it: aiokafka lets a fetch
    wait for the end of a rebalance, which would wait for the lock.
    """

    def __init__(self, reading: Reading | Role, handle: Handle, settings: Settings) -> None:
        self.reading = reading
        self.progress = Progress(reading.name)
        self._oldest: int | None = None  # of the batch in hand
        self.progress.oldest_timestamp = lambda: self._oldest
        self._handle = handle
        self._settings = settings
        self._lag = LagMeter(self.progress)
        self._committed: dict[TopicPartition, int] = {}
        self._turn = _Turn(settings.kafka_rebalance_timeout_seconds / 2)
        self._prepared = -1  # the generation whose preparation was done

    async def run(self, stop: asyncio.Event) -> None:
        names = [self._settings.topic(topic.name) for topic in self.reading.topics]
        async with group_member(
            self._settings, self.reading.name, names, self._turn, stop
        ) as consumer:
            try:
                while not stop.is_set():
                    fetched = await consumer.getmany(
                        timeout_ms=POLL_MILLISECONDS, max_records=self.reading.batch
                    )
                    self.progress.polled()
                    await self._take(consumer, fetched)
                    await self._commit_positions(consumer)
            finally:
                self._lag.clear()

    def _preparation(self, consumer: AIOKafkaConsumer) -> Preparation | None:
        """What has to be read before the first record of an assignment is handled; it returns
        where to read on in those partitions in which that is not where the group committed."""
        return None

    async def _take(self, consumer: AIOKafkaConsumer, fetched: Fetched) -> None:
        while fetched and self._prepared != self._turn.generation:
            if (work := self._preparation(consumer)) is None:
                break
            fetched = await self._prepare(consumer, work, fetched)
        generation = self._turn.generation
        async with self._turn.lock:
            if fetched and generation == self._turn.generation:
                await self._handle_batch(consumer, fetched)

    async def _prepare(
        self, consumer: AIOKafkaConsumer, work: Preparation, fetched: Fetched
    ) -> Fetched:
        """Wait for ``work``, with the partitions paused, and go where it says; returns what of
        ``fetched`` counts then. A member that does not poll meanwhile is taken for dead: its
        partitions go to the next one, which works as long.

        Where they are assigned anew meanwhile, the work is given up. The first records of the new
        assignment are returned, which a paused consumer cannot have asked for."""
        generation = self._turn.generation
        consumer.pause(*consumer.assignment())
        working = asyncio.create_task(work)
        newer: Fetched = {}
        try:
            while not working.done() and generation == self._turn.generation:
                newer = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
                self.progress.polled()
            if generation != self._turn.generation:
                return newer
            places = working.result()
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            consumer.resume(*consumer.assignment())
        self._prepared = generation
        for tp, offset in places.items():
            consumer.seek(tp, offset)
        return {tp: messages for tp, messages in fetched.items() if tp not in places}

    async def _handle_batch(self, consumer: AIOKafkaConsumer, fetched: Fetched) -> None:
        known = protection(self._settings)
        records = [to_record(one, known) for messages in fetched.values() for one in messages]
        self.progress.delivered(len(records))
        self._oldest = min((record.timestamp for record in records), default=None)
        forfeited = self._turn.forfeited
        await self._handle(records)
        ends = {tp: messages[-1].offset + 1 for tp, messages in fetched.items()}
        if forfeited == self._turn.forfeited:
            await self._commit(consumer, ends)
        self.progress.finished(len(records))
        self._oldest = None

    async def _commit_positions(self, consumer: AIOKafkaConsumer) -> None:
        """Commit what was read without a record, when all that was fetched is done: the marker of
        a transaction counts as lag until it is passed. In a rebalance the positions are behind
        records that were fetched and dropped."""
        generation = self._turn.assigned
        positions = await self._lag.measure(consumer)
        passed = {tp: at for tp, at in positions.items() if at > self._committed.get(tp, at)}
        async with self._turn.lock:
            if passed and generation == self._turn.generation:
                await self._commit(consumer, passed)

    async def _commit(
        self, consumer: AIOKafkaConsumer, offsets: Mapping[TopicPartition, int]
    ) -> None:
        if await commit(consumer, offsets):
            self._committed |= offsets


class _Turn(ConsumerRebalanceListener):  # type: ignore[misc]
    """Whose turn it is: the batch's or the rebalance's. ``generation`` counts the rebalances, so
    that records fetched before one are not handled after it; ``assigned`` is the last one that
    ended, and -1 during one; ``forfeited`` those that did not wait
    for the batch to its end, which then must not commit: the partitions may have gone on in other
    hands, and its offsets would take them back."""

    def __init__(self, patience: float) -> None:
        self.lock = asyncio.Lock()
        self.generation = 0
        self.assigned = 0
        self.forfeited = 0
        self._patience = patience

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self.generation += 1
        self.assigned = -1
        try:
            await asyncio.wait_for(self.lock.acquire(), self._patience)
        except TimeoutError:
            self.forfeited += 1
            log.warning("batch_outlived_its_partitions")
        else:
            self.lock.release()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.assigned = self.generation
        log.info("assigned", partitions=[f"{tp.topic}-{tp.partition}" for tp in assigned])


async def commit(
    consumer: AIOKafkaConsumer, offsets: Mapping[TopicPartition, int | tuple[int, str]]
) -> bool:
    """Commit ``offsets``, with metadata or without; False where a rebalance took them."""
    try:
        await consumer.commit(dict(offsets))
    except LOST_PARTITIONS as error:
        log.warning("commit_lost_to_rebalance", error=type(error).__name__)
        return False
    return True

"""Writes the audit chains, beside the report role.

The consumer group gives each partition, and so each chain, one writer. Where a chain goes on is
read from its last block and not from the group's offsets, so a crash between a block and a
commit leaves neither a gap nor a repetition. A writer that was paused, lost its partition and
writes one more block does no harm: blocks of the same records lead to the same heads.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from schemas import AuditBlock, Verdict
from streams.delivery.batch_source import POLL_MILLISECONDS, commit
from streams.delivery.lag import LagMeter
from streams.delivery.taking_up import Fetched, polling_meanwhile
from streams.kafka.clients import new_group_consumer
from streams.kafka.publisher import Publisher, PublishFailed
from streams.kafka.reading import ends, read_topics, tails, to_record
from streams.kafka.records import (
    Outgoing,
    Received,
    Record,
    Subject,
    UnreadableRecord,
    dead_letter,
    decode,
)
from streams.runtime import metrics
from streams.runtime.errors import OperatorError
from streams.runtime.progress import Progress
from streams.settings import Settings
from streams.topics import AUDIT, DEAD_LETTERS
from streams.verdicts.each_once import Conflict, Deduplicator

from .chain import AUDITED, chain_name, entry_of, fold, genesis

log = structlog.get_logger(__name__)

ROLE = "audit"
BATCH_RECORDS = 1_000
# A block's JSON stays below the smallest record limit that the settings allow.
BLOCK_ENTRIES = 200
# Few verdicts are gathered into one block rather than written one by one.
GATHER_SECONDS = 0.5
# Contradictions come soon after the first: from a redelivery or a second submission.
REMEMBERED_VERDICTS = 200_000
# How far back the last block of a chain is looked for before everything is read.
TAIL_BLOCKS = (500, 20_000)


@dataclass(slots=True)
class _Tail:
    """Where a chain goes on."""

    entries: int
    head: str
    next_offset: int

    def follow(self, block: AuditBlock) -> None:
        """Move on to the end of ``block``, unless it repeats what is behind."""
        end = block.index + len(block.entries)
        if end > self.entries:
            self.entries, self.head = end, block.hash
            self.next_offset = block.entries[-1].source.offset + 1


class AuditSource:
    """One process's share of the chains."""

    def __init__(self, publisher: Publisher, settings: Settings) -> None:
        self.progress = Progress(ROLE)
        self._publisher = publisher
        self._settings = settings
        self._lag = LagMeter(ROLE)
        self._chains: dict[TopicPartition, _Tail] = {}
        self._assigned: set[TopicPartition] | None = None
        self._between_batches = asyncio.Lock()
        self._generation = 0
        self._seen = Deduplicator(REMEMBERED_VERDICTS)

    async def run(self, stop: asyncio.Event) -> None:
        """Write blocks until ``stop`` is set.

        Raises:
            PublishFailed: a block could not be written.
            OperatorError: a topic holds less than was recorded of it.
        """
        consumer = new_group_consumer(self._settings, ROLE)
        names = [self._settings.topic(topic.name) for topic in AUDITED]
        consumer.subscribe(names, listener=_OnRebalance(self))
        await consumer.start()
        try:
            while not stop.is_set():
                if self._assigned is not None:
                    await self._take_up(consumer)
                few = await self._record_batch(consumer) < BLOCK_ENTRIES
                await self._lag.measure(consumer)
                if few:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), GATHER_SECONDS)
        finally:
            self._lag.clear()
            await consumer.stop()

    def reassigned(self, partitions: Iterable[TopicPartition]) -> None:
        """Called by the rebalance listener, while no batch is under way."""
        self._assigned = set(partitions)

    async def settled(self) -> None:
        """Wait, for a bounded time, until no batch is under way; what was fetched is not begun."""
        self._generation += 1
        patience = self._settings.kafka_rebalance_timeout_seconds / 2
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._between_batches.acquire(), patience)
            self._between_batches.release()

    async def _take_up(self, consumer: AIOKafkaConsumer) -> None:
        """Go on behind the last block of every assigned chain."""
        assigned, self._assigned = self._assigned or set(), None
        found, _ = await polling_meanwhile(
            consumer, self.progress, self._tails(assigned), lambda: self._assigned is not None
        )
        if found is None or self._assigned is not None:
            return  # assigned anew meanwhile; what was fetched is read again from the right place
        self._chains, reach = found
        for tp, tail in self._chains.items():
            if tail.next_offset > reach.get(tp, 0):
                raise OperatorError(
                    f"{tp.topic}-{tp.partition} ends at offset {reach.get(tp, 0)}, but was "
                    f"recorded up to {tail.next_offset}: records are gone; see "
                    "`safepassage audit verify`"
                )
            consumer.seek(tp, tail.next_offset)
        if fresh := assigned - self._chains.keys():
            await consumer.seek_to_beginning(*fresh)

    async def _tails(
        self, assigned: Collection[TopicPartition]
    ) -> tuple[dict[TopicPartition, _Tail], dict[TopicPartition, int]]:
        """Where the chains go on, and how far their partitions reach."""
        if not assigned:
            return {}, {}
        return await last_blocks(self._settings, assigned), await ends(self._settings, AUDITED)

    async def _record_batch(self, consumer: AIOKafkaConsumer) -> int:
        # Outside of the lock: a fetch may wait for the end of a rebalance, which waits for that.
        generation = self._generation
        fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS, max_records=BATCH_RECORDS)
        self.progress.polled()
        async with self._between_batches:
            if self._assigned is not None or generation != self._generation or not fetched:
                return 0  # a rebalance came in between: these are read again from the right place
            return await self._record_all(consumer, fetched)

    async def _record_all(self, consumer: AIOKafkaConsumer, fetched: Fetched) -> int:
        generation = self._generation
        count = sum(map(len, fetched.values()))
        self.progress.delivered(count)
        with metrics.timed_batch(ROLE):
            for tp, messages in fetched.items():
                await self._record(tp, [to_record(message) for message in messages])
        metrics.RECORDS.labels(ROLE, "published").inc(count)
        if generation == self._generation:
            reached = {tp: messages[-1].offset + 1 for tp, messages in fetched.items()}
            await commit(consumer, reached)
        self.progress.finished(count)
        return count

    async def _record(self, tp: TopicPartition, records: Sequence[Record]) -> None:
        name = chain_name(tp.topic, tp.partition)
        tail = self._chains.setdefault(tp, _Tail(0, genesis(name).hex(), 0))
        for first in range(0, len(records), BLOCK_ENTRIES):
            part = records[first : first + BLOCK_ENTRIES]
            outgoing, entries = [], []
            for record in part:
                verdict = _verdict(record)
                entries.append(entry_of(record, verdict.event.id if verdict else None))
                outgoing += self._contradiction(verdict)
            block = AuditBlock(
                chain=name,
                index=tail.entries,
                previous=tail.head,
                entries=tuple(entries),
                hash=fold(tail.head, entries),
            )
            if await self._publisher.publish([Outgoing(AUDIT, name, block), *outgoing]):
                raise PublishFailed("the broker refuses a block of the audit chain")
            tail.follow(block)

    def _contradiction(self, verdict: Received[Verdict] | None) -> list[Outgoing]:
        """A dead letter where ``verdict`` says something else than an earlier one of its id."""
        seen = self._seen.admit(verdict) if verdict else None
        if not verdict or not isinstance(seen, Conflict):
            return []
        log.error("verdicts_contradict", verdict_id=seen.verdict_id, detail=str(seen))
        about = Subject(doc_id=verdict.event.doc_id)
        letter = dead_letter(verdict.record, "report", "VerdictConflict", str(seen), about=about)
        return [Outgoing(DEAD_LETTERS, verdict.event.doc_id, letter)]


async def last_blocks(
    settings: Settings, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, _Tail]:
    """Where the chains of ``partitions`` go on; those without any block are left out."""
    wanted = {chain_name(tp.topic, tp.partition): tp for tp in partitions}
    found: dict[TopicPartition, _Tail] = {}
    for blocks in (*TAIL_BLOCKS, None) if wanted else ():
        start = await tails(settings, [AUDIT], blocks) if blocks else None
        async for record in read_topics(settings, [AUDIT], start=start):
            with contextlib.suppress(UnreadableRecord):
                block = decode(record, AuditBlock).event
                if block.chain in wanted and block.entries:
                    found.setdefault(wanted[block.chain], _Tail(0, "", 0)).follow(block)
        if len(found) == len(wanted):
            break
    return found


def _verdict(record: Record) -> Received[Verdict] | None:
    try:
        return decode(record, Verdict)
    except UnreadableRecord:
        return None


class _OnRebalance(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, source: AuditSource) -> None:
        self._source = source

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        await self._source.settled()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._source.reassigned(assigned)

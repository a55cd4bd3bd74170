"""The audit role: writes the audit chains.

The consumer group gives each partition, and so each chain, one writer, however many workers there
are. The bookmark in the group's offsets tells where a chain goes on
(`safepassage.streams.audit.chain_ends`), so a crash between a block and a commit leaves no gap. A
writer that was paused, lost its partition and writes one more block does no harm: blocks of the
same records lead to the same heads.
"""

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from safepassage.schemas import AuditBlock, Verdict
from safepassage.streams.delivery.assignment_work import Fetched, polling_meanwhile
from safepassage.streams.delivery.batch_source import POLL_MILLISECONDS, commit
from safepassage.streams.delivery.dead_letter_event import Subject, dead_letter, outgoing_letter
from safepassage.streams.delivery.lag import LagMeter
from safepassage.streams.kafka.membership import group_member
from safepassage.streams.kafka.protection import protection
from safepassage.streams.kafka.publisher import Publisher, PublishFailed
from safepassage.streams.kafka.reading import ends, to_record
from safepassage.streams.kafka.records import Outgoing, Received, Record, UnreadableRecord, decode
from safepassage.streams.runtime import metrics
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.runtime.signals import pause
from safepassage.streams.sealing.frame import is_sealed
from safepassage.streams.settings import Settings
from safepassage.streams.topics import AUDIT, RoleName
from safepassage.streams.verdicts.deduplication import Conflict, Deduplicator

from .chain import AUDITED, chain_name, entry_of, fold
from .chain_ends import ChainEnd, chain_ends

log = structlog.get_logger(__name__)

ROLE: RoleName = "audit"
BATCH_RECORDS = 1_000
# A block's JSON stays below the smallest record limit that the settings allow.
BLOCK_ENTRIES = 200
# Few verdicts are gathered into one block rather than written one by one.
GATHER_SECONDS = 0.5
# Contradictions come soon after the first: from a redelivery or a second submission.
REMEMBERED_VERDICTS = 200_000


class AuditSource(ConsumerRebalanceListener):  # type: ignore[misc]
    """One process's share of the chains."""

    def __init__(self, publisher: Publisher, settings: Settings) -> None:
        self.progress = Progress(ROLE)
        metrics.LANES.labels(ROLE).set(1)
        self._publisher = publisher
        self._settings = settings
        self._lag = LagMeter(self.progress)
        self._chains: dict[TopicPartition, ChainEnd] = {}
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
        names = [self._settings.topic(topic.name) for topic in AUDITED]
        async with group_member(self._settings, ROLE, names, self, stop) as consumer:
            try:
                while not stop.is_set():
                    if self._assigned is not None:
                        await self._take_up(consumer)
                    few = await self._record_batch(consumer) < BLOCK_ENTRIES
                    await self._lag.measure(consumer)
                    if few:
                        await pause(stop, GATHER_SECONDS)
            finally:
                self._lag.clear()
                self._seen.close()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Go on with these, once no batch is under way."""
        self._assigned = set(assigned)

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Wait, for a bounded time, until no batch is under way; what was fetched is not begun."""
        self._generation += 1
        patience = self._settings.kafka_rebalance_timeout_seconds / 2
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._between_batches.acquire(), patience)
            self._between_batches.release()

    async def _take_up(self, consumer: AIOKafkaConsumer) -> None:
        """Go on where every assigned chain ends, and bookmark where."""
        generation = self._generation
        assigned, self._assigned = self._assigned or set(), None
        found, _ = await polling_meanwhile(
            consumer, self.progress, self._ends(assigned), lambda: self._assigned is not None
        )
        if found is None or self._assigned is not None:
            return  # assigned anew meanwhile; what was fetched is read again from the right place
        self._chains, reach = found
        for tp, end in self._chains.items():
            if end.next_offset > reach.get(tp, 0):
                raise OperatorError(
                    f"{tp.topic}-{tp.partition} ends at offset {reach.get(tp, 0)}, but was "
                    f"recorded up to {end.next_offset}: records are gone; see "
                    "`safepassage audit verify`"
                )
            consumer.seek(tp, end.next_offset)
        begun = {tp for tp, end in self._chains.items() if end.entries}
        if fresh := assigned - begun:
            await consumer.seek_to_beginning(*fresh)
        async with self._between_batches:
            if assigned and self._assigned is None and generation == self._generation:
                await self._commit(consumer, assigned)

    async def _ends(
        self, assigned: Collection[TopicPartition]
    ) -> tuple[dict[TopicPartition, ChainEnd], dict[TopicPartition, int]]:
        """Where the chains go on, and how far their partitions reach."""
        if not assigned:
            return {}, {}
        found = await chain_ends(self._settings, ROLE, assigned)
        return found, await ends(self._settings, AUDITED)

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
            known = protection(self._settings)
            for tp, messages in fetched.items():
                await self._record(tp, [to_record(message, known) for message in messages])
        metrics.RECORDS.labels(ROLE, "published").inc(count)
        if generation == self._generation:
            await self._commit(consumer, fetched)
        self.progress.finished(count)
        return count

    async def _commit(self, consumer: AIOKafkaConsumer, chains: Iterable[TopicPartition]) -> None:
        """Commit the ends of ``chains``, bookmarked. One that has not begun is as good to know."""
        bookmarks = {}
        for tp in chains:
            name = chain_name(tp.topic, tp.partition)
            bookmarks[tp] = self._chains.get(tp, ChainEnd.of_nothing(name)).bookmark(name)
        await commit(consumer, bookmarks)

    async def _record(self, tp: TopicPartition, records: Sequence[Record]) -> None:
        name = chain_name(tp.topic, tp.partition)
        end = self._chains.setdefault(tp, ChainEnd.of_nothing(name))
        for first in range(0, len(records), BLOCK_ENTRIES):
            part = records[first : first + BLOCK_ENTRIES]
            outgoing, entries = [], []
            for record in part:
                verdict = _verdict(record)
                # An id is made of the document's text: what is sealed is named by its place alone.
                named = verdict is not None and not is_sealed(record.value)
                entries.append(entry_of(record, verdict.event.id if verdict and named else None))
                outgoing += self._contradiction(verdict)
            block = AuditBlock(
                chain=name,
                index=end.entries,
                previous=end.head,
                entries=tuple(entries),
                hash=fold(end.head, entries),
            )
            if await self._publisher.publish([Outgoing(AUDIT, name, block), *outgoing]):
                raise PublishFailed("the broker refuses a block of the audit chain")
            end.follow(block)

    def _contradiction(self, verdict: Received[Verdict] | None) -> list[Outgoing]:
        """A dead letter where ``verdict`` says something else than an earlier one of its id."""
        seen = self._seen.admit(verdict) if verdict else None
        if not verdict or not isinstance(seen, Conflict):
            return []
        log.error("verdicts_contradict", verdict_id=seen.verdict_id, detail=str(seen))
        about = Subject(doc_id=verdict.event.doc_id)
        letter = dead_letter(verdict.record, "report", "VerdictConflict", str(seen), about=about)
        return [outgoing_letter(letter, verdict.record)]


def _verdict(record: Record) -> Received[Verdict] | None:
    try:
        return decode(record, Verdict)
    except UnreadableRecord:
        return None

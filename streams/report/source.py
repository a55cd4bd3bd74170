"""The report role: one summary per document, once all its verdicts are in.

Its state is nothing but records that are not committed yet: after a crash they are delivered
again, and the reports already written tell which documents were done.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from schemas import DocumentReport, Event
from streams.delivery.batch_source import POLL_MILLISECONDS, commit
from streams.delivery.ledger import OffsetLedger
from streams.kafka.clients import new_group_consumer
from streams.kafka.publisher import Publisher, PublishFailed
from streams.kafka.reading import read_topics, to_record
from streams.kafka.records import Outgoing, Record, UnreadableRecord, decode
from streams.runtime.progress import Progress
from streams.settings import Settings
from streams.topics import READ_BY, REPORTS, RoleName

from .document_completion import Closed, Tally, place

log = structlog.get_logger(__name__)

ROLE: RoleName = "report"
BATCH_RECORDS = 1_000


class ReportSource:
    """Reads four topics whose partitions are assigned together, by document."""

    def __init__(self, publisher: Publisher, settings: Settings) -> None:
        self.progress = Progress(ROLE)
        self._publisher = publisher
        self._settings = settings
        self._tally = Tally()
        self._ledger: OffsetLedger[TopicPartition] = OffsetLedger()
        self._models = {settings.topic(topic.name): topic.model for topic in READ_BY[ROLE]}
        self._assigned: set[TopicPartition] | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Report until ``stop`` is set.

        Raises:
            PublishFailed: reports could not be written; nothing of theirs is committed.
        """
        consumer = new_group_consumer(self._settings, ROLE)
        consumer.subscribe(list(self._models), listener=_OnAssignment(self))
        await consumer.start()
        try:
            while not stop.is_set():
                await self._read_batch(consumer)
        finally:
            await consumer.stop()

    def reassigned(self, partitions: Iterable[TopicPartition]) -> None:
        """Called by the rebalance listener: everything uncommitted is delivered again, and until
        then nothing is committed, which could take back what others have done meanwhile."""
        self._assigned = set(partitions)

    async def _start_over(self) -> None:
        assigned, self._assigned = self._assigned or set(), None
        self._ledger.forget(self._ledger.partitions())
        self._tally.clear()
        partitions = sorted({tp.partition for tp in assigned})
        if partitions:
            async for record in read_topics(self._settings, [REPORTS], partitions=partitions):
                with contextlib.suppress(UnreadableRecord):
                    done = decode(record, DocumentReport).event.document.coordinates
                    if done:
                        self._tally.already_reported(done)

    async def _read_batch(self, consumer: AIOKafkaConsumer) -> None:
        fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS, max_records=BATCH_RECORDS)
        self.progress.polled()
        if self._assigned is not None:
            # What was fetched is of the new assignment already: a fetch waits for rebalances.
            await self._start_over()
        closed: list[Closed] = []
        for tp, messages in fetched.items():
            for message in messages:
                self._ledger.delivered(tp, message.offset)
                closed += self._count(to_record(message))
        if closed:
            await self._publish(closed)
        if self._assigned is None:
            await self._commit(consumer)

    def _count(self, record: Record) -> list[Closed]:
        try:
            event: Event = decode(record, self._models[record.topic]).event
        except UnreadableRecord:
            return [Closed(None, [place(record.coordinates)])]
        return self._tally.add(record.coordinates, event)

    async def _publish(self, closed: Sequence[Closed]) -> None:
        reports = [c.report for c in closed if c.report]
        for report in reports:
            log.info(
                "document_done",
                doc_id=report.document.id,
                **report.model_dump(include={"extractions", "accepted", "quarantined"}),
                undetermined=report.undetermined,
            )
        if await self._publisher.publish([Outgoing(REPORTS, r.document.id, r) for r in reports]):
            raise PublishFailed("the broker refuses a report")
        for topic, partition, offset in (held for c in closed for held in c.held):
            self._ledger.finished(TopicPartition(topic, partition), offset)

    async def _commit(self, consumer: AIOKafkaConsumer) -> None:
        offsets = {
            tp: offset
            for tp in self._ledger.partitions()
            if (offset := self._ledger.committable(tp)) is not None
        }
        if offsets and await commit(consumer, offsets):
            for tp, offset in offsets.items():
                self._ledger.committed(tp, offset)


class _OnAssignment(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, source: ReportSource) -> None:
        self._source = source

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """What is not committed is somebody else's from now on."""
        self._source.reassigned(())

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._source.reassigned(assigned)

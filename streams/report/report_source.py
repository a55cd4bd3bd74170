"""The report role: one summary per document, once all its verdicts are in.

Its state is nothing but records that are not committed yet: after a crash they are delivered
again, and the reports already written tell which documents were done.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition

from safepassage.schemas import Coordinates, DocumentReport, Event

from ..delivery.batch_source import BatchSource, Preparation, Reading, commit
from ..delivery.ledger import OffsetLedger
from ..kafka.erasures_and_seals import protection
from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.reading import read_topics, readable_end, tails
from ..kafka.records import Outgoing, Record, UnreadableRecord, decode, event_of, outcome_of
from ..runtime import metrics
from ..settings import Settings
from ..topics import MANIFESTS, READ_BY, REPORTS, RoleName
from .document_completion import GIVE_UP_DOCUMENTS, Closed, DocumentCompletion, place

log = structlog.get_logger(__name__)

ROLE: RoleName = "report"
BATCH_RECORDS = 1_000
# Of a partition, read when it is taken up.
TAIL_REPORTS = 4 * GIVE_UP_DOCUMENTS


class ReportSource(BatchSource):
    """Reads four topics whose partitions are assigned together, by document."""

    def __init__(
        self, publisher: Publisher, settings: Settings, *, distance: int = GIVE_UP_DOCUMENTS
    ) -> None:
        super().__init__(Reading(ROLE, READ_BY[ROLE], BATCH_RECORDS), self._add, settings)
        metrics.LANES.labels(ROLE).set(1)
        self._publisher = publisher
        self._ledger: OffsetLedger[TopicPartition] = OffsetLedger()
        self._models = {settings.topic(topic.name): topic.model for topic in READ_BY[ROLE]}
        self._tally = DocumentCompletion(self._models, distance=distance)
        self._holding = False  # no more manifests are read for now
        self._erased: list[str] = []

    async def run(self, stop: asyncio.Event) -> None:
        unlisten = protection(self._settings).listen(self._erased.append)
        try:
            await super().run(stop)
        finally:
            unlisten()

    def _preparation(self, consumer: AIOKafkaConsumer) -> Preparation:
        return self._take_up({tp.partition for tp in consumer.assignment()})

    async def _take_up(self, partitions: Collection[int]) -> dict[TopicPartition, int]:
        """Start afresh: everything uncommitted is delivered again."""
        self._ledger.forget(self._ledger.partitions())
        self._tally.clear()
        self._holding = False
        for records in await self._reported(partitions):
            self._tally.already_reported(*records)
        return {}

    async def _reported(self, partitions: Collection[int]) -> list[list[Coordinates]]:
        """The records of the documents reported last: no more can have been since the oldest
        record that is not committed, or it would have been given up."""
        documents: list[list[Coordinates]] = []
        if not partitions:
            return documents
        start = await tails(self._settings, [REPORTS], TAIL_REPORTS)
        async for record in read_topics(
            self._settings, [REPORTS], start=start, partitions=sorted(partitions)
        ):
            report = event_of(record, DocumentReport)
            if report and (last := report.document.coordinates):
                documents.append([*report.earlier_parts, last])
        return documents

    async def _add(self, records: Sequence[Record]) -> None:
        with metrics.timed_batch(ROLE):
            closed: list[Closed] = []
            for record in records:
                tp = TopicPartition(record.topic, record.partition)
                self._ledger.delivered(tp, record.offset)
                closed += self._count(record)
            await self._publish(closed)

    async def _commit_positions(self, consumer: AIOKafkaConsumer) -> None:
        """Close what waits for nothing any more, and commit what is done."""
        positions = await self._lag.measure(consumer)
        async with self._turn.lock:
            if self._prepared != self._turn.assigned:
                return
            highs = {tp: readable_end(consumer, tp) for tp in positions}
            ended = [tp for tp, high in highs.items() if high is not None and positions[tp] >= high]
            closed = self._tally.at_ends((tp.topic, tp.partition) for tp in ended)
            while self._erased:
                closed += self._tally.erase(self._erased.pop())
            await self._publish(closed)
            await self._commit(consumer, {})
            self._hold_manifests(consumer)

    def _hold_manifests(self, consumer: AIOKafkaConsumer) -> None:
        name = self._settings.topic(MANIFESTS.name)
        manifests = [tp for tp in consumer.assignment() if tp.topic == name]
        if manifests and self._tally.full != self._holding:
            self._holding = self._tally.full
            (consumer.pause if self._holding else consumer.resume)(*manifests)

    def _count(self, record: Record) -> list[Closed]:
        try:
            event: Event = decode(record, self._models[record.topic]).event
        except UnreadableRecord as error:
            metrics.RECORDS.labels(ROLE, outcome_of(error)).inc()
            return [Closed(None, [place(record.coordinates)])]
        metrics.RECORDS.labels(ROLE, "counted").inc()
        return self._tally.add(record.coordinates, event)

    async def _publish(self, closed: Sequence[Closed]) -> None:
        for gone in [c for c in closed if c.given_up]:
            document = gone.report.document.id if gone.report else None
            metrics.GIVEN_UP.labels("reported" if gone.report else "without_manifest").inc()
            log.warning("document_given_up", doc_id=document, records=len(gone.held))
        reports = [c.report for c in closed if c.report]
        for report in reports:
            log.info(
                "document_done",
                doc_id=report.document.id,
                **report.model_dump(include={"extractions", "accepted", "quarantined"}),
                undetermined=report.undetermined,
                missing=report.missing,
            )
        outgoing = [Outgoing(REPORTS, report.document.id, report) for report in reports]
        if outgoing and await self._publisher.publish(outgoing):
            raise PublishFailed("the broker refuses a report")
        for topic, partition, offset in (held for c in closed for held in c.held):
            self._ledger.finished(TopicPartition(topic, partition), offset)

    async def _commit(
        self, consumer: AIOKafkaConsumer, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """Commit what is done of all that was read. Until an assignment was taken up nothing is
        committed: it could take back what others have done meanwhile."""
        done = {
            tp: offset
            for tp in self._ledger.partitions()
            if (offset := self._ledger.committable(tp)) is not None
        }
        current = self._prepared == self._turn.assigned
        if done and current and await commit(consumer, done):
            for tp, offset in done.items():
                self._ledger.committed(tp, offset)

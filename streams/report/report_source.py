"""The report role: one summary per document, once all its verdicts are in.

Its state is nothing but records that are not committed yet: after a crash they are delivered
again, and the reports already written tell which documents were done.
"""

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import IllegalStateError

from safepassage.schemas import Coordinates, DocumentReport, Event

from ..delivery.batch_source import POLL_MILLISECONDS, Fetched, commit, polling_meanwhile
from ..delivery.lag import LagMeter
from ..delivery.ledger import OffsetLedger
from ..kafka.clients import group_member
from ..kafka.erasures_and_seals import protection
from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.reading import read_topics, readable_end, tails, to_record
from ..kafka.records import Outgoing, Record, UnreadableRecord, decode, event_of, outcome_of
from ..runtime import metrics
from ..runtime.progress import Progress
from ..settings import Settings
from ..topics import MANIFESTS, READ_BY, REPORTS, RoleName
from .document_completion import GIVE_UP_DOCUMENTS, Closed, DocumentCompletion, place

log = structlog.get_logger(__name__)

ROLE: RoleName = "report"
BATCH_RECORDS = 1_000
# Of a partition, read when it is taken up.
TAIL_REPORTS = 4 * GIVE_UP_DOCUMENTS


class ReportSource(ConsumerRebalanceListener):  # type: ignore[misc]
    """Reads four topics whose partitions are assigned together, by document."""

    def __init__(
        self, publisher: Publisher, settings: Settings, *, distance: int = GIVE_UP_DOCUMENTS
    ) -> None:
        self.progress = Progress(ROLE)
        metrics.LANES.labels(ROLE).set(1)
        self._publisher = publisher
        self._settings = settings
        self._lag = LagMeter(self.progress)
        self._ledger: OffsetLedger[TopicPartition] = OffsetLedger()
        self._tally = DocumentCompletion(
            [settings.topic(topic.name) for topic in READ_BY[ROLE]], distance=distance
        )
        self._models = {settings.topic(topic.name): topic.model for topic in READ_BY[ROLE]}
        self._assigned: set[TopicPartition] | None = None
        self._partitions: set[TopicPartition] = set()
        self._holding = False  # no more manifests are read for now
        self._erased: list[str] = []

    async def run(self, stop: asyncio.Event) -> None:
        unlisten = protection(self._settings).listen(self._erased.append)
        names = list(self._models)
        async with group_member(self._settings, ROLE, names, self, stop) as consumer:
            try:
                while not stop.is_set():
                    await self._read_batch(consumer)
                    await self._lag.measure(consumer)
            finally:
                unlisten()
                self._lag.clear()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Everything uncommitted is delivered again, and until then nothing is committed, which
        could take back what others have done meanwhile."""
        self._assigned = set(assigned)

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """What is not committed is somebody else's from now on."""
        self._assigned = set()

    async def _take_up(self, consumer: AIOKafkaConsumer, fetched: Fetched) -> Fetched:
        """Start afresh with a new assignment; returns the first records of the latest one."""
        while self._assigned is not None:
            assigned, self._assigned = self._assigned, None
            self._ledger.forget(self._ledger.partitions())
            self._tally.clear()
            self._partitions, self._holding = assigned, False
            reported, newer = await polling_meanwhile(
                consumer,
                self.progress,
                self._reported({tp.partition for tp in assigned}),
                lambda: self._assigned is not None,
            )
            for records in reported or ():
                self._tally.already_reported(*records)
            fetched = newer or fetched
        return fetched

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

    async def _read_batch(self, consumer: AIOKafkaConsumer) -> None:
        self._hold_manifests(consumer)
        fetched: Fetched = await consumer.getmany(
            timeout_ms=POLL_MILLISECONDS, max_records=BATCH_RECORDS
        )
        self.progress.polled()
        # What was fetched is of the new assignment already: a fetch waits for rebalances.
        fetched = await self._take_up(consumer, fetched)
        with metrics.timed_batch(ROLE) if fetched else contextlib.nullcontext():
            closed: list[Closed] = []
            for tp, messages in fetched.items():
                for message in messages:
                    self._ledger.delivered(tp, message.offset)
                    closed += self._count(to_record(message, protection(self._settings)))
            closed += self._tally.at_ends(await self._at_ends(consumer))
            erased, self._erased = self._erased, []
            for doc_id in erased:
                closed += self._tally.erase(doc_id)
            if closed:
                await self._publish(closed)
            if self._assigned is None:
                await self._commit(consumer)

    def _hold_manifests(self, consumer: AIOKafkaConsumer) -> None:
        name = self._settings.topic(MANIFESTS.name)
        manifests = [tp for tp in self._partitions if tp.topic == name]
        if self._assigned is None and manifests and self._tally.full != self._holding:
            self._holding = self._tally.full
            (consumer.pause if self._holding else consumer.resume)(*manifests)

    async def _at_ends(self, consumer: AIOKafkaConsumer) -> list[tuple[str, int]]:
        ended = []
        for tp in self._partitions:
            high = readable_end(consumer, tp)
            with contextlib.suppress(IllegalStateError):  # taken away meanwhile
                if high is not None and await consumer.position(tp) >= high:
                    ended.append((tp.topic, tp.partition))
        return ended

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

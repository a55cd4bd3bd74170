"""The realign role: takes over what was accepted of a document into its new version.

A version that asks for no LLM comes on ``versions``. Each value that is in the version before
becomes an extraction of the new text, with its quote, and goes the way of all others. Every verdict
on one of them, a person's too, is told once more as a `Realignment`: what it means for the value
accepted before.

Two races are settled here. A verdict of an earlier version that comes after the new version is
taken over then. What is redelivered is passed over, since `DocumentValues` says how far the topics
were read, and is written after everything that follows from them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition

from safepassage.schemas import (
    CLAIM_TYPE,
    Coordinates,
    DocumentRef,
    DocumentValues,
    DocumentVersion,
    Extraction,
    ExtractionManifest,
    Verdict,
)
from safepassage.schemas.realignment import KnownValue, realignment, taken_over, unreadable_former
from safepassage.schemas.rivals import with_rivals

from ..delivery.batch_source import BatchSource, Handle, Preparation
from ..delivery.record_outcomes import Outcome, Role
from ..kafka.reading import read_at
from ..kafka.records import Outgoing, Received, Record, event_of
from ..kafka.topic_table import TopicTable
from ..settings import Settings
from ..topics import (
    ACCEPTED,
    DOCUMENT_VALUES,
    DOCUMENTS,
    EXTRACTIONS,
    MANIFESTS,
    READ_BY,
    REALIGNMENTS,
)
from .known_values import MAX_BYTES, Told, noted, requested, within


class ValuesStore(TopicTable[DocumentValues]):
    """The latest of each document, by its id."""

    topic = DOCUMENT_VALUES
    model = DocumentValues

    def key_of(self, event: DocumentValues) -> str:
        return event.doc_id

    def takes(self, event: DocumentValues) -> bool:
        """A member that was taken for dead may write once more, behind its successor."""
        return sum(event.reach) >= sum(self.of(event.doc_id).reach)

    def of(self, doc_id: str) -> DocumentValues:
        return self.get(doc_id) or DocumentValues(doc_id=doc_id)


log = structlog.get_logger(__name__)

BATCH_RECORDS = 1_000

ReadAt = Callable[[Sequence[Coordinates]], Awaitable[Mapping[Coordinates, Record]]]
"""Reads the records at these coordinates; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class _TakeOver:
    """The values of a version that is to be aligned again, and their verdicts' places."""

    document: DocumentRef
    values: Mapping[Coordinates, KnownValue]


@dataclass(frozen=True, slots=True)
class _Realigning:
    """``accepted`` and ``documents`` are what these topics are called on the broker, ``max_bytes``
    is how large the record of what is known of a document may be."""

    store: ValuesStore
    read_at: ReadAt
    accepted: str
    documents: str
    max_bytes: int

    async def step(self, batch: Sequence[Received[Verdict | DocumentVersion]]) -> list[Outcome]:
        known: dict[str, DocumentValues] = {}
        last: dict[str, int] = {}
        made: dict[str, list[Outgoing | _TakeOver]] = defaultdict(list)
        for position in in_time([received.record for received in batch]):
            received = batch[position]
            if (doc_id := self._about(received.event)) is not None:
                before = known.get(doc_id) or self.store.of(doc_id)
                known[doc_id], follows = self._follows(before, received)
                made[doc_id] += follows
                last[doc_id] = position
        every = [one for ones in made.values() for one in ones]
        wanted = [at for one in every if isinstance(one, _TakeOver) for at in one.values]
        verdicts = await self.read_at(wanted) if wanted else {}
        outcomes: list[list[Outgoing]] = [[] for _ in batch]
        for doc_id, position in last.items():
            for one in made[doc_id]:
                outcomes[position] += (
                    _extractions(one, verdicts) if isinstance(one, _TakeOver) else [one]
                )
            if known[doc_id] != self.store.of(doc_id):
                known[doc_id] = within(known[doc_id], self.max_bytes)
                outcomes[position].append(Outgoing(DOCUMENT_VALUES, doc_id, known[doc_id]))
        for values in known.values():
            self.store.put(values)
        return list(outcomes)

    def _about(self, event: Verdict | DocumentVersion) -> str | None:
        """The document; None for claims, whose documents are answers."""
        if isinstance(event, Verdict) and event.entity_type == CLAIM_TYPE:
            return None
        ref = event.document
        of_a_document = ref and ref.coordinates and ref.coordinates.topic == self.documents
        return ref.id if ref and of_a_document else None

    def _follows(
        self, before: DocumentValues, received: Received[Verdict | DocumentVersion]
    ) -> tuple[DocumentValues, list[Outgoing | _TakeOver]]:
        record, event = received.record, received.event
        if isinstance(event, DocumentVersion):
            after, values = requested(before, event.document, record.offset)
            if values is None:
                return after, []
            place = Coordinates(topic=self.accepted, partition=record.partition, offset=0)
            where = {place.model_copy(update={"offset": v.accepted}): v for v in values}
            return after, [_TakeOver(event.document, where)]
        told = Told(event, record.coordinates, record.timestamp, self.accepted)
        after, late = noted(before, told)
        if after is before:
            return after, []
        follows: list[Outgoing | _TakeOver] = []
        if said := realignment(event):
            follows.append(Outgoing(REALIGNMENTS, said.doc_id, said))
        if late and late.document:
            follows += _published(late.document, [late])
        return after, follows


def realign_role(store: ValuesStore, settings: Settings, read: ReadAt | None = None) -> Role:
    """``versions`` to ``extractions`` and a manifest; verdicts on them to ``realignments``."""
    step = _Realigning(
        store,
        read or partial(read_at, settings),
        accepted=settings.topic(ACCEPTED.name),
        documents=settings.topic(DOCUMENTS.name),
        max_bytes=min(MAX_BYTES, settings.max_record_bytes // 2),
    ).step
    return Role("realign", "report", READ_BY["realign"], step, batch=BATCH_RECORDS)


def in_time(records: Sequence[Record]) -> list[int]:
    """The positions of ``records`` in the order in which they were written, as far as their clocks
    agree; those of one partition stay in order regardless of what these say."""
    reached: dict[tuple[str, int], int] = {}
    when = []
    for record in records:
        place = record.topic, record.partition
        reached[place] = max(reached.get(place, 0), record.timestamp)
        when.append(reached[place])
    return sorted(range(len(records)), key=when.__getitem__)


def _extractions(wanted: _TakeOver, records: Mapping[Coordinates, Record]) -> list[Outgoing]:
    found: dict[str, Extraction] = {}
    lost: list[KnownValue] = []
    for place, known in wanted.values.items():
        record = records.get(place)
        verdict = event_of(record, Verdict) if record else None
        if verdict and verdict.decision == "accepted":
            extraction = taken_over(verdict, wanted.document, place)
            found[extraction.id] = extraction
        else:  # its record is gone, or is another
            lost.append(known)
    log.info("taken_over", doc_id=wanted.document.id, extractions=len(found), unreadable=len(lost))
    told = [unreadable_former(known, wanted.document) for known in lost]
    return [
        *(Outgoing(REALIGNMENTS, one.doc_id, one) for one in told),
        *_published(wanted.document, with_rivals(list(found.values()))),
    ]


def _published(document: DocumentRef, extractions: Sequence[Extraction]) -> list[Outgoing]:
    manifest = ExtractionManifest(
        document=document, extraction_ids=tuple([e.id for e in extractions]), realigned=True
    )
    return [
        *(Outgoing(EXTRACTIONS, document.id, extraction) for extraction in extractions),
        Outgoing(MANIFESTS, document.id, manifest),
    ]


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

"""The audit role: writes the audit chains.

The consumer group gives each partition, and so each chain, one writer. It commits the chain's head
as the metadata of each offset: a bookmark. A chain without one, as before the first commit, is
looked for in the whole topic, once. A bookmark that is behind its chain does no harm, nor does a
paused writer that writes one more block: blocks of the same records lead to the same heads.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from pydantic import ValidationError

from safepassage.schemas import AuditBlock, AuditEntry, Verdict

from ..delivery.batch_source import BatchSource, Preparation, Reading, commit
from ..delivery.dead_letter_event import Subject, dead_letter, outgoing_letter
from ..kafka.admin import committed_offsets
from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.reading import ends, read_topics
from ..kafka.records import Outgoing, Received, Record, event_of
from ..runtime import metrics
from ..runtime.errors import OperatorError
from ..sealing.frame import is_sealed
from ..settings import Settings
from ..topics import AUDIT, RoleName
from ..verdicts.deduplication import Conflict, Deduplicator
from .chain import AUDITED, Head, chain_name, fold, genesis, value_digest

log = structlog.get_logger(__name__)

ROLE: RoleName = "audit"
BATCH_RECORDS = 1_000
# A block's JSON stays below the smallest record limit that the settings allow.
BLOCK_ENTRIES = 200
# Few verdicts are gathered into one block rather than written one by one.
GATHER_SECONDS = 0.5
# Contradictions come soon after the first: from a redelivery or a second submission.
REMEMBERED_VERDICTS = 200_000


@dataclass(slots=True)
class ChainEnd:
    """Where a chain goes on: after ``entries``, that lead to ``head``, at ``next_offset``."""

    entries: int
    head: str
    next_offset: int

    @classmethod
    def of_nothing(cls, chain: str) -> ChainEnd:
        return cls(0, genesis(chain).hex(), 0)

    def follow(self, block: AuditBlock) -> None:
        """Move on to the end of ``block``, unless it repeats what is behind."""
        end = block.index + len(block.entries)
        if end > self.entries:
            self.entries, self.head = end, block.hash
            self.next_offset = block.entries[-1].source.offset + 1

    def bookmark(self, chain: str) -> str:
        """What to commit with the offset, from which `chain_ends` knows it again."""
        return Head(chain=chain, entries=self.entries, hash=self.head).model_dump_json()


async def chain_ends(
    settings: Settings, group: str, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, ChainEnd]:
    """Where chains go on, by the bookmarks of ``group``; those not begun may be left out."""
    committed = (await committed_offsets(settings, {group: list(partitions)}))[group]
    found: dict[TopicPartition, ChainEnd] = {}
    for tp, (offset, metadata) in committed.items():
        with contextlib.suppress(ValidationError):  # committed by a tool, or forgotten
            head = Head.model_validate_json(metadata)
            if head.chain == chain_name(tp.topic, tp.partition):
                found[tp] = ChainEnd(head.entries, head.hash, offset)
    unknown = {chain_name(tp.topic, tp.partition): tp for tp in partitions if tp not in found}
    if unknown:
        log.info("chains_looked_for_in_all_blocks", chains=len(unknown))
        async for record in read_topics(settings, [AUDIT]):
            block = event_of(record, AuditBlock)
            if block and block.chain in unknown and block.entries:
                end = found.setdefault(unknown[block.chain], ChainEnd.of_nothing(block.chain))
                end.follow(block)
    return found


class AuditSource(BatchSource):
    """One process's share of the chains."""

    def __init__(self, publisher: Publisher, settings: Settings) -> None:
        super().__init__(Reading(ROLE, AUDITED, BATCH_RECORDS), self._write, settings)
        metrics.LANES.labels(ROLE).set(1)
        self._publisher = publisher
        self._chains: dict[TopicPartition, ChainEnd] = {}
        self._seen = Deduplicator(REMEMBERED_VERDICTS)

    async def run(self, stop: asyncio.Event) -> None:
        try:
            await super().run(stop)
        finally:
            self._seen.close()

    def _preparation(self, consumer: AIOKafkaConsumer) -> Preparation:
        return self._take_up(consumer.assignment())

    async def _take_up(self, assigned: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        found = await chain_ends(self._settings, ROLE, assigned)
        reach = await ends(self._settings, AUDITED)
        for tp, end in found.items():
            if end.next_offset > reach.get(tp, 0):
                raise OperatorError(
                    f"{tp.topic}-{tp.partition} ends at offset {reach.get(tp, 0)}, but was "
                    f"recorded up to {end.next_offset}: records are gone; see "
                    "`safepassage audit verify`"
                )
        nothing = {tp: ChainEnd.of_nothing(chain_name(tp.topic, tp.partition)) for tp in assigned}
        self._chains = nothing | found
        self._committed.clear()
        return {tp: end.next_offset for tp, end in self._chains.items()}

    async def _commit(
        self, consumer: AIOKafkaConsumer, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """Commit with the bookmark of every chain, also of one that has not begun: it need not be
        looked for again. Of an assignment that was not taken up yet the ends are not known."""
        if self._prepared == self._turn.generation:
            reached = {tp: end.next_offset for tp, end in self._chains.items()}
            reached |= self._committed | dict(offsets)
            bookmarks = {
                tp: (reached[tp], end.bookmark(chain_name(tp.topic, tp.partition)))
                for tp, end in self._chains.items()
            }
            if await commit(consumer, bookmarks):
                self._committed |= offsets

    async def _write(self, records: Sequence[Record]) -> None:
        by_partition: defaultdict[TopicPartition, list[Record]] = defaultdict(list)
        for record in records:
            by_partition[TopicPartition(record.topic, record.partition)].append(record)
        with metrics.timed_batch(ROLE):
            for tp, own in by_partition.items():
                await self._record(tp, own)
        metrics.RECORDS.labels(ROLE, "published").inc(len(records))
        if len(records) < BLOCK_ENTRIES:
            await asyncio.sleep(GATHER_SECONDS)

    async def _record(self, tp: TopicPartition, records: Sequence[Record]) -> None:
        name = chain_name(tp.topic, tp.partition)
        end = self._chains[tp]
        for first in range(0, len(records), BLOCK_ENTRIES):
            part = records[first : first + BLOCK_ENTRIES]
            outgoing, entries = [], []
            for record in part:
                verdict = event_of(record, Verdict)
                # An id is made of the document's text: what is sealed is named by its place alone.
                verdict_id = verdict.id if verdict and not is_sealed(record.value) else None
                digest, place = value_digest(record).hex(), record.coordinates
                entries.append(AuditEntry(source=place, verdict_id=verdict_id, sha256=digest))
                if verdict:
                    outgoing += self._contradiction(Received(record, verdict))
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

    def _contradiction(self, verdict: Received[Verdict]) -> list[Outgoing]:
        """A dead letter where ``verdict`` says something else than an earlier one of its id."""
        seen = self._seen.admit(verdict)
        if not isinstance(seen, Conflict):
            return []
        log.error("verdicts_contradict", verdict_id=seen.verdict_id, detail=str(seen))
        about = Subject(doc_id=verdict.event.doc_id)
        letter = dead_letter(verdict.record, "report", "VerdictConflict", str(seen), about=about)
        return [outgoing_letter(letter, verdict.record)]

"""Where the chains go on, found without reading every block there ever was.

The auditor's group commits the chain's head as the metadata of each offset: a bookmark. A chain
without one, as before the first commit or after the broker forgot the group, is looked for in the
whole topic, once: the auditor bookmarks it then. A bookmark that is behind its chain does no harm:
the blocks that are written once more lead to the same heads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

import structlog
from aiokafka import TopicPartition
from pydantic import ValidationError

from safepassage.schemas import AuditBlock
from safepassage.streams.kafka.admin import committed_offsets
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import AUDIT

from .chain import Head, chain_name, genesis

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ChainEnd:
    """Where a chain goes on: behind ``entries`` entries that lead to ``head`` (hex), at
    ``next_offset`` of its partition."""

    entries: int
    head: str
    next_offset: int

    @classmethod
    def of_nothing(cls, chain: str) -> ChainEnd:
        """The end of a chain that has not begun."""
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
    """Where the chains of ``partitions`` go on, by the bookmarks of the role ``group``; those that
    have not begun may be left out."""
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

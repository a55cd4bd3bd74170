"""Where the chains go on, found without reading every block there ever was.

A chain's last block is among the latest of the topic as long as the chain is busy. One that
rested is remembered by its bookmark: the metadata that the auditor's group commits with each
offset, which holds the chain's head there. Only what has neither, as before the first commit of
this version or after the broker forgot the group, is looked for in the whole topic, once: the
auditor bookmarks it then. A bookmark that is behind its chain does no harm: the blocks that are
written once more lead to the same heads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from pydantic import ValidationError

from safepassage.schemas import AuditBlock
from safepassage.streams.kafka.admin import committed_offsets
from safepassage.streams.kafka.reading import read_topics, tails
from safepassage.streams.kafka.records import event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import AUDIT

from .chain import Head, chain_name, genesis

log = structlog.get_logger(__name__)

# Of each partition of the topic, looked through before the bookmarks are asked.
RECENT_BLOCKS = 500


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

    def bookmark(self, chain: str) -> tuple[int, str]:
        """Offset and metadata to commit, from which `chain_ends` knows it again."""
        return self.next_offset, Head(
            chain=chain, entries=self.entries, hash=self.head
        ).model_dump_json()


async def chain_ends(
    settings: Settings, group: str, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, ChainEnd]:
    """Where the chains of ``partitions`` go on; those that have not begun may be left out.

    ``group`` is the role that bookmarks them.

    Raises:
        UnknownTopic: the topic of the chains is missing.
    """
    wanted = {chain_name(tp.topic, tp.partition): tp for tp in partitions}
    if not wanted:
        return {}
    recent = await tails(settings, [AUDIT], RECENT_BLOCKS)
    found = await _last_blocks(settings, wanted, recent)
    if rested := {name: tp for name, tp in wanted.items() if tp not in found}:
        found |= await _bookmarked(settings, group, rested)
    if unknown := {name: tp for name, tp in wanted.items() if tp not in found}:
        log.info("chains_looked_for_in_all_blocks", chains=len(unknown))
        found |= await _last_blocks(settings, unknown, {})
    return found


async def _last_blocks(
    settings: Settings, wanted: Mapping[str, TopicPartition], start: Mapping[TopicPartition, int]
) -> dict[TopicPartition, ChainEnd]:
    """The ends of those chains of ``wanted`` that have blocks from ``start`` on."""
    found: dict[TopicPartition, ChainEnd] = {}
    async for record in read_topics(settings, [AUDIT], start=start):
        block = event_of(record, AuditBlock)
        if block and block.chain in wanted and block.entries:
            end = found.setdefault(wanted[block.chain], ChainEnd.of_nothing(block.chain))
            end.follow(block)
    return found


async def _bookmarked(
    settings: Settings, group: str, wanted: Mapping[str, TopicPartition]
) -> dict[TopicPartition, ChainEnd]:
    try:
        committed = (await committed_offsets(settings, {group: list(wanted.values())}))[group]
    except KafkaError as error:
        log.warning("bookmarks_not_read", error=type(error).__name__)
        return {}
    found: dict[TopicPartition, ChainEnd] = {}
    for name, tp in wanted.items():
        offset, metadata = committed.get(tp, (-1, ""))
        with contextlib.suppress(ValidationError):  # committed by an older version, or by a tool
            head = Head.model_validate_json(metadata)
            if offset >= 0 and head.chain == name:
                found[tp] = ChainEnd(head.entries, head.hash, offset)
    return found

"""Which scorer decides and which one shadows: the topic ``scorers``, read and written.

The topic has one partition, so its order is total, and the last release of a slot is in force.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal

import structlog
from aiokafka import TopicPartition

from schemas import ScorerRelease
from streams.kafka.clients import new_producer
from streams.kafka.publisher import KafkaPublisher
from streams.kafka.reading import follow_topics, read_topics
from streams.kafka.records import Outgoing, Record, UnreadableRecord, decode
from streams.runtime.errors import OperatorError
from streams.settings import Settings
from streams.topics import SCORERS

log = structlog.get_logger(__name__)

Slot = Literal["live", "shadow"]


class ReleaseRefused(OperatorError):
    """A scorer cannot be put into force; the message says why and what to do."""


@dataclass(slots=True)
class InForce:
    """The last release of each slot, and the offset of the next record."""

    releases: dict[Slot, ScorerRelease] = field(default_factory=dict)
    next_offset: int = 0

    def note(self, record: Record) -> ScorerRelease | None:
        """Count one record of the topic; returns the release that it is.

        What is none is left out: nobody may stop the workers by writing rubbish.
        """
        self.next_offset = record.offset + 1
        try:
            release = decode(record, ScorerRelease).event
        except UnreadableRecord as error:
            log.warning("not_a_release", problem=str(error), offset=record.offset)
            return None
        self.releases[release.slot] = release
        return release


async def releases_in_force(settings: Settings) -> InForce:
    """What is in force now.

    Raises:
        UnknownTopic: the topic is missing.
    """
    held = InForce()
    async for record in read_topics(settings, [SCORERS]):
        held.note(record)
    return held


async def follow_releases(settings: Settings, held: InForce) -> AsyncIterator[ScorerRelease]:
    """Every release after ``held``, as they come, without end."""
    start = {TopicPartition(settings.topic(SCORERS.name), 0): held.next_offset}
    async for record in follow_topics(settings, [SCORERS], start=start):
        release = held.note(record)
        if release:
            yield release


async def publish_release(settings: Settings, release: ScorerRelease) -> None:
    """Put ``release`` into force.

    Raises:
        PublishFailed: the broker did not take it.
    """
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        if await publisher.publish([Outgoing(SCORERS, release.slot, release)]):
            raise ReleaseRefused("the broker refuses the release")
    finally:
        await publisher.stop()

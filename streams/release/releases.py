"""Which scorer decides and which one shadows: the topic ``scorers``, read and written.

The topic has one partition, so its order is total, and the last release of a slot is in force.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal

import structlog
from aiokafka import TopicPartition

from safepassage.schemas import ScorerRelease

from ..kafka.publisher import open_publisher
from ..kafka.reading import extent, follow_topics, read_topics
from ..kafka.records import Outgoing, Record, UnreadableRecord, decode
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import SCORERS

log = structlog.get_logger(__name__)

Slot = Literal["live", "shadow"]
LIVE_KEY = b"live"


class ReleaseRefused(OperatorError):
    """A scorer cannot be put into force; the message says why and what to do."""


class ReleaseLost(ReleaseRefused):
    """There was, or may have been, a live release that the topic does not hold any more. Nobody
    may guess which: the configured scorer could be one that was replaced for good reason."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"which scorer is live is not known: {why}; name it with "
            "`safepassage rollback --to SCORER`, and let `safepassage doctor` say how `scorers` "
            "has to be configured"
        )


@dataclass(slots=True)
class InForce:
    """The last release of each slot, and the offset of the next record.

    ``lost`` says why there may have been a live release where none is known.
    """

    releases: dict[Slot, ScorerRelease] = field(default_factory=dict)
    next_offset: int = 0
    lost: str | None = None

    @property
    def live(self) -> ScorerRelease | None:
        release = self.releases.get("live")
        if release is None and self.lost:
            raise ReleaseLost(self.lost)
        if release and release.scorer is None:
            raise ReleaseLost("the last live release names no scorer")
        return release

    def note(self, record: Record) -> ScorerRelease | None:
        """Count one record of the topic; returns the release that it is.

        A record that is no release is left out: nobody may stop the workers by writing rubbish.
        Only where no release is beside it does rubbish in the place of one count: compaction may
        have kept it instead.
        """
        self.next_offset = record.offset + 1
        try:
            release = decode(record, ScorerRelease).event
        except UnreadableRecord as error:
            log.warning("not_a_release", problem=str(error), offset=record.offset)
            if record.key == LIVE_KEY:
                self.lost = f"the record at offset {record.offset} of scorers is no release"
            return None
        self.releases[release.slot] = release
        return release


async def releases_in_force(settings: Settings) -> InForce:
    first, end = await extent(settings, SCORERS)
    held = InForce()
    count = 0
    async for record in read_topics(settings, [SCORERS]):
        held.note(record)
        count += 1
    held.lost = held.lost or _why_lost(first, end, count)
    return held


def _why_lost(first: int, end: int, records: int) -> str | None:
    """Why a live release may be missing among ``records`` of the topic. Compaction keeps the last
    record of each key and moves no beginning; deletion does, and may leave nothing."""
    if first > 0:
        return f"what was before offset {first} of scorers was deleted"
    if end > 0 and not records:
        return f"{end} records of scorers are gone"
    return None


async def follow_releases(settings: Settings, held: InForce) -> AsyncIterator[ScorerRelease]:
    start = {TopicPartition(settings.topic(SCORERS.name), 0): held.next_offset}
    async for record in follow_topics(settings, [SCORERS], start=start):
        release = held.note(record)
        if release:
            yield release


async def publish_release(settings: Settings, release: ScorerRelease) -> None:
    async with open_publisher(settings) as publisher:
        if await publisher.publish([Outgoing(SCORERS, release.slot, release)]):
            raise ReleaseRefused("the broker refuses the release")

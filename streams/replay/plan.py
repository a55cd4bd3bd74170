"""What a replay was asked to do, fixed at its start so that a resumed one does the same."""

import re
from datetime import datetime
from typing import Literal

from aiokafka import TopicPartition
from pydantic import Field

from safepassage.schemas import Event, Verdict
from safepassage.schemas.base import Contract, Probability

from ..kafka.reading import ends, offsets_since, read_topics, tails
from ..kafka.records import UnreadableRecord, decode
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import ALIGNMENTS, CLAIMS, EXTRACTIONS, FOR_EVER, QUARTER, Topic

Origin = Literal["alignments", "extractions"]
ORIGIN_TOPICS: dict[Origin, tuple[Topic, ...]] = {
    "alignments": (ALIGNMENTS,),
    "extractions": (EXTRACTIONS, CLAIMS),
}
REPLAY_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_OFFSETS = re.compile(r"(\d+):(\d*)-(\d*)")


class SourceRange(Contract):
    """Offsets ``start`` to ``end`` (exclusive) of one partition."""

    topic: str
    partition: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class ReplayPlan(Contract):
    """What is replayed, and by what. ``since`` and ``until`` bound the records' times.

    ``alignment_threshold`` is None where alignments are taken as they are. ``offsets`` is what the
    operator chose of them, None where all of it. ``memory`` names the snapshot that was judged by.
    """

    id: str = Field(pattern=REPLAY_ID.pattern)
    origin: Origin
    ranges: tuple[SourceRange, ...]
    since: datetime | None = None
    until: datetime | None = None
    offsets: str | None = None
    scorer: str
    revision: str
    memory: str | None = None
    alignment_threshold: Probability | None = None

    @property
    def records(self) -> int:
        """How many records the ranges span, those out of time included."""
        return sum(max(0, r.end - r.start) for r in self.ranges)

    def covers(self, timestamp: int) -> bool:
        """Whether a record of that time (in milliseconds) is replayed."""
        early = self.since is not None and timestamp < self.since.timestamp() * 1000
        late = self.until is not None and timestamp >= self.until.timestamp() * 1000
        return not (early or late)


class ReplayState(Event):
    """Topic ``replay-<id>-progress``; ``batch_milliseconds`` are of the last batches."""

    plan: ReplayPlan
    positions: tuple[SourceRange, ...]
    done: bool = False
    verdicts: int = Field(default=0, ge=0)
    skipped: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0)
    batch_milliseconds: tuple[float, ...] = ()

    @property
    def remaining(self) -> dict[TopicPartition, tuple[int, int]]:
        return {
            TopicPartition(r.topic, r.partition): (r.start, r.end)
            for r in self.positions
            if r.start < r.end
        }


def verdicts_topic(replay_id: str) -> Topic:
    return Topic(f"replay-{replay_id}-verdicts", Verdict, QUARTER)


def progress_topic(replay_id: str) -> Topic:
    """Where a replay notes how far it is: only the last note counts."""
    name = f"replay-{replay_id}-progress"
    return Topic(name, ReplayState, FOR_EVER, single=True, compacted=True)


def parse_offsets(text: str) -> dict[int, tuple[int | None, int | None]]:
    """``0:100-200,3:50-`` by partition; an open side is None."""
    chosen: dict[int, tuple[int | None, int | None]] = {}
    for part in text.split(","):
        match = _OFFSETS.fullmatch(part.strip())
        if not match:
            raise OperatorError(
                f"--offsets {part.strip()!r}: write PARTITION:FROM-TO, e.g. 0:100-200,1:50-"
            )
        partition, start, end = match.groups()
        chosen[int(partition)] = (int(start) if start else None, int(end) if end else None)
    return chosen


async def resolve_ranges(
    settings: Settings, origin: Origin, offsets: str | None, since: datetime | None = None
) -> tuple[SourceRange, ...]:
    """The offsets to replay: what the topics hold now, or the part of it that ``offsets`` names.
    What the broker knows to be older than ``since`` is not read.

    With ``offsets`` only the first topic of ``origin`` is replayed: they are of one topic."""
    topics = ORIGIN_TOPICS[origin]
    chosen = parse_offsets(offsets) if offsets else None
    topics = topics[:1] if chosen else topics
    held = await ends(settings, topics)
    young = await offsets_since(settings, topics, since) if since else {}
    ranges = []
    for tp, end in sorted(held.items()):
        first, last = chosen.pop(tp.partition, (0, 0)) if chosen is not None else (0, end)
        last = end if last is None else min(last, end)
        ranges.append(
            SourceRange(
                topic=tp.topic,
                partition=tp.partition,
                start=min(max(first or 0, young.get(tp, 0)), last),
                end=last,
            )
        )
    if chosen:
        raise OperatorError(f"--offsets: there is no partition {min(chosen)}")
    return tuple(ranges)


async def last_state(settings: Settings, replay_id: str) -> ReplayState | None:
    """How far the replay of that id is; None where it never noted anything."""
    found = None
    topic = progress_topic(replay_id)
    last = await tails(settings, [topic], 1)
    async for record in read_topics(settings, [topic], start=last):
        try:
            found = decode(record, ReplayState).event
        except UnreadableRecord as error:
            raise OperatorError(f"the progress of replay {replay_id} is damaged: {error}") from None
    return found

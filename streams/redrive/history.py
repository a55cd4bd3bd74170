"""What was redriven before, and whose turn it is: the topic ``redrives``, read in its order.

The topic has one partition, so its order is total and works as a lock: a batch that began while
an earlier one was open gives way. A batch that was begun and not ended within `LEASE` was cut off.
What of it was published is looked up by the header that every redriven record carries.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aiokafka import TopicPartition

from safepassage.schemas import Coordinates, Redrive
from safepassage.streams.kafka.reading import assign, high_watermarks, read_between, reader
from safepassage.streams.kafka.records import event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REDRIVES

LEASE = timedelta(seconds=120)


@dataclass(slots=True)
class History:
    """The topic ``redrives`` as far as it was read. ``done`` are letters that were published or
    that the broker refuses for good; ``open`` the batches that did not end, in their order."""

    settings: Settings
    done: set[str]
    open: dict[str, Redrive]
    next_offset: int = 0

    @classmethod
    async def read(cls, settings: Settings) -> History:
        """The whole history.

        Raises:
            UnknownTopic: the topic is missing.
        """
        history = cls(settings, set(), {})
        await history.update()
        return history

    async def update(self) -> None:
        """Read on from where the last reading ended."""
        tp = TopicPartition(self.settings.topic(REDRIVES.name), 0)
        end = (await _ends(self.settings, {tp}))[tp]
        async for record in read_between(self.settings, {tp: (self.next_offset, end)}):
            self.next_offset = record.offset + 1
            if event := event_of(record, Redrive):  # nobody acts on records of others
                self._note(event)

    def _note(self, event: Redrive) -> None:
        if event.step == "begun":
            self.open.setdefault(event.batch, event)
        else:
            self.open.pop(event.batch, None)
            self.done |= event.published.keys() | event.refused.keys()

    def holder(self, batch: str) -> Redrive | None:
        """The open batch before ``batch``, if there is one: its turn is first."""
        first = next(iter(self.open), batch)
        return None if first == batch else self.open[first]


def is_under_way(begun: Redrive, now: datetime) -> bool:
    """Whether ``begun`` may still be at work, in another process."""
    return now - begun.at < LEASE


async def published_of(settings: Settings, begun: Redrive) -> dict[str, Coordinates]:
    """What of a batch that was cut off is on the topics, by letter."""
    starts = {TopicPartition(at.topic, at.partition): at.offset for at in begun.ends}
    ends = await _ends(settings, starts)
    wanted, found = set(begun.letters), dict[str, Coordinates]()
    ranges = {tp: (start, ends[tp]) for tp, start in starts.items()}
    async for record in read_between(settings, ranges):
        told = record.redriven
        if told and told.letter in wanted:
            found.setdefault(told.letter, record.coordinates)
    return found


async def ends_of(settings: Settings, sources: Collection[Coordinates]) -> tuple[Coordinates, ...]:
    """One past the last record of every partition of ``sources``."""
    ends = await _ends(settings, {TopicPartition(at.topic, at.partition) for at in sources})
    return tuple(
        Coordinates(topic=tp.topic, partition=tp.partition, offset=end)
        for tp, end in sorted(ends.items())
    )


async def _ends(
    settings: Settings, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, int]:
    async with reader(settings) as consumer:
        for name in {tp.topic for tp in partitions}:
            await assign(consumer, [name])  # waits for a topic that this client does not know yet
        consumer.assign(list(partitions))
        return await high_watermarks(consumer, list(partitions))


def utc_now() -> datetime:
    return datetime.now(UTC)

"""Where the console reads on: from what its index holds, as long as the topics are the same."""

from collections.abc import Mapping

from aiokafka import TopicPartition

from safepassage.schemas import Coordinates
from safepassage.streams.kafka.reading import read_at, reader
from safepassage.streams.settings import Settings

from .index.index_file import Place, Position
from .index.store import CaseStore


async def offsets_to_read_on(
    store: CaseStore, settings: Settings, ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """The next offset of each partition that the index was read from. Where the topics are others
    now it is emptied, with a line that says why, and there are no offsets.

    Args:
        ends: one past the last offset of every partition that is read.
    """
    read = store.positions()
    if read and (reason := await _difference(read, settings, ends)):
        store.begin_anew(reason)
        return {}
    return {TopicPartition(*place): position.last + 1 for place, position in read.items()}


async def _difference(
    read: Mapping[Place, Position], settings: Settings, ends: Mapping[TopicPartition, int]
) -> str | None:
    places = {place: TopicPartition(*place) for place in read}
    for place, (_, last, _) in read.items():
        named = f"partition {place.partition} of {place.topic}"
        if (end := ends.get(places[place])) is None:
            return f"{named} is gone"
        if last >= end:
            return f"{named} ends at {end}, and was read to {last + 1}: it was made anew"
    async with reader(settings) as consumer:
        beginnings = await consumer.beginning_offsets(places.values())
    for place, (first, _, _) in read.items():
        if (begins := beginnings[places[place]]) > first:
            # What a retention took from the topic must not stay here. A compaction moves nothing.
            return (
                f"partition {place.partition} of {place.topic} begins at {begins}, and was read "
                f"from {first}: the broker deleted records"
            )
    last_ones = {
        Coordinates(topic=place.topic, partition=place.partition, offset=position.last): position
        for place, position in read.items()
    }
    for where, record in (await read_at(settings, last_ones)).items():
        if record.timestamp != last_ones[where].timestamp:
            return f"another record is at {where.topic}/{where.partition}/{where.offset}"
    return None

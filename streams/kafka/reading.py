"""Bounded reads: what a topic holds now, outside every consumer group."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

import stamina
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError, for_code
from aiokafka.protocol.metadata import MetadataRequest

from safepassage.schemas import Coordinates

from ..settings import Settings
from ..topics import Topic
from .clients import new_reader, stop_consumer
from .erasures_and_seals import Protection, protection
from .records import Record

POLL_MILLISECONDS = 250
SHORT_MILLISECONDS = 20
METADATA_PATIENCE_SECONDS = 10.0
START_PATIENCE_SECONDS = 5.0
STRETCH_GAP = 100  # Records that are rather read in vain than sought past


class UnknownTopic(LookupError):
    """A topic does not exist on the broker."""


@contextlib.asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer outside every group, closed on the way out even where it could not start."""
    consumer = new_reader(settings)
    starting = asyncio.create_task(consumer.start())
    try:
        await asyncio.shield(starting)
        await asyncio.sleep(0)  # aiokafka 0.14 cannot stop before its tasks began
        yield consumer
    finally:
        # Nor does it close what it opened when its start is cut off.
        await asyncio.wait((starting,), timeout=START_PATIENCE_SECONDS)
        starting.cancel()
        await stop_consumer(consumer)


async def read_topics(
    settings: Settings,
    topics: Sequence[Topic],
    *,
    start: Mapping[TopicPartition, int] | None = None,
    partitions: Sequence[int] | None = None,
) -> AsyncGenerator[Record, None]:
    """Every record of ``topics`` from the earliest offset (or from ``start``) to the end as it
    is now. Records of one partition come in order.

    The end is the high watermark that the first fetch of a partition reports, which is right on
    every broker we know; the embedded one answers offset requests wrongly."""
    known = await read_erasures(settings)
    async with reader(settings) as consumer:
        names = [settings.topic(topic.name) for topic in topics]
        assigned = await assign(consumer, names, start, partitions)
        async for record in _until_end(consumer, assigned, known):
            yield record


async def follow_topics(
    settings: Settings,
    topics: Sequence[Topic],
    *,
    start: Mapping[TopicPartition, int] | None = None,
) -> AsyncGenerator[Record, None]:
    """Every record of ``topics`` from the earliest offset (or from ``start``), without end."""
    known = await read_erasures(settings)
    async with reader(settings) as consumer:
        wanted = {settings.topic(topic.name) for topic in topics}
        followed = await _existing(consumer, known.followed)
        beside = {name: known.offsets.get(name, 0) for name in followed}
        beside_at = {TopicPartition(name, 0): offset for name, offset in beside.items()}
        await assign(consumer, sorted(wanted | beside.keys()), {**beside_at, **(start or {})})
        while True:
            fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
            for tp, messages in fetched.items():
                for message in messages:
                    if tp.topic in beside:
                        known.note(tp.topic, message.offset, message.key, message.value)
                    if tp.topic in wanted:
                        yield to_record(message, known)


async def follow_erasures(settings: Settings) -> None:
    """Keep this process's `Protection` up to date until cancelled."""
    async for _ in follow_topics(settings, []):
        pass


async def read_erasures(settings: Settings, *, anew: bool = False) -> Protection:
    """What is erased, and the keys of all else, as of a moment ago; with ``anew`` as of now."""
    known = protection(settings)
    if known.fresh and not anew:
        return known
    async with reader(settings) as consumer:
        if names := await _existing(consumer, known.followed):
            # One record is read again: the embedded broker never answers a fetch past the end.
            start = {TopicPartition(n, 0): max(0, known.offsets.get(n, 0) - 1) for n in names}
            assigned = await assign(consumer, names, start)
            async for record in _until_end(consumer, assigned, known, poll_ms=SHORT_MILLISECONDS):
                known.note(record.topic, record.offset, record.key, record.value)
    known.caught_up()
    return known


async def _existing(consumer: AIOKafkaConsumer, names: list[str]) -> list[str]:
    """The topics of ``names`` that exist: without ``erasures`` nothing was ever erased."""
    if all(consumer.partitions_for_topic(name) for name in names):
        return names
    # A list of all topics leaves out those that this user may not see: asked for by name, and so
    # that none is created by it.
    client = consumer._client
    answer = await client.send(client.get_random_node(), MetadataRequest(names, False))
    codes = {topic["topic"]: topic["error_code"] for topic in answer.to_object()["topics"]}
    if refused := [n for n in names if for_code(codes[n]) is TopicAuthorizationFailedError]:
        raise TopicAuthorizationFailedError(*refused)
    return [name for name in names if not codes[name]]


async def read_between(
    settings: Settings, ranges: Mapping[TopicPartition, tuple[int, int]]
) -> AsyncGenerator[Record, None]:
    """The records of every partition from the first offset to the second, which is left out.

    The second must not lie behind the partition's end: a fetch there may never return.
    """
    wanted = {tp: bounds for tp, bounds in ranges.items() if bounds[0] < bounds[1]}
    if not wanted:
        return
    known = await read_erasures(settings)
    async with reader(settings) as consumer:
        consumer.assign(list(wanted))
        for tp, (start, _) in wanted.items():
            consumer.seek(tp, start)
        stops = {tp: stop for tp, (_, stop) in wanted.items()}
        async for record in _until_end(consumer, list(wanted), known, stops):
            if record.offset < stops[TopicPartition(record.topic, record.partition)]:
                yield record


async def ends(settings: Settings, topics: Sequence[Topic]) -> dict[TopicPartition, int]:
    """One past the last offset of every partition of ``topics``, as a fetch reports it."""
    async with reader(settings) as consumer:
        assigned = await assign(consumer, [settings.topic(topic.name) for topic in topics])
        return await high_watermarks(consumer, assigned)


async def extent(settings: Settings, topic: Topic) -> tuple[int, int]:
    """The first offset that is kept of a topic with one partition, and one past its last."""
    async with reader(settings) as consumer:
        (tp,) = await assign(consumer, [settings.topic(topic.name)], partitions=[0])
        first = (await consumer.beginning_offsets([tp]))[tp]
        return first, (await high_watermarks(consumer, [tp]))[tp]


async def read_at(settings: Settings, places: Collection[Coordinates]) -> dict[Coordinates, Record]:
    """The records at ``places``, by these, without what is gone. Neighbours are read together."""
    patience = settings.publish_patience_seconds
    found: dict[Coordinates, Record] = {}
    async for attempt in stamina.retry_context(KafkaError, attempts=None, timeout=patience):
        with attempt:
            found = await _read_stretches(settings, places)
    return {place: found[place] for place in places if place in found}


async def _read_stretches(
    settings: Settings, places: Collection[Coordinates]
) -> dict[Coordinates, Record]:
    left = _stretches(places)
    found: dict[Coordinates, Record] = {}
    async with reader(settings) as consumer:
        consumer.assign(list(left))
        # Of the embedded broker nothing past the end may be asked.
        known = await high_watermarks(consumer, list(left))
        while left:
            stops = {}
            for tp, stretches in left.items():
                start, stop = stretches.pop()
                if start < known[tp]:
                    consumer.seek(tp, start)
                    stops[tp] = min(stop, known[tp])
            consumer.resume(*stops)
            async for record in _until_end(consumer, list(stops), protection(settings), stops):
                found[record.coordinates] = record
            left = {tp: stretches for tp, stretches in left.items() if stretches}
    return found


def _stretches(places: Collection[Coordinates]) -> dict[TopicPartition, list[tuple[int, int]]]:
    """By partition the offsets from, and to before, which to read: gaps are read with the rest."""
    made: dict[TopicPartition, list[tuple[int, int]]] = {}
    for place in sorted(places, key=lambda one: (one.topic, one.partition, one.offset)):
        stretches = made.setdefault(TopicPartition(place.topic, place.partition), [])
        if stretches and place.offset - stretches[-1][1] < STRETCH_GAP:
            stretches[-1] = stretches[-1][0], place.offset + 1
        else:
            stretches.append((place.offset, place.offset + 1))
    return made


async def offsets_since(
    settings: Settings, topics: Sequence[Topic], since: datetime
) -> dict[TopicPartition, int]:
    """Where to begin in each partition to miss no record from ``since`` on, without reading what
    is older. Some that are older may come all the same: the embedded broker has no index of times,
    and answers with the beginning."""
    milliseconds = int(since.timestamp() * 1000)
    async with reader(settings) as consumer:
        assigned = await assign(consumer, [settings.topic(topic.name) for topic in topics])
        found = await consumer.offsets_for_times(dict.fromkeys(assigned, milliseconds))
        last = await consumer.end_offsets(assigned)  # none is so young
        return {tp: found[tp].offset if found[tp] else last[tp] for tp in assigned}


def unplaced(consumer: AIOKafkaConsumer) -> list[TopicPartition]:
    """The partitions that ``consumer`` has and does not yet know where to read."""
    subscription = consumer._subscription.subscription
    if subscription is None or (assignment := subscription.assignment) is None:
        return []
    return [tp for tp in assignment.tps if not assignment.state_value(tp).has_valid_position]


def readable_end(consumer: AIOKafkaConsumer, tp: TopicPartition) -> int | None:
    """One past the last offset that a reader of committed records comes to, as the last fetch saw
    it: what an open transaction wrote is not there yet. None before the first fetch."""
    high: int | None = consumer.highwater(tp)
    stable: int | None = consumer.last_stable_offset(tp)
    # The embedded broker knows no transactions, and some brokers say -1 where there are none.
    return high if high is None or stable is None or stable < 0 else min(high, stable)


async def high_watermarks(
    consumer: AIOKafkaConsumer, assigned: Sequence[TopicPartition]
) -> dict[TopicPartition, int]:
    """The end of every assigned partition. What the broker says is its end may be too early, as
    with the embedded one, and a fetch from just before tells the true one: no old segment is read.
    """
    firsts = await consumer.beginning_offsets(assigned)
    for tp, last in (await consumer.end_offsets(assigned)).items():
        consumer.seek(tp, max(firsts[tp], last - 1))
    known: dict[TopicPartition, int] = {}
    while len(known) < len(assigned):  # fetches, and so drops, what is at the position
        await consumer.getmany(timeout_ms=POLL_MILLISECONDS, max_records=1)
        for tp in assigned:
            if tp not in known and (end := readable_end(consumer, tp)) is not None:
                known[tp] = end
                consumer.pause(tp)
    return known


async def tails(
    settings: Settings, topics: Sequence[Topic], records: int
) -> dict[TopicPartition, int]:
    """Where the last ``records`` records of every partition begin, or the partition does."""
    return {tp: max(0, end - records) for tp, end in (await ends(settings, topics)).items()}


async def assign(
    consumer: AIOKafkaConsumer,
    names: Sequence[str],
    start: Mapping[TopicPartition, int] | None = None,
    partitions: Sequence[int] | None = None,
) -> list[TopicPartition]:
    """Assign all (or the given) partitions of the topics, positioned at ``start``."""
    assigned = []
    for name in dict.fromkeys(names):  # a partition assigned twice is never read to its end
        known = await partitions_of(consumer, name)
        chosen = known if partitions is None else known & set(partitions)
        assigned += [TopicPartition(name, partition) for partition in sorted(chosen)]
    consumer.assign(assigned)
    for tp in assigned:
        if start and tp in start:
            consumer.seek(tp, start[tp])
    if beginning := [tp for tp in assigned if not start or tp not in start]:
        await consumer.seek_to_beginning(*beginning)
    return assigned


def to_record(message: ConsumerRecord, known: Protection) -> Record:
    """aiokafka's record as ours, with what is ``known`` of erasures where it is."""
    return Record(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        timestamp=message.timestamp,
        headers=tuple(message.headers),
        protection=known,
    )


async def _until_end(
    consumer: AIOKafkaConsumer,
    assigned: Sequence[TopicPartition],
    known: Protection,
    stops: Mapping[TopicPartition, int] | None = None,
    *,
    poll_ms: int = POLL_MILLISECONDS,
) -> AsyncIterator[Record]:
    ends = dict(stops or {})
    remaining = set(assigned)
    while remaining:
        fetched = await consumer.getmany(timeout_ms=poll_ms)
        for tp in remaining - ends.keys():
            if (end := readable_end(consumer, tp)) is not None:
                ends[tp] = end
        for messages in fetched.values():
            for message in messages:
                yield to_record(message, known)
        for tp in remaining & ends.keys():
            if await consumer.position(tp) >= ends[tp]:
                remaining = remaining - {tp}
                consumer.pause(tp)


async def partitions_of(consumer: AIOKafkaConsumer, name: str) -> set[int]:
    """Partition numbers of a topic, which may be younger than what this client knows."""
    deadline = asyncio.get_running_loop().time() + METADATA_PATIENCE_SECONDS
    while not (known := consumer.partitions_for_topic(name)):
        # By name: what this user may not see is left out of a list of all topics.
        await _existing(consumer, [name])
        if asyncio.get_running_loop().time() > deadline:
            raise UnknownTopic(
                f"topic {name} does not exist; run `safepassage doctor --create-topics`"
            )
        await asyncio.sleep(0.2)
        # `consumer.topics()` asks the broker too, but leaves what the client knows as it was.
        await consumer._client.force_metadata_update()
    return set(known)

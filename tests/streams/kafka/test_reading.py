"""Bounded reads end, and a document's record is found again or known to be gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from safepassage.agents.document_store import DocumentMissing
from safepassage.schemas import Coordinates, Document
from safepassage.streams.agent_factory import reread_text
from safepassage.streams.kafka import point_reader, reading
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_reader
from safepassage.streams.kafka.point_reader import PointReader, Unreadable
from safepassage.streams.kafka.reading import UnknownTopic, offsets_since, read_at, read_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DOCUMENTS
from tests.stack import Stack
from tests.streams.broker import all_records, send, send_documents


@pytest.fixture
async def documents(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Twenty documents on their topic, and little patience with the broker."""
    monkeypatch.setattr(point_reader, "REREAD_PATIENCE_SECONDS", 0.5)
    await create_topics(kafka)
    await send_documents(kafka, [f"d{n}" for n in range(20)])
    return kafka


async def test_a_read_gives_every_record_once_and_ends(documents: Settings):
    records = await all_records(documents, DOCUMENTS, ACCEPTED)
    ids = [Document.model_validate_json(record.value or b"").id for record in records]
    assert sorted(ids) == sorted(f"d{n}" for n in range(20))
    places = [(record.partition, record.offset) for record in records]
    assert sorted(places) == sorted(set(places))


async def test_a_topic_that_is_named_twice_is_read_once(documents: Settings):
    """Several roles read one topic; a partition that was assigned twice had no end."""
    async with asyncio.timeout(30):
        twice = await reading.ends(documents, [DOCUMENTS, DOCUMENTS])
        assert twice == await reading.ends(documents, [DOCUMENTS])


async def test_a_read_starts_where_it_is_told(documents: Settings):
    records = await all_records(documents, DOCUMENTS)
    last = max(records, key=lambda record: record.offset)
    start = {TopicPartition(last.topic, p): 0 for p in range(documents.partitions)}
    start[TopicPartition(last.topic, last.partition)] = last.offset
    chosen = [r async for r in read_topics(documents, [DOCUMENTS], start=start)]
    assert [r for r in chosen if r.partition == last.partition] == [last]


async def test_a_read_of_a_missing_topic_says_so(kafka: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "METADATA_PATIENCE_SECONDS", 0.1)
    with pytest.raises(UnknownTopic, match="doctor --create-topics"):
        await all_records(kafka, DOCUMENTS)


async def test_a_topic_younger_than_the_client_is_found(kafka: Settings):
    """The client learnt what there is before the topic was made."""
    consumer = new_reader(kafka)
    try:
        await consumer.start()
        await consumer.topics()
        await create_topics(kafka)
        async with asyncio.timeout(10):
            assigned = await reading.assign(consumer, [kafka.topic(DOCUMENTS.name)])
        assert len(assigned) == kafka.partitions
    finally:
        await consumer.stop()


@pytest.fixture
async def points(documents: Settings) -> AsyncIterator[PointReader]:
    reader = PointReader(documents)
    yield reader
    await reader.close()


async def test_every_record_can_be_read_again(documents: Settings, points: PointReader):
    for record in (await all_records(documents, DOCUMENTS))[::6]:
        assert await points.read(record.coordinates) == record
        text = await reread_text(points, record.coordinates)
        assert text == Document.model_validate_json(record.value or b"").text


async def test_one_client_serves_all_reads(
    documents: Settings, points: PointReader, monkeypatch: pytest.MonkeyPatch, stack: Stack
):
    opened = []
    monkeypatch.setattr(
        reading, "new_reader", lambda settings: opened.append(1) or new_reader(settings)
    )
    records = await all_records(documents, DOCUMENTS)
    opened.clear()
    read = await asyncio.gather(*(points.read(record.coordinates) for record in records))
    assert read == records
    assert len(opened) == 1
    nowhere = Coordinates(topic=records[0].topic, partition=0, offset=10**9)
    with pytest.raises(Unreadable):
        await points.read(nowhere)
    assert await points.read(records[0].coordinates) == records[0]
    # The embedded broker never answers past the end: what asked it is given up.
    assert len(opened) == 1 + stack.embedded


async def test_the_roles_of_a_process_share_one_reader(documents: Settings):
    async with AsyncExitStack() as resources, AsyncExitStack() as others:
        shared = point_reader.point_reader(documents, resources)
        assert point_reader.point_reader(documents, resources) is shared
        assert point_reader.point_reader(documents, others) is not shared


@pytest.mark.parametrize(("partition", "offset"), [(0, 10**9), (3, 2**62), (10**6, 0)])
async def test_coordinates_that_lead_nowhere_are_no_failure_of_the_broker(
    documents: Settings, points: PointReader, partition: int, offset: int
):
    nowhere = Coordinates(topic=documents.topic("documents"), partition=partition, offset=offset)
    with pytest.raises(Unreadable):
        await points.read(nowhere)
    with pytest.raises(DocumentMissing):
        await reread_text(points, nowhere)


async def test_a_record_that_is_no_document_is_a_missing_document(
    documents: Settings, points: PointReader
):
    await send(documents, DOCUMENTS, [(b"poison", b"{")])
    [poison] = [r for r in await all_records(documents, DOCUMENTS) if r.key == b"poison"]
    with pytest.raises(DocumentMissing):
        await reread_text(points, poison.coordinates)


async def test_only_topics_of_documents_are_read_for_a_text(
    documents: Settings, points: PointReader
):
    for topic in ("accepted", "no-such-topic"):
        elsewhere = Coordinates(topic=documents.topic(topic), partition=0, offset=0)
        with pytest.raises(DocumentMissing, match="is no topic of documents"):
            await reread_text(points, elsewhere)


async def test_records_at_many_places_are_read_together_and_what_is_gone_is_left_out(
    kafka: Settings,
):
    await create_topics(kafka)
    await send_documents(kafka, [f"doc-{n}" for n in range(300)])
    records = await all_records(kafka, DOCUMENTS)
    wanted = [record for record in records if record.offset % 7 == 0 or record.offset > 60]
    places = [record.coordinates for record in wanted]
    beyond = [places[0].model_copy(update={"offset": 9_999})]
    alone = [places[0].model_copy(update={"partition": p, "offset": 9_999}) for p in range(2)]
    assert await read_at(kafka, [*places, *beyond]) == {r.coordinates: r for r in wanted}
    assert await read_at(kafka, alone) == {}


async def test_a_read_from_a_time_on_misses_nothing(documents: Settings):
    now = datetime.now(UTC)
    for since, least in ((now - timedelta(days=1), 20), (now + timedelta(days=1), 0)):
        start = await offsets_since(documents, [DOCUMENTS], since)
        assert len(start) == documents.partitions
        found = [r async for r in read_topics(documents, [DOCUMENTS], start=start)]
        assert len([r for r in found if r.timestamp >= since.timestamp() * 1000]) == least


async def test_the_end_is_found_without_a_fetch_of_what_is_old(
    documents: Settings, monkeypatch: pytest.MonkeyPatch
):
    """It begins with the last batch: of what came before, nothing is fetched."""
    known = {record.partition: record for record in await all_records(documents, DOCUMENTS)}
    fetched: list[tuple[int, int]] = []
    getmany = AIOKafkaConsumer.getmany

    async def noted(self, *partitions, **options):
        records = await getmany(self, *partitions, **options)
        fetched.extend((tp.partition, m.offset) for tp, ms in records.items() for m in ms)
        return records

    await send_documents(documents, ["one", "more"])  # a batch of its own at the broker
    last = {record.partition: record.offset for record in await all_records(documents, DOCUMENTS)}
    monkeypatch.setattr(AIOKafkaConsumer, "getmany", noted)
    reach = await reading.ends(documents, [DOCUMENTS])
    assert {tp.partition: end for tp, end in reach.items()} == {p: o + 1 for p, o in last.items()}
    grown = {partition for partition, record in known.items() if last[partition] > record.offset}
    assert grown
    assert [(p, o) for p, o in fetched if p in grown and o <= known[p].offset] == []

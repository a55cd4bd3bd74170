"""Bounded reads end, and a document's record is found again or known to be gone."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import TopicPartition

from safepassage.agents.document_store import DocumentMissing
from safepassage.schemas import Coordinates, Document
from safepassage.streams.agent_factory import reread_text
from safepassage.streams.kafka import reading
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_reader
from safepassage.streams.kafka.reading import (
    UnknownTopic,
    Unreadable,
    read_at,
    read_topics,
    reread,
)
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DOCUMENTS
from tests.streams.broker import all_records, send, send_documents


@pytest.fixture
async def documents(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Twenty documents on their topic, and little patience with the broker."""
    monkeypatch.setattr(reading, "REREAD_PATIENCE_SECONDS", 0.5)
    await create_topics(kafka)
    await send_documents(kafka, [f"d{n}" for n in range(20)])
    return kafka


async def test_a_read_gives_every_record_once_and_ends(documents: Settings):
    records = await all_records(documents, DOCUMENTS, ACCEPTED)
    ids = [Document.model_validate_json(record.value or b"").id for record in records]
    assert sorted(ids) == sorted(f"d{n}" for n in range(20))
    places = [(record.partition, record.offset) for record in records]
    assert sorted(places) == sorted(set(places))


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


async def test_every_record_can_be_read_again(documents: Settings):
    for record in (await all_records(documents, DOCUMENTS))[::6]:
        assert await reread(documents, record.coordinates) == record
        text = await reread_text(documents, record.coordinates)
        assert text == Document.model_validate_json(record.value or b"").text


@pytest.mark.parametrize(("partition", "offset"), [(0, 10**9), (3, 2**62), (10**6, 0)])
async def test_coordinates_that_lead_nowhere_are_no_failure_of_the_broker(
    documents: Settings, partition: int, offset: int
):
    nowhere = Coordinates(topic=documents.topic("documents"), partition=partition, offset=offset)
    with pytest.raises(Unreadable):
        await reread(documents, nowhere)
    with pytest.raises(DocumentMissing):
        await reread_text(documents, nowhere)


async def test_a_record_that_is_no_document_is_a_missing_document(documents: Settings):
    await send(documents, DOCUMENTS, [(b"poison", b"{")])
    [poison] = [r for r in await all_records(documents, DOCUMENTS) if r.key == b"poison"]
    with pytest.raises(DocumentMissing):
        await reread_text(documents, poison.coordinates)


async def test_only_topics_of_documents_are_read_for_a_text(documents: Settings):
    for topic in ("accepted", "no-such-topic"):
        elsewhere = Coordinates(topic=documents.topic(topic), partition=0, offset=0)
        with pytest.raises(DocumentMissing, match="is no topic of documents"):
            await reread_text(documents, elsewhere)


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

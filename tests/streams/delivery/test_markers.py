"""Behind a transactional producer the lag falls to zero: the committed offset passes the marker.

The embedded broker knows no transactions. A marker is one offset that holds no record; there the
fetcher passes it, as it does behind a committed transaction on Apache Kafka.
"""

from __future__ import annotations

import asyncio

import pytest
from aiokafka.consumer.fetcher import PartitionRecords

from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS
from tests.stack import Stack
from tests.streams.broker import (
    NewSource,
    all_records,
    batch_source,
    committed,
    faust_source,
    offsets_of,
    running,
    send_documents,
)
from tests.streams.doubles import document_role

IDS = [f"document-{n}" for n in range(12)]


@pytest.mark.parametrize("new_source", [faust_source, batch_source])
async def test_the_position_is_committed(
    kafka: Settings, new_source: NewSource, monkeypatch: pytest.MonkeyPatch, stack: Stack
):
    await create_topics(kafka)
    await send_documents(kafka, IDS, transaction=None if stack.embedded else kafka.topic_prefix)
    records = offsets_of(await all_records(kafka, DOCUMENTS))
    if stack.embedded:
        _with_marker(monkeypatch, kafka.topic(DOCUMENTS.name), records)
    passed = {partition: count + 1 for partition, count in records.items()}
    async with running(new_source, document_role(), kafka) as member, asyncio.timeout(60):
        while not passed.items() <= (await committed(kafka, "extract", DOCUMENTS)).items():
            assert not member.task.done()
            await asyncio.sleep(0.1)


def _with_marker(monkeypatch: pytest.MonkeyPatch, topic: str, records: dict[int, int]) -> None:
    """After the last record of each partition stands an offset without one."""
    real = PartitionRecords._unpack_records

    def unpack(self: PartitionRecords):
        yield from real(self)
        if self._tp.topic == topic and self.next_fetch_offset == records.get(self._tp.partition):
            self.next_fetch_offset += 1

    monkeypatch.setattr(PartitionRecords, "_unpack_records", unpack)

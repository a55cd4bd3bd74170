"""A compacted topic as a table: the latest of each key, what is taken out, what is left out."""

from __future__ import annotations

import asyncio

import pytest

from safepassage.schemas import DocumentValues
from safepassage.streams.kafka.records import Record
from safepassage.streams.realignment.role import ValuesStore
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENT_VALUES
from tests.streams.judged import publish


def values(doc_id: str, read: int, reach: int = 1) -> DocumentValues:
    return DocumentValues(doc_id=doc_id, reach=(reach, 0, 0), read=read)


def record(doc_id: str, value: bytes | None, offset: int = 0) -> Record:
    return Record("document-values", 0, offset, doc_id.encode(), value)


@pytest.fixture
def table():
    made = ValuesStore()
    yield made
    made.close()


def test_the_last_event_of_a_key_counts_and_a_tombstone_takes_it_out(table: ValuesStore):
    changed: list[str] = []
    table.on_change = changed.append
    for offset, read in enumerate((1, 2)):
        table.note(record("d", values("d", read).to_json(), offset))
        assert table.get("d") == values("d", read)
    assert (table.get("d"), table.keys(), table.next_offset) == (values("d", 2), ["d"], 2)
    table.note(record("d", None, 2))
    assert (table.get("d"), table.keys(), changed) == (None, [], ["d", "d", "d"])


def test_what_is_no_event_and_what_the_table_does_not_take_is_passed_over(table: ValuesStore):
    table.put(values("d", 5, reach=9))
    table.note(record("d", b"rubbish"))
    table.note(record("d", values("d", 6, reach=8).to_json()))
    assert table.get("d") == values("d", 5, reach=9)
    table.clear()
    assert table.keys() == []


async def test_it_is_read_to_the_end_and_followed_from_there(kafka: Settings, table: ValuesStore):
    settings = kafka.model_copy(update={"partitions": 1})
    await publish(settings, DOCUMENT_VALUES, [values("d", 1), values("e", 1), values("d", 2)])
    await table.read(settings)
    assert (table.get("d"), table.get("e")) == (values("d", 2), values("e", 1))
    changed = asyncio.Event()
    table.on_change = lambda _: changed.set()
    following = asyncio.create_task(table.follow(settings))
    await publish(settings, DOCUMENT_VALUES, [values("e", 7)])
    async with asyncio.timeout(40):
        await changed.wait()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert table.get("e") == values("e", 7)

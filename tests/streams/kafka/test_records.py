"""What comes in is read or refused by name; what goes out carries its key and version."""

from __future__ import annotations

import base64
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Coordinates, DeadLetter, Document, ExtractionManifest
from safepassage.streams.delivery.dead_letter_event import dead_letter
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import (
    Outgoing,
    Record,
    UnreadableRecord,
    cloud_event,
    decode,
)
from safepassage.streams.sealing.frame import MAGIC
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, MANIFESTS
from tests.streams.doubles import document_record


def record(value: bytes | None, key: bytes | None = b"k", offset: int = 5) -> Record:
    return Record("documents", 2, offset, key, value)


def test_a_document_is_read():
    received = decode(document_record("d", 1), Document)
    assert received.event == Document(id="d", text="a text")
    assert received.record.coordinates == Coordinates(topic="documents", partition=0, offset=1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"null",
        b"{",
        b"[]",
        b'{"id":"d"}',
        b'{"id":"d","text":"t","version":2}',
        b'{"id":"d","text":"t","unknown":1}',
        b'{"id":"d","text":"\\ud800"}',
        b'{"id":"d","text":"\xff\xfe"}',
        b'{"id":"d","text":"t","meta":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"id":"d","text":"t","meta":{"n":NaN}}',
        b'{"id":"' + b"d" * 5_000 + b'","text":"t"}',
    ],
)
def test_what_is_no_document_is_refused(value: bytes | None):
    with pytest.raises(UnreadableRecord):
        decode(record(value), Document)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(value: bytes):
    with suppress(UnreadableRecord):
        assert decode(record(value), Document).record.value == value


@given(st.none() | st.binary(max_size=100), st.none() | st.binary(max_size=100))
def test_a_dead_letter_gives_back_the_very_bytes(key: bytes | None, value: bytes | None):
    letter = dead_letter(record(value, key), "align", "Error", "detail")
    again = DeadLetter.model_validate_json(letter.to_json())
    assert (again.key and base64.b64decode(again.key)) == (key or (again.key and b""))
    assert again.value is None if value is None else base64.b64decode(again.value or "") == value


def test_a_dead_letter_of_the_same_record_and_stage_has_the_same_id():
    first = dead_letter(record(b"x"), "align", "OneError", "")
    again = dead_letter(record(b"x"), "align", "AnotherError", "")
    others = (
        dead_letter(record(b"x", offset=6), "align", "OneError", ""),
        dead_letter(record(b"x"), "score", "OneError", ""),
    )
    assert first.id == again.id
    assert first.id not in {other.id for other in others}


def test_a_long_detail_is_cut():
    assert len(dead_letter(record(b"x"), "align", "Error", "y" * 10_000).detail) == 300


def test_an_outgoing_record_carries_its_key_and_version():
    outgoing = Outgoing(DOCUMENTS, "décision-1", Document(id="décision-1", text="t"))
    assert outgoing.encoded_key() == "décision-1".encode()
    assert outgoing.headers() == [("safepassage-version", b"1")]


def test_a_record_does_not_show_its_contents():
    assert "secret" not in repr(record(b"secret"))


def test_a_document_may_ask_for_an_answer_anew():
    event = Document(id="d", text="text")
    for anew in (False, True):
        headers = tuple(Outgoing(DOCUMENTS, "d", event, anew=anew).headers())
        assert Record("documents", 0, 0, b"d", b"", headers=headers).anew is anew


async def test_every_record_is_a_cloud_event_unless_that_is_off(kafka: Settings):
    await create_topics(kafka)
    document = Document(id="d", text="a text")
    for settings in (kafka, kafka.model_copy(update={"cloud_events": False})):
        async with open_publisher(settings) as publisher:
            await publisher.publish([Outgoing(DOCUMENTS, "d", document)])
    written, plain = [record async for record in read_topics(kafka, [DOCUMENTS])]
    said = {name: value.decode() for name, value in written.headers}
    assert {name: said[name] for name in said if name.startswith(("ce_", "content"))} == {
        "ce_specversion": "1.0",
        "ce_id": "d",
        "ce_source": f"/safepassage/{kafka.topic('documents')}",
        "ce_type": "safepassage.Document.v1",
        "content-type": "application/json",
    }
    assert not any(name.startswith("ce_") for name, _ in plain.headers)
    assert decode(written, Document).event == document


def test_a_sealed_cloud_event_is_no_json_and_one_without_an_id_has_always_the_same():
    manifest = ExtractionManifest(document=Document(id="d", text="t").ref(), extraction_ids=())
    outgoing = Outgoing(MANIFESTS, "d", manifest)
    first, again = (dict(cloud_event(outgoing, "manifests", MAGIC + b"x")) for _ in range(2))
    assert first == again
    assert first["content-type"] == b"application/octet-stream"
    assert re.fullmatch(b"[0-9a-f]{32}", first["ce_id"])

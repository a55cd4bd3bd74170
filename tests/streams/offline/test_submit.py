"""Submitting: what the broker will never take is named, and does not end the rest."""

from __future__ import annotations

import asyncio

import pytest

from safepassage.files import Rejected
from safepassage.schemas import Document
from safepassage.streams.kafka.admin import alter_settings, create_topics
from safepassage.streams.kafka.clients import FRAME_BYTES
from safepassage.streams.kafka.configuration import TopicProblem
from safepassage.streams.offline.submit import submit
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS
from tests.streams.broker import all_records

LIMIT = 100_000
PATIENCE_SECONDS = 30.0


async def submitted(settings: Settings, *documents: Document) -> dict[str, str]:
    """By id why each document was refused, or ""."""
    return {
        document.id: str(place) if isinstance(place, Rejected) else ""
        async for place, document in submit(documents, settings)
    }


async def test_document_that_no_producer_sends_is_named_and_the_others_are_sent(kafka: Settings):
    settings = kafka.model_copy(update={"max_record_bytes": LIMIT})
    await create_topics(settings)
    large = Document(id="large", text="x" * (2 * LIMIT + 2 * FRAME_BYTES))
    small = [Document(id=name, text="a text") for name in ("first", "last")]
    told = await submitted(settings, small[0], large, small[1])
    assert "max.message.bytes" in told.pop("large")
    assert told == {"first": "", "last": ""}
    sent = {record.key for record in await all_records(settings, DOCUMENTS)}
    assert sent == {b"first", b"last"}


async def test_document_that_the_broker_refuses_is_named_and_the_others_are_sent(
    kafka: Settings, stack
):
    if stack.embedded:
        pytest.skip("the embedded broker takes records of any size")
    await create_topics(kafka)
    setting = ("max.message.bytes", str(LIMIT))
    name = kafka.topic(DOCUMENTS.name)
    await alter_settings(kafka, [TopicProblem(name, "", "", setting=setting)])
    large, last = Document(id="large", text="x" * LIMIT), Document(id="last", text="a text")
    async with asyncio.timeout(PATIENCE_SECONDS):
        # A broker says that a setting is changed before it goes by it.
        while not (told := await submitted(kafka, large, last))["large"]:
            continue
    assert "max.message.bytes" in told.pop("large")
    assert told == {"last": ""}

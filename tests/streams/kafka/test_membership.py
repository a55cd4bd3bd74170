"""Joining a group: it ends where the process is told to stop, and leaves nothing open."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import GroupAuthorizationFailedError, KafkaConnectionError

from safepassage.streams.audit.audit_source import AuditSource
from safepassage.streams.delivery.batch_source import _Turn
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import group_member
from safepassage.streams.kafka.reading import reader
from safepassage.streams.report.report_source import ReportSource
from safepassage.streams.settings import Settings
from tests.streams.broker import batch_source
from tests.streams.doubles import FakePublisher, document_role
from tests.streams.rights import rights_of

SOURCES: dict[str, Callable[[Settings], Any]] = {
    "extract": lambda settings: batch_source(document_role(), FakePublisher(), settings),
    "report": lambda settings: ReportSource(FakePublisher(), settings),
    "audit": lambda settings: AuditSource(FakePublisher(), settings),
}
each = pytest.mark.parametrize("name", SOURCES)


@each
async def test_a_group_that_is_refused_leaves_no_consumer_open(
    kafka: Settings, name: str, monkeypatch: pytest.MonkeyPatch
):
    await create_topics(kafka)
    rights_of(name, kafka).without_groups().install(monkeypatch)
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what["message"]))
    with pytest.raises(GroupAuthorizationFailedError):
        await SOURCES[name](kafka).run(asyncio.Event())
    gc.collect()
    assert told == []


@pytest.mark.parametrize("use", [group_member, reader])
async def test_error_of_a_role_is_not_replaced_by_a_cancellation_of_aiokafkas_own(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch, use: Any
):
    """The role then seemed to have been cancelled, and its process ended with 0."""
    await create_topics(kafka)
    stop_really = AIOKafkaConsumer.stop

    async def stop(consumer: AIOKafkaConsumer) -> None:
        await stop_really(consumer)
        raise asyncio.CancelledError

    monkeypatch.setattr(AIOKafkaConsumer, "stop", stop)
    listener = _Turn(1.0)
    group = (kafka, "score", [kafka.topic("alignments")], listener, asyncio.Event())
    with pytest.raises(KafkaConnectionError):
        async with use(*(group if use is group_member else (kafka,))):
            raise KafkaConnectionError


@each
async def test_a_stop_does_not_wait_for_the_group(
    kafka: Settings, name: str, monkeypatch: pytest.MonkeyPatch
):
    """The other members may take minutes to end their batches."""
    starting = asyncio.Event()

    async def start(_consumer: AIOKafkaConsumer) -> None:
        starting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(AIOKafkaConsumer, "start", start)
    stop = asyncio.Event()
    running = asyncio.create_task(SOURCES[name](kafka).run(stop))
    await starting.wait()
    stop.set()
    await asyncio.wait_for(running, 60)

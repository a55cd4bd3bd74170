"""A member that reads something before its first batch goes on being polled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from safepassage.streams.delivery.batch_source import BatchSource
from safepassage.streams.settings import Settings
from tests.streams.broker import batch_source
from tests.streams.doubles import FakePublisher, document_role


class PolledConsumer:
    """Counts its polls; the partitions may not be read from while they are paused."""

    def __init__(self) -> None:
        self.polls = 0
        self.paused: set[str] = set()
        self.sought: dict[str, int] = {}

    def assignment(self) -> set[str]:
        return {"a partition"}

    def pause(self, *partitions: str) -> None:
        self.paused |= set(partitions)

    def resume(self, *partitions: str) -> None:
        self.paused -= set(partitions)

    def seek(self, partition: str, offset: int) -> None:
        self.sought[partition] = offset

    async def getmany(self, **_options: Any) -> dict[str, list[str]]:
        assert self.paused
        self.polls += 1
        await asyncio.sleep(0)
        return {}


@pytest.fixture
def consumer() -> PolledConsumer:
    return PolledConsumer()


@pytest.fixture
def source() -> BatchSource:
    return batch_source(document_role(), FakePublisher(), Settings())


async def test_polling_goes_on_until_the_work_is_done(
    consumer: PolledConsumer, source: BatchSource
):
    async def work() -> dict[str, int]:
        while consumer.polls < 20:  # noqa: ASYNC110 - it ends only if somebody polls
            await asyncio.sleep(0)
        return {"a partition": 7}

    async with asyncio.timeout(10):
        fetched = {"a partition": ["read again"], "another": ["kept"]}
        kept = await source._prepare(consumer, work(), fetched)
    assert (kept, consumer.sought) == ({"another": ["kept"]}, {"a partition": 7})
    assert source._prepared == source._turn.generation
    assert not consumer.paused


async def test_work_for_a_former_assignment_is_given_up(
    consumer: PolledConsumer, source: BatchSource
):
    given_up = asyncio.Event()

    async def work() -> None:
        try:
            while consumer.polls < 4:  # noqa: ASYNC110 - it ends only if somebody polls
                await asyncio.sleep(0)
            source._turn.generation += 1
            await asyncio.Event().wait()
        finally:
            given_up.set()

    async with asyncio.timeout(10):
        kept = await source._prepare(consumer, work(), {"a partition": ["former"]})
    assert kept == {}
    assert source._prepared != source._turn.generation
    assert given_up.is_set()
    assert not consumer.paused

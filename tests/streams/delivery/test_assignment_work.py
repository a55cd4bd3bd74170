"""A member that reads something before its first batch goes on being polled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from safepassage.streams.delivery.batch_source import polling_meanwhile
from safepassage.streams.runtime.progress import Progress


class PolledConsumer:
    """Counts its polls; the partitions may not be read from while they are paused."""

    def __init__(self) -> None:
        self.polls = 0
        self.paused: set[str] = set()

    def assignment(self) -> set[str]:
        return {"a partition"}

    def pause(self, *partitions: str) -> None:
        self.paused |= set(partitions)

    def resume(self, *partitions: str) -> None:
        self.paused -= set(partitions)

    async def getmany(self, **_options: Any) -> dict[str, list[str]]:
        assert self.paused
        self.polls += 1
        await asyncio.sleep(0)
        return {}


@pytest.fixture
def consumer() -> PolledConsumer:
    return PolledConsumer()


async def test_polling_goes_on_until_the_work_is_done(consumer: PolledConsumer):
    async def work() -> str:
        while consumer.polls < 20:  # noqa: ASYNC110 - it ends only if somebody polls
            await asyncio.sleep(0)
        return "read"

    async with asyncio.timeout(10):
        found, fetched = await polling_meanwhile(consumer, Progress("audit"), work(), lambda: False)
    assert (found, fetched) == ("read", {})
    assert not consumer.paused


async def test_work_for_a_former_assignment_is_given_up(consumer: PolledConsumer):
    given_up = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    async with asyncio.timeout(10):
        found, _ = await polling_meanwhile(
            consumer, Progress("audit"), work(), lambda: consumer.polls > 3
        )
    assert found is None
    assert given_up.is_set()
    assert not consumer.paused

"""A worker whose role ended without being told to has failed, and says so by its exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiokafka.errors import KafkaConnectionError

from safepassage.streams.delivery.role_with_follower import Beside
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.worker import RoleStopped, _serve


class Source:
    """A role that does this until it is told to stop."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self.progress = Progress("align")
        self._work = work

    async def run(self, _stop: asyncio.Event) -> None:
        await self._work()


async def cancelled() -> None:
    raise asyncio.CancelledError


async def lost() -> None:
    raise KafkaConnectionError


async def ended() -> None:
    pass


@pytest.mark.parametrize("work", [cancelled, lost, ended])
async def test_role_that_ends_by_itself_is_a_failure(work: Callable[[], Awaitable[None]]):
    with pytest.raises(RoleStopped, match="align"):
        await _serve([Source(work)], asyncio.Event())


@pytest.mark.parametrize("follow", [cancelled, lost])
async def test_follower_that_ends_by_itself_is_a_failure(follow: Callable[[], Awaitable[None]]):
    stop = asyncio.Event()

    async def until_told() -> None:
        await stop.wait()

    with pytest.raises(RoleStopped, match="align"):
        await _serve([Beside(Source(until_told), follow)], stop)


async def test_role_that_was_told_to_stop_is_none():
    stop = asyncio.Event()
    stop.set()
    await _serve([Source(ended)], stop)

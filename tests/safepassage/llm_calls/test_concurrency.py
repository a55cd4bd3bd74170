"""The adaptive window of concurrent calls."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from safepassage.llm_calls.concurrency import AdaptiveLimit


class Busy(Exception):
    """The endpoint had too much to do."""


def _limit(maximum: int = 8, initial: int = 4) -> AdaptiveLimit:
    return AdaptiveLimit(maximum, overload=Busy, initial=initial)


async def _succeed(limit: AdaptiveLimit, times: int) -> None:
    for _ in range(times):
        async with limit.slot():
            pass


async def _fail(limit: AdaptiveLimit) -> None:
    with contextlib.suppress(Busy):
        async with limit.slot():
            raise Busy


async def test_a_window_of_successes_adds_one_up_to_the_maximum():
    limit = _limit(maximum=6, initial=4)
    await _succeed(limit, 5)
    assert limit.window == 5
    await _succeed(limit, 100)
    assert limit.window == 6


async def test_an_overload_halves_the_window_down_to_one():
    limit = _limit(initial=8)
    widths = []
    for _ in range(5):
        await _fail(limit)
        widths.append(limit.window)
    assert widths == [4, 2, 1, 1, 1]


async def test_calls_that_met_the_same_overload_halve_the_window_once():
    limit = _limit(initial=8)
    started = asyncio.Barrier(8)

    async def overloaded() -> None:
        with contextlib.suppress(Busy):
            async with limit.slot():
                await started.wait()
                raise Busy

    await asyncio.gather(*(overloaded() for _ in range(8)))
    assert limit.window == 4


async def test_another_error_changes_nothing():
    limit = _limit(initial=4)
    with pytest.raises(KeyError):
        async with limit.slot():
            raise KeyError
    assert (limit.window, limit.active) == (4, 0)


async def test_never_more_calls_are_under_way_than_the_window_has_room_for():
    limit = _limit(maximum=3, initial=3)
    most = 0

    async def call() -> None:
        nonlocal most
        async with limit.slot():
            most = max(most, limit.active)
            await asyncio.sleep(0)

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, limit.active) == (3, 0)


async def test_callers_are_served_in_the_order_they_came():
    limit = _limit(maximum=1, initial=1)
    order = []

    async def call(number: int) -> None:
        async with limit.slot():
            await asyncio.sleep(0)
            order.append(number)

    await asyncio.gather(*map(call, range(6)))
    assert order == [*range(6)]


@pytest.mark.parametrize("cancelled_at_its_turn", [False, True])
async def test_a_caller_that_is_cancelled_leaves_its_place_to_the_next(cancelled_at_its_turn):
    limit = _limit(maximum=1, initial=1)
    release = asyncio.Event()

    async def hold() -> None:
        async with limit.slot():
            await release.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    leaver, follower = (asyncio.create_task(_succeed(limit, 1)) for _ in range(2))
    await asyncio.sleep(0)
    release.set()
    if cancelled_at_its_turn:
        await holder  # its end gives the leaver its turn, before the leaver runs
    leaver.cancel()
    await asyncio.gather(holder, leaver, follower, return_exceptions=True)
    assert follower.exception() is None
    assert limit.active == 0


def test_a_window_without_room_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        _limit(maximum=0)

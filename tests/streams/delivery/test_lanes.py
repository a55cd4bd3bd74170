"""Order per key, bounded memory, and an error that stops everything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.streams.delivery.lanes import Lanes
from safepassage.streams.kafka.records import Record


def record(key: str | None, offset: int) -> Record:
    return Record("documents", 0, offset, None if key is None else key.encode(), b"{}")


class Probe:
    """A handler that waits for ``gate`` and notes what it saw."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.batches: list[list[Record]] = []
        self.finished: list[Record] = []

    async def handle(self, batch: list[Record]) -> None:
        self.batches.append(batch)
        await self.gate.wait()

    def lanes(self, count: int = 2, batch: int = 2) -> Lanes:
        lanes = Lanes(count, batch, self.handle, self.finished.append)
        lanes.start()
        return lanes


async def put_all(lanes: Lanes, records: list[Record]) -> None:
    for entry in records:
        await lanes.put(entry)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - there is no event for what is watched
            await asyncio.sleep(0)


@given(st.lists(st.sampled_from("abcdefg"), max_size=40), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=60)
def test_the_records_of_a_key_are_finished_in_order(keys: list[str], count: int, batch: int):
    async def run() -> list[Record]:
        finished: list[Record] = []

        async def handle(handled: list[Record]) -> None:
            for _ in range(handled[0].offset % 3):
                await asyncio.sleep(0)

        lanes = Lanes(count, batch, handle, finished.append)
        lanes.start()
        await put_all(lanes, [record(key, offset) for offset, key in enumerate(keys)])
        await until(lambda: len(finished) == len(keys))
        await lanes.stop()
        return finished

    finished = asyncio.run(run())
    for key in set(keys):
        offsets = [entry.offset for entry in finished if entry.key == key.encode()]
        assert offsets == sorted(offsets)


async def test_two_batches_of_one_key_never_run_at_once():
    probe = Probe()
    lanes = probe.lanes(count=4, batch=1)
    await lanes.put(record("a", 0))
    await lanes.put(record("a", 1))
    await until(lambda: probe.batches)
    for _ in range(20):
        await asyncio.sleep(0)
    assert probe.batches == [[record("a", 0)]]
    probe.gate.set()
    await until(lambda: len(probe.finished) == 2)
    await lanes.stop()


async def test_put_waits_where_a_lane_is_full():
    probe = Probe()
    lanes = probe.lanes(count=1, batch=2)
    putting = asyncio.create_task(put_all(lanes, [record("a", n) for n in range(50)]))
    await until(lambda: probe.batches)
    for _ in range(50):
        await asyncio.sleep(0)
    assert not putting.done()
    held = len(probe.batches[0]) + len(lanes._waiting)
    assert held <= 2 * 2
    probe.gate.set()
    await putting
    await until(lambda: len(probe.finished) == 50)
    await lanes.stop()


async def test_slow_keys_delay_no_other_key_while_a_lane_is_free():
    """Keys had a lane by their hash, and one full lane kept 60 documents from 18 free ones."""
    gate = asyncio.Event()
    finished: list[Record] = []

    async def handle(batch: list[Record]) -> None:
        if batch[0].key != b"fast":
            await gate.wait()

    lanes = Lanes(4, 1, handle, finished.append)
    lanes.start()
    slow = [record(key, n) for n, key in enumerate(("a", "b", "c", "a", "b", "c"))]
    await asyncio.wait_for(put_all(lanes, slow), 5)
    for n in range(40):
        await asyncio.wait_for(lanes.put(record("fast", 10 + n)), 5)
    await until(lambda: len(finished) == 40)
    assert {one.key for one in finished} == {b"fast"}
    gate.set()
    await until(lambda: len(finished) == 46)
    await lanes.stop()


async def test_records_without_a_key_spread_over_the_lanes():
    probe = Probe()
    lanes = probe.lanes(count=4, batch=1)
    putting = asyncio.create_task(put_all(lanes, [record(None, n) for n in range(8)]))
    await until(lambda: len(probe.batches) > 1)
    probe.gate.set()
    await putting
    await until(lambda: len(probe.finished) == 8)
    await lanes.stop()


async def test_an_error_stops_every_lane_and_its_batch_is_not_finished():
    handled: list[Record] = []
    finished: list[Record] = []

    async def handle(batch: list[Record]) -> None:
        handled.extend(batch)
        await asyncio.sleep(0)
        raise OSError("the disk is gone")

    lanes = Lanes(2, 1, handle, finished.append)
    lanes.start()
    await lanes.put(record("a", 0))
    with pytest.raises(OSError, match="the disk is gone"):
        await lanes.failure
    for key, offset in (("a", 1), ("b", 2)):
        await lanes.put(record(key, offset))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (handled, finished) == ([record("a", 0)], [])
    await lanes.stop()


async def test_closing_drops_what_was_not_begun_and_what_waits_for_room():
    probe = Probe()
    lanes = probe.lanes(count=1, batch=1)
    putting = asyncio.create_task(put_all(lanes, [record("a", n) for n in range(3)]))
    await until(lambda: probe.batches)
    lanes.close()
    await asyncio.wait_for(putting, 5)
    await lanes.put(record("a", 3))
    lanes.reopen()
    probe.gate.set()
    await lanes.put(record("a", 1))
    await until(lambda: len(probe.finished) == 2)
    assert [entry.offset for entry in probe.finished] == [0, 1]
    await lanes.stop()


async def test_idle_waits_for_the_batches_under_way():
    probe = Probe()
    lanes = probe.lanes(count=2, batch=1)
    await lanes.idle()
    await lanes.put(record("a", 0))
    await until(lambda: probe.batches)
    waiting = asyncio.create_task(lanes.idle())
    await asyncio.sleep(0)
    assert not waiting.done()
    probe.gate.set()
    await asyncio.wait_for(waiting, 5)
    await lanes.stop()


async def test_what_is_cancelled_by_stop_is_not_finished():
    probe = Probe()
    lanes = probe.lanes()
    await lanes.put(record("a", 0))
    await until(lambda: probe.batches)
    await lanes.stop()
    assert probe.finished == []


@given(st.lists(st.sampled_from("abcdefg"), max_size=40), st.integers(1, 5), st.integers(0, 30))
@settings(max_examples=60)
def test_closing_leaves_no_finished_record_behind_an_unfinished_one(
    keys: list[str], count: int, turns: int
):
    """Else a commit could not pass the gap, and a graceful stop would repeat what is behind it."""

    async def run() -> list[int]:
        finished: list[Record] = []

        async def handle(handled: list[Record]) -> None:
            for _ in range(handled[0].offset % 5):
                await asyncio.sleep(0)

        lanes = Lanes(count, 2, handle, finished.append)
        lanes.start()
        records = [record(key, offset) for offset, key in enumerate(keys)]
        putting = asyncio.create_task(put_all(lanes, records))
        for _ in range(turns):
            await asyncio.sleep(0)
        lanes.close()
        await asyncio.wait_for(lanes.idle(), 5)
        await asyncio.wait_for(putting, 5)
        await lanes.stop()
        return sorted(entry.offset for entry in finished)

    finished = asyncio.run(run())
    assert finished == list(range(len(finished)))


async def test_an_error_ends_the_wait_for_what_was_kept():
    gate = asyncio.Event()
    begun: list[Record] = []

    async def handle(batch: list[Record]) -> None:
        begun.extend(batch)
        await gate.wait()
        raise OSError("the disk is gone")

    lanes = Lanes(2, 1, handle, begun.append)
    lanes.start()
    await put_all(lanes, [record("slow", 0), record("slow", 1)])
    await until(lambda: begun)
    await lanes.put(record("fast", 2))
    await until(lambda: len(begun) == 2)
    lanes.close()
    gate.set()
    await asyncio.wait_for(lanes.idle(), 5)
    assert isinstance(lanes.failure.exception(), OSError)
    assert [entry.offset for entry in begun] == [0, 2]
    await lanes.stop()

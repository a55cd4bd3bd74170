"""Bounded concurrency that keeps the order of each key."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable

from .records import Record


class Lanes:
    """Hands records to ``handle`` in batches, several at once, never two batches of one key.

    ``put`` blocks while the record's lane is full: that is the back-pressure on the consumer.
    The first error of ``handle`` is kept in `failure`; from then on nothing is handled and
    nothing counts as finished, so nothing more is committed.
    """

    def __init__(
        self,
        count: int,
        batch: int,
        handle: Callable[[list[Record]], Awaitable[None]],
        finished: Callable[[Record], None],
    ) -> None:
        self._batch = batch
        self._handle = handle
        self._finished = finished
        self._queues = [asyncio.Queue[Record](maxsize=batch) for _ in range(count)]
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: list[asyncio.Task[None]] = []
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run(queue)) for queue in self._queues]

    async def put(self, record: Record) -> None:
        """Queue ``record`` behind the others of its key."""
        await self._queues[self._lane(record)].put(record)

    def discard(self) -> list[Record]:
        """Take back what no batch has begun with."""
        taken: list[Record] = []
        for queue in self._queues:
            while not queue.empty():
                taken.append(queue.get_nowait())
        return taken

    async def idle(self) -> None:
        """Wait until no batch is being handled."""
        await self._idle.wait()

    async def stop(self) -> None:
        """Cancel what is running; it does not count as finished."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, queue: asyncio.Queue[Record]) -> None:
        while not self.failure.done():
            batch = [await queue.get()]
            while len(batch) < self._batch and not queue.empty():
                batch.append(queue.get_nowait())
            self._begin()
            try:
                await self._handle(batch)
            except Exception as error:  # noqa: BLE001 - `Role` owners decide what stops a role
                if not self.failure.done():
                    self.failure.set_exception(error)
                return
            else:
                for record in batch:
                    self._finished(record)
            finally:
                self._end()

    def _begin(self) -> None:
        self._running += 1
        self._idle.clear()

    def _end(self) -> None:
        self._running -= 1
        if not self._running:
            self._idle.set()

    def _lane(self, record: Record) -> int:
        key = record.key if record.key is not None else str(record.offset).encode()
        return zlib.crc32(key) % len(self._queues)

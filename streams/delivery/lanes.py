"""Bounded concurrency that keeps the order of each key."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from ..kafka.records import Record


class Lanes:
    """Hands records to ``handle`` in batches, ``count`` at once, never two batches of one key.

    A free lane takes the oldest records whose keys are in no other lane: a slow batch delays its
    own keys and no others. ``put`` blocks while ``count`` times ``batch`` records wait: the
    back-pressure on the consumer. A closed `Lanes` drops records that have not started. It keeps a
    record if a later one of its partition has started: a commit cannot skip it. The first error of
    ``handle`` is kept in `failure`; no batch begins after it.
    """

    def __init__(
        self,
        count: int,
        batch: int,
        handle: Callable[[list[Record]], Awaitable[None]],
        finished: Callable[[Record], None],
    ) -> None:
        self._count = count
        self._batch = batch
        self._handle = handle
        self._finished = finished
        self._waiting: deque[Record] = deque()
        self._busy: set[bytes] = set()
        self._room = asyncio.Event()
        self._work = asyncio.Event()
        self._epoch = 0
        self._open = True
        self._reach: dict[tuple[str, int], int] = {}  # the highest offset begun of a partition
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: list[asyncio.Task[None]] = []
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run()) for _ in range(self._count)]

    async def put(self, record: Record) -> None:
        """Queue ``record`` behind the others of its key, or drop it where the lanes are closed."""
        # The epoch is that of the call: closing also drops what waits for room meanwhile.
        epoch = self._epoch
        while self._open and epoch == self._epoch:
            if len(self._waiting) < self._count * self._batch:
                self._waiting.append(record)
                self._work.set()
                return
            self._room.clear()
            await self._room.wait()

    def close(self) -> None:
        """Drop what is put from now on, and what waits behind all that has begun."""
        self._open = False
        self._keep(lambda record: record.offset < self._reach.get(_partition(record), 0))

    def reopen(self) -> None:
        """Take records again, as if none had come before; what is being handled goes on."""
        self._reach.clear()
        self._keep(lambda _record: False)
        self._open = True

    async def idle(self) -> None:
        """Wait until no batch is being handled and, once closed, none will be."""
        await self._idle.wait()

    async def stop(self) -> None:
        """Cancel what is running; it does not count as finished."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _keep(self, kept: Callable[[Record], bool]) -> None:
        self._epoch += 1
        self._waiting = deque(filter(kept, self._waiting))
        self._room.set()
        self._note_idle()

    async def _run(self) -> None:
        while not self.failure.done():
            if batch := self._next():
                await self._handle_batch(batch)
            else:
                self._work.clear()
                await self._work.wait()

    def _next(self) -> list[Record]:
        """The oldest records whose keys are in no lane, taken from those that wait."""
        batch: list[Record] = []
        left: deque[Record] = deque()
        for record in self._waiting:
            fits = len(batch) < self._batch and _key(record) not in self._busy
            (batch if fits else left).append(record)
        self._waiting = left
        return batch

    async def _handle_batch(self, batch: list[Record]) -> None:
        self._begin(batch)
        try:
            await self._handle(batch)
        except Exception as error:  # noqa: BLE001 - any error stops the role
            if not self.failure.done():
                self.failure.set_exception(error)
        else:
            for record in batch:
                self._finished(record)
        finally:
            self._running -= 1
            self._busy.difference_update(map(_key, batch))
            self._work.set()
            self._note_idle()

    def _begin(self, batch: list[Record]) -> None:
        self._running += 1
        self._busy.update(map(_key, batch))
        self._room.set()
        for record in batch:
            partition = _partition(record)
            self._reach[partition] = max(record.offset, self._reach.get(partition, 0))
        self._note_idle()

    def _note_idle(self) -> None:
        owed = self._waiting and not self._open and not self.failure.done()
        if self._running or owed:
            self._idle.clear()
        else:
            self._idle.set()


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _key(record: Record) -> bytes:
    """What no two lanes may have at once; a record without a key has one of its own."""
    if record.key is not None:
        return record.key
    return f"{record.topic}/{record.partition}/{record.offset}".encode()

"""Bounded concurrency that keeps the order of each key."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable

from safepassage.streams.kafka.records import Record

_Entry = tuple[int, Record]  # with the epoch in which it was put


class Lanes:
    """Hands records to ``handle`` in batches, several at once, never two batches of one key.

    ``put`` blocks while the record's lane is full: the back-pressure on the consumer. A closed
    `Lanes` drops records that have not started. It keeps a record if a later one of its partition
    has started: a commit cannot skip it. The first error of ``handle`` is kept in `failure`; no
    batch begins after it.
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
        self._queues = [asyncio.Queue[_Entry](maxsize=batch) for _ in range(count)]
        self._epoch = 0
        self._open = True
        self._reach: dict[tuple[str, int], int] = {}  # the highest offset begun of a partition
        self._owed = 0  # kept by `close` and not begun yet
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: list[asyncio.Task[None]] = []
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run(queue)) for queue in self._queues]

    async def put(self, record: Record) -> None:
        """Queue ``record`` behind the others of its key, or drop it where the lanes are closed."""
        if self._open:
            # The epoch is that of the call: closing also drops who waits for room meanwhile.
            await self._queues[self._lane(record)].put((self._epoch, record))

    def close(self) -> None:
        """Drop whatever is put from now on, and what is queued behind all that has begun."""
        before, self._open, self._owed = self._epoch, False, 0
        self._epoch += 1
        for queue in self._queues:
            for epoch, record in _emptied(queue):
                if epoch == before and record.offset < self._reach.get(_partition(record), 0):
                    queue.put_nowait((self._epoch, record))
                    self._owed += 1
        self._note_idle()

    def reopen(self) -> None:
        """Take records again, as if none had come before; what is being handled goes on."""
        self._epoch += 1
        self._owed = 0
        self._reach.clear()
        for queue in self._queues:
            _emptied(queue)
        self._note_idle()
        self._open = True

    async def idle(self) -> None:
        """Wait until no batch is being handled and, once closed, none will be."""
        await self._idle.wait()

    async def stop(self) -> None:
        """Cancel what is running; it does not count as finished."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, queue: asyncio.Queue[_Entry]) -> None:
        while not self.failure.done():
            entries = [await queue.get()]
            while len(entries) < self._batch and not queue.empty():
                entries.append(queue.get_nowait())
            batch = [record for epoch, record in entries if epoch == self._epoch]
            if batch and not self.failure.done():
                await self._handle_batch(batch)

    async def _handle_batch(self, batch: list[Record]) -> None:
        self._begin(batch)
        try:
            await self._handle(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it stops the role
            if not self.failure.done():
                self.failure.set_exception(error)
        else:
            for record in batch:
                self._finished(record)
        finally:
            self._running -= 1
            self._note_idle()

    def _begin(self, batch: list[Record]) -> None:
        self._running += 1
        for record in batch:
            partition = _partition(record)
            self._reach[partition] = max(record.offset, self._reach.get(partition, 0))
        if not self._open:
            self._owed -= len(batch)
        self._note_idle()

    def _note_idle(self) -> None:
        if self._running or (self._owed and not self.failure.done()):
            self._idle.clear()
        else:
            self._idle.set()

    def _lane(self, record: Record) -> int:
        key = record.key if record.key is not None else str(record.offset).encode()
        return zlib.crc32(key) % len(self._queues)


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _emptied(queue: asyncio.Queue[_Entry]) -> list[_Entry]:
    entries = []
    while not queue.empty():
        entries.append(queue.get_nowait())
    return entries

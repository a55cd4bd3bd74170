"""A Faust app without its thread: `SafeConsumer`, `FaustSource`, lanes and ledger are real.

What stands here is what Faust does around them: it fetches, hands messages to agents over bounded
streams, commits every half second, and tells the consumer of rebalances.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from aiokafka.errors import CommitFailedError, IllegalStateError
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.types import TP, Message

from safepassage.streams.delivery.faust_source import FaustSource, SafeConsumer

from .broker import Broker
from .clients import GroupConsumer
from .loop import PROCESS

POLL_MILLISECONDS = 1_000
COMMIT_SECONDS = 0.5


class _Consumer(FaustConsumer):
    """Faust's, as far as `SafeConsumer` leans on it."""

    def __init__(self, app: App) -> None:
        self.app = SimpleNamespace(client_only=False)
        self.loop = asyncio.get_running_loop()
        self._own = app
        self.can_resume_flow, self.suspend_flow = asyncio.Event(), asyncio.Event()
        self.resume_flow()
        self._acked, self._acked_index, self._gap = defaultdict(list), defaultdict(set), {}

    async def force_commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        chosen = list(self._filter_tps_with_pending_acks(topics))
        return await self._commit_tps(chosen, start_new_transaction=start_new_transaction)

    async def _handle_attached(self, commit_offsets: Mapping[TP, int]) -> None:
        """Nothing is attached: results go through our own producer."""

    async def _commit_offsets(
        self, offsets: Mapping[TP, int], start_new_transaction: bool = True
    ) -> bool:
        assigned = self._own.group.assignment()
        offsets = {tp: offset for tp, offset in offsets.items() if tp in assigned}
        return bool(offsets) and await self._commit(offsets)

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        try:
            await self._own.group.commit(dict(offsets))
        except (CommitFailedError, IllegalStateError):
            return False
        return True

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        self._own.clear()

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        self._own.clear()
        self.resume_flow()
        self._own.assigned.set()

    def note_fetch(self) -> None:
        """The fetch loop here does not leave the group for full lanes."""

    def behind(self) -> list[tuple[str, int, int]]:
        return []

    def unplaced(self) -> list[Any]:
        return []


class App:
    """What `FaustSource` asks of ``faust.App``."""

    crash_reason: BaseException | None = None

    def __init__(self, source: FaustSource, broker: Broker) -> None:
        process = PROCESS.get()
        settings, role = source._settings, source.role.name
        name = f"{process.name}-{process.number}" if process else role
        self.group = GroupConsumer(broker, settings.group(role), settings, f"{role}-{name}")
        self.assigned = asyncio.Event()
        consumer = type("Consumer", (SafeConsumer, _Consumer), {"source": source})
        self.consumer = consumer(self)
        self._source = source
        self._size = max(16, 2 * source.role.batch)
        self._streams: dict[str, asyncio.Queue[Message]] = {}
        self._agents: list[tuple[str, Callable[[Any], Any]]] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped = asyncio.Event()
        self._generation = 0

    def topic(self, name: str, **_types: Any) -> str:
        self._streams[name] = asyncio.Queue(self._size)
        return name

    def agent(self, topic: str, name: str) -> Callable[[Callable[[Any], Any]], None]:
        return lambda deliver: self._agents.append((topic, deliver))

    async def start(self) -> None:
        self.group.subscribe(list(self._streams), listener=self)
        for topic, deliver in self._agents:
            stream = SimpleNamespace(events=lambda topic=topic: self._events(topic))
            self._tasks.append(asyncio.create_task(deliver(stream)))
        await self.group.start()
        await self.assigned.wait()
        self._tasks += [asyncio.create_task(work) for work in (self._fetch(), self._commit())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.group.stop()
        self._stopped.set()

    async def wait_until_stopped(self) -> None:
        await self._stopped.wait()

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        await self.consumer.on_partitions_revoked({TP(*tp) for tp in revoked})

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._generation = self.group.generation
        await self.consumer.on_partitions_assigned({TP(*tp) for tp in assigned})

    def clear(self) -> None:
        """Drop what no agent has taken yet."""
        for stream in self._streams.values():
            while not stream.empty():
                stream.get_nowait()

    async def _events(self, topic: str) -> AsyncIterator[Any]:
        while True:
            yield SimpleNamespace(message=await self._streams[topic].get())

    async def _fetch(self) -> None:
        """As Faust's fetcher: what comes while the flow is stopped is sought back, and what waits
        for room in a stream is dropped when it stops."""
        while True:
            await self.consumer.can_resume_flow.wait()
            fetched = await self.group.getmany(timeout_ms=POLL_MILLISECONDS)
            self._source.progress.polled()
            if not self.consumer.flow_active:
                self.group.seek_to_committed()
                continue
            generation = self._generation
            for record in itertools.chain.from_iterable(fetched.values()):
                if not self.consumer.flow_active or generation != self._generation:
                    break
                await self._put(record)

    async def _put(self, record: Any) -> None:
        putting = asyncio.ensure_future(self._streams[record.topic].put(_message(record)))
        stopping = asyncio.ensure_future(self.consumer.suspend_flow.wait())
        try:
            await asyncio.wait((putting, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
            stopping.cancel()

    async def _commit(self) -> None:
        while True:
            await asyncio.sleep(COMMIT_SECONDS)
            await self.consumer.commit()


def _message(record: Any) -> Message:
    return Message(
        record.topic,
        record.partition,
        record.offset,
        record.timestamp / 1000,
        record.timestamp_type,
        dict(record.headers),
        record.key,
        record.value,
        None,
    )

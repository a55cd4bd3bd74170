"""The clients of the broker in memory, with the methods of aiokafka's that the roles call."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import IllegalStateError
from aiokafka.structs import OffsetAndMetadata

from safepassage.streams.settings import Settings

from .broker import Broker, Member
from .loop import PROCESS, outside

FIRST_JOIN_SECONDS = 0.05


class Producer:
    """Keeps the order of each partition, as an idempotent producer does."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._last: dict[TopicPartition, float] = {}
        self._waiting: defaultdict[TopicPartition, deque[Any]] = defaultdict(deque)
        self._process = PROCESS.get()

    async def start(self) -> None:
        await asyncio.sleep(self._broker.latency())

    async def stop(self) -> None:
        await asyncio.sleep(self._broker.latency())

    async def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> asyncio.Future[None]:
        broker, loop = self._broker, self._broker.loop
        tp = broker.place(topic, key)
        at = max(self._last.get(tp, 0.0), loop.time() + broker.latency())
        self._last[tp] = at
        acknowledged: asyncio.Future[None] = loop.create_future()

        self._waiting[tp].append((key, value, headers, acknowledged))
        outside(loop, at - loop.time(), self._arrive, tp)
        return acknowledged

    def _arrive(self, tp: TopicPartition) -> None:
        """The next record of the partition reaches the broker: in order, whatever the timers do."""
        key, value, headers, acknowledged = self._waiting[tp].popleft()
        broker = self._broker
        if self._process and not self._process.alive and broker.draw.random() < 0.5:
            return  # it was still in the socket of the killed process
        error = broker.produce(tp, key, value, headers)

        def answer() -> None:
            if acknowledged.done():
                return
            if error:
                acknowledged.set_exception(error)
            else:
                acknowledged.set_result(None)

        outside(broker.loop, broker.latency(), answer)


class Consumer:
    """A reader outside every group, or a member of one."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._positions: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._subscription = SimpleNamespace(subscription=None)  # every position is known at once

    async def start(self) -> None:
        await asyncio.sleep(self._broker.latency())

    async def stop(self) -> None:
        await asyncio.sleep(0)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        known = self._broker.partitions.get(topic)
        return set(range(known)) if known else None

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self._positions = dict.fromkeys(partitions, 0)
        self._ends, self._paused = {}, set()

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(self._positions)

    def seek(self, tp: TopicPartition, offset: int) -> None:
        self._known(tp)
        self._positions[tp] = offset

    async def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        await asyncio.sleep(self._broker.latency())
        for tp in partitions:
            self.seek(tp, 0)

    async def beginning_offsets(self, partitions: Sequence[TopicPartition]) -> dict[Any, int]:
        await asyncio.sleep(self._broker.latency())
        return dict.fromkeys(partitions, 0)

    async def end_offsets(self, partitions: Sequence[TopicPartition]) -> dict[Any, int]:
        await asyncio.sleep(self._broker.latency())
        return {tp: len(self._broker.logs[tp]) for tp in partitions}

    async def position(self, tp: TopicPartition) -> int:
        self._known(tp)
        return self._positions[tp]

    def highwater(self, tp: TopicPartition) -> int | None:
        return self._ends.get(tp)

    def last_stable_offset(self, tp: TopicPartition) -> int | None:
        return self._ends.get(tp)

    def pause(self, *partitions: TopicPartition) -> None:
        self._paused.update(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        self._paused.difference_update(partitions)

    async def getone(self, tp: TopicPartition) -> ConsumerRecord:
        while True:
            if fetched := (await self.getmany(timeout_ms=1_000, max_records=1)).get(tp):
                return fetched[0]

    async def getmany(
        self, *, timeout_ms: int = 0, max_records: int | None = None
    ) -> dict[TopicPartition, list[ConsumerRecord]]:
        until = self._broker.loop.time() + timeout_ms / 1000
        while True:
            await asyncio.sleep(self._broker.latency())
            await self._settled()
            fetched = self._fetch(max_records or 500)
            left = until - self._broker.loop.time()
            if fetched or left <= 0:
                return fetched
            topics = dict.fromkeys(tp.topic for tp in self._positions)
            await self._broker.news(list(topics), left)

    async def _settled(self) -> None:
        """Wait for the end of a rebalance."""

    def _fetch(self, most: int) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Of each partition a run of records; not every partition answers every time."""
        fetched: dict[TopicPartition, list[ConsumerRecord]] = {}
        broker = self._broker
        ready = [tp for tp in self._positions if tp not in self._paused]
        broker.draw.shuffle(ready)
        for tp in ready:
            log, start = broker.logs[tp], self._positions[tp]
            late = broker.draw.random() < 0.2
            if late and (tp in self._ends or start < len(log)):
                continue
            self._ends[tp] = len(log)
            run = log[start : start + broker.draw.randint(1, most)] if most else []
            if run:
                fetched[tp] = run
                most -= len(run)
                self._positions[tp] = run[-1].offset + 1
        return fetched

    def _known(self, tp: TopicPartition) -> None:
        if tp not in self._positions:
            raise IllegalStateError(f"No current assignment for partition {tp}")


class GroupConsumer(Consumer):
    """A member of a group: it joins, beats, gives up and takes partitions as aiokafka's does."""

    def __init__(self, broker: Broker, group: str, settings: Settings, member: str) -> None:
        super().__init__(broker)
        self.group = group
        self.generation = 0
        self._member_name = member
        self._member: Member | None = None
        self._settings = settings
        self._listener: Any = None
        self._topics: Sequence[str] = ()
        self._stable = asyncio.Event()
        self._rejoin = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._joins = 0

    def subscribe(self, topics: Sequence[str], listener: Any = None) -> None:
        self._topics, self._listener = topics, listener

    async def start(self) -> None:
        await super().start()
        self._tasks = [asyncio.create_task(w) for w in (self._coordinate(), self._beat())]
        await self._stable.wait()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._member:
            self._broker.leave(self.group, self._member)

    async def commit(self, offsets: Mapping[TopicPartition, int | tuple[int, str]]) -> None:
        given = {
            tp: OffsetAndMetadata(*(one if isinstance(one, tuple) else (one, "")))
            for tp, one in offsets.items()
        }
        for tp in given:
            self._known(tp)
        await asyncio.sleep(self._broker.latency())
        self._broker.commit(self.group, self._member, self.generation, given)
        await asyncio.sleep(self._broker.latency())

    async def _settled(self) -> None:
        await self._stable.wait()

    async def _coordinate(self) -> None:
        while True:
            self._stable.clear()
            await self._tell("on_partitions_revoked", set(self._positions))
            await self._join()
            self._stable.set()
            # aiokafka lets fetches go on before its listener has been told.
            await self._tell("on_partitions_assigned", set(self._positions))
            await self._rejoin.wait()

    async def _tell(self, what: str, partitions: set[TopicPartition]) -> None:
        if self._listener:
            await getattr(self._listener, what)(partitions)

    async def _join(self) -> None:
        broker, settings = self._broker, self._settings
        self._rejoin.clear()
        await asyncio.sleep(FIRST_JOIN_SECONDS + broker.latency())
        known = broker.groups[self.group].members
        if self._member is None or known.get(self._member.id) is not self._member:
            self._joins += 1
            self._member = Member(
                f"{self._member_name}-{self._joins}",
                self._topics,
                settings.kafka_session_timeout_seconds,
                settings.kafka_rebalance_timeout_seconds,
            )
        self.generation, assigned = await broker.join(self.group, self._member)
        await asyncio.sleep(broker.latency())
        super().assign(assigned)
        self.seek_to_committed()

    def seek_to_committed(self) -> None:
        """Read on from what the group committed."""
        committed = self._broker.groups[self.group].committed
        for tp in self._positions:
            self._positions[tp] = committed[tp].offset if tp in committed else 0

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._settings.kafka_session_timeout_seconds / 5)
            member = self._member
            in_step = member is None or self._broker.beat(self.group, member, self.generation)
            if not in_step and self._stable.is_set():
                self._rejoin.set()


class Admin:
    """What the audit role asks of a group."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def start(self) -> None:
        await asyncio.sleep(self._broker.latency())

    async def close(self) -> None:
        await asyncio.sleep(0)

    async def list_consumer_group_offsets(
        self, group: str, _coordinator: Any = None, partitions: Sequence[TopicPartition] = ()
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        await asyncio.sleep(self._broker.latency())
        committed = self._broker.groups[group].committed
        return {tp: committed.get(tp, OffsetAndMetadata(-1, "")) for tp in partitions}

"""A broker in memory: logs, groups with generations, and faults for a while.

It does what Kafka's does, as far as the roles can see it: commits are refused to a member of a
former generation, a member that does not answer for its session is put out, and a rebalance waits
for the others until its timeout.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import (
    CommitFailedError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
)
from aiokafka.structs import OffsetAndMetadata

from .loop import EPOCH, VirtualLoop, outside

LATENCY = (0.0005, 0.02)
REFUSED = b"REFUSED-BY-THE-BROKER"
"""What holds it is too large for ever."""

ProduceFault = Literal["refuse", "lose-answer", "repeat"]
Commit = Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(eq=False, slots=True)
class Member:
    """One of a group. ``joined`` is where it waits for its partitions."""

    id: str
    topics: Sequence[str]
    session: float
    patience: float
    seen: float = 0.0
    joined: asyncio.Future[tuple[int, list[TopicPartition]]] | None = None
    expiry: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class Group:
    """``generation`` counts the rebalances that ended."""

    members: dict[str, Member] = field(default_factory=dict)
    generation: int = 0
    rebalancing: bool = False
    deadline: asyncio.TimerHandle | None = None
    committed: dict[TopicPartition, OffsetAndMetadata] = field(default_factory=dict)


class Broker:
    """``on_append`` and ``on_commit`` are told before the client is."""

    def __init__(self, loop: VirtualLoop, draw: random.Random) -> None:
        self.loop = loop
        self.draw = draw
        self.logs: dict[TopicPartition, list[ConsumerRecord]] = {}
        self.partitions: dict[str, int] = {}
        self.groups: defaultdict[str, Group] = defaultdict(Group)
        self.faults: dict[str, ProduceFault] = {}
        self.silent_until = 0.0
        self.on_append: Callable[[ConsumerRecord], None] = lambda _: None
        self.on_commit: Callable[[str, TopicPartition, int], None] = lambda *_: None
        self._waiting: defaultdict[str, dict[asyncio.Future[None], None]] = defaultdict(dict)

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic, unless it is there."""
        if topic not in self.partitions:
            self.partitions[topic] = partitions
            for number in range(partitions):
                self.logs[TopicPartition(topic, number)] = []

    def latency(self) -> float:
        """Seconds of one way; a silent broker answers when it is back."""
        return max(0.0, self.silent_until - self.loop.time()) + self.draw.uniform(*LATENCY)

    def place(self, topic: str, key: bytes | None) -> TopicPartition:
        """Where a record of that key goes."""
        number = zlib.crc32(key) if key is not None else self.draw.randrange(1 << 30)
        return TopicPartition(topic, number % self.partitions[topic])

    def produce(
        self,
        tp: TopicPartition,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
    ) -> KafkaError | None:
        """What comes of a record that arrived: its error, or None. An error does not say that the
        record is not there."""
        if value is not None and REFUSED in value and tp.topic == "extractions":
            return MessageSizeTooLargeError()
        fault = self.faults.get(tp.topic) or self.faults.get("*")
        if fault == "refuse":
            return NotEnoughReplicasError()
        for _ in range(2 if fault == "repeat" and self.draw.random() < 0.5 else 1):
            self.append(tp, key, value, headers)
        return KafkaTimeoutError() if fault == "lose-answer" and self.draw.random() < 0.7 else None

    def append(
        self,
        tp: TopicPartition,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Add a record to its log."""
        log = self.logs[tp]
        record = ConsumerRecord(
            topic=tp.topic,
            partition=tp.partition,
            offset=len(log),
            timestamp=int((EPOCH + self.loop.time()) * 1000),
            timestamp_type=0,
            key=key,
            value=value,
            checksum=None,
            serialized_key_size=len(key or b""),
            serialized_value_size=len(value or b""),
            headers=tuple(headers),
        )
        log.append(record)
        self.loop.note(tp, zlib.crc32(value or b""))
        self.on_append(record)
        for waiting in self._waiting.pop(tp.topic, ()):
            if not waiting.done():
                waiting.set_result(None)

    def news(self, topics: Sequence[str], seconds: float) -> asyncio.Future[None]:
        """Done when a record comes on one of the topics, and at the latest after ``seconds``."""
        waiting: asyncio.Future[None] = self.loop.create_future()
        for topic in topics:
            self._waiting[topic][waiting] = None

        def done() -> None:
            if not waiting.done():
                waiting.set_result(None)

        outside(self.loop, seconds, done)
        return waiting

    # Groups

    def join(self, name: str, member: Member) -> asyncio.Future[tuple[int, list[TopicPartition]]]:
        """Done when the rebalance ends: the generation, and the member's partitions."""
        group = self.groups[name]
        group.members[member.id] = member
        member.joined = self.loop.create_future()
        self._seen(name, member)
        self._rebalance(name)
        joined = member.joined
        self._complete(name)
        return joined

    def beat(self, name: str, member: Member, generation: int) -> bool:
        """A heartbeat; False where the member has to join again."""
        group = self.groups[name]
        if group.members.get(member.id) is not member:
            return False
        self._seen(name, member)
        return not group.rebalancing and generation == group.generation

    def leave(self, name: str, member: Member) -> None:
        """A member goes."""
        group = self.groups[name]
        if member.expiry:
            member.expiry.cancel()
        if group.members.get(member.id) is member:
            del group.members[member.id]
            self._rebalance(name)
            self._complete(name)

    def commit(self, name: str, member: Member | None, generation: int, offsets: Commit) -> None:
        """
        Raises:
            CommitFailedError: another generation began without the member.
        """
        group = self.groups[name]
        known = member is not None and group.members.get(member.id) is member
        if not known or generation != group.generation:
            raise CommitFailedError
        for tp, offset in offsets.items():
            self.loop.note("commit", name, tp, offset.offset)
            self.on_commit(name, tp, offset.offset)
            group.committed[tp] = offset

    def _seen(self, name: str, member: Member) -> None:
        member.seen = self.loop.time()
        if member.expiry is None:
            self._watch(name, member)

    def _watch(self, name: str, member: Member) -> None:
        left = max(member.seen, self.silent_until) + member.session - self.loop.time()
        if left > 0:
            member.expiry = outside(self.loop, left, self._watch, name, member)
        else:
            self.leave(name, member)

    def _rebalance(self, name: str) -> None:
        group = self.groups[name]
        if group.rebalancing:
            return
        group.rebalancing = True
        patience = max((m.patience for m in group.members.values()), default=0.0)
        group.deadline = outside(self.loop, patience, self._put_out, name)

    def _put_out(self, name: str) -> None:
        group = self.groups[name]
        for member in [m for m in group.members.values() if m.joined is None]:
            del group.members[member.id]
        self._complete(name)

    def _complete(self, name: str) -> None:
        """End the rebalance where all have joined. Late comers begin another."""
        group = self.groups[name]
        if not group.rebalancing or any(m.joined is None for m in group.members.values()):
            return
        if group.deadline:
            group.deadline.cancel()
        group.rebalancing = False
        group.generation += 1
        assigned = self._assign(list(group.members.values()))
        self.loop.note("generation", name, group.generation, sorted(group.members))
        for member in group.members.values():
            joined, member.joined = member.joined, None
            if joined and not joined.done():
                joined.set_result((group.generation, assigned[member.id]))

    def _assign(self, members: Sequence[Member]) -> dict[str, list[TopicPartition]]:
        """The same numbers of every topic to one member, as range assignment does."""
        assigned: dict[str, list[TopicPartition]] = {member.id: [] for member in members}
        for topic in sorted({topic for member in members for topic in member.topics}):
            own = sorted((m for m in members if topic in m.topics), key=lambda m: m.id)
            for number in range(self.partitions[topic]):
                member = own[number * len(own) // self.partitions[topic]]
                assigned[member.id].append(TopicPartition(topic, number))
        return assigned

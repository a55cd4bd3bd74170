"""A broker that grants a user little: it answers as Apache Kafka does where a right is missing.

The answers are given at aiokafka's boundary, the one call by which every request of its own
clients and of Faust's leaves the process. The embedded broker behind knows no rights.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aiokafka.conn import AIOKafkaConnection

from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCESS, Access

PRODUCE, FETCH, METADATA, OFFSET_COMMIT, OFFSET_FETCH = 0, 1, 3, 8, 9
FIND_COORDINATOR, JOIN_GROUP, CREATE_TOPICS, DESCRIBE_CONFIGS = 10, 11, 19, 32
NOT_LEADER = 6
TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED = 29, 30


@dataclass
class Rights:
    """What one user may do, by the names on the broker; ``denied`` fills with what it tried."""

    read: frozenset[str] = frozenset()
    write: frozenset[str] = frozenset()
    describe: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    configurations: bool = True
    denied: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.describe |= self.read | self.write

    def without_groups(self) -> Rights:
        return Rights(self.read, self.write, self.describe)

    def install(self, monkeypatch: Any) -> Rights:
        """Make every connection of this process one of this user's."""
        real = AIOKafkaConnection.send

        def send(connection: Any, request: Any, expect_response: bool = True) -> Any:
            struct = request.prepare(connection._versions)
            refusal = self._refusal(struct)
            if refusal is not None:
                return _answered(refusal)
            answer = real(connection, request, expect_response)
            return self._only_described(struct, answer) if struct.API_KEY == METADATA else answer

        monkeypatch.setattr(AIOKafkaConnection, "send", send)
        return self

    def _refusal(self, struct: Any) -> Any:
        match struct.API_KEY:
            case key if key in (PRODUCE, FETCH):
                allowed = self.write if key == PRODUCE else self.read
                refused = {topic[0] for topic in struct.topics} - allowed
                self._deny("write" if key == PRODUCE else "read", refused)
                if refused:
                    return _refused(struct, refused)
            case key if key in (FIND_COORDINATOR, JOIN_GROUP):
                group = struct.coordinator_key if key == FIND_COORDINATOR else struct.group
                if group not in self.groups:
                    return _filled(struct, error_code=GROUP_AUTHORIZATION_FAILED)
            case key if key == CREATE_TOPICS:
                names = [topic[0] for topic in struct.create_topic_requests]
                self._deny("create", names)
                return _filled(
                    struct,
                    topic_errors=[(name, TOPIC_AUTHORIZATION_FAILED, None) for name in names],
                )
            case key if key == DESCRIBE_CONFIGS and not self.configurations:
                code = TOPIC_AUTHORIZATION_FAILED
                return _filled(
                    struct, resources=[(code, "", 2, r[1], []) for r in struct.resources]
                )
        return None

    def _deny(self, operation: str, names: Iterable[str]) -> None:
        self.denied += [(operation, name) for name in names]

    async def _only_described(self, struct: Any, answer: Any) -> Any:
        metadata = await answer
        named = {topic[1] for topic in metadata.topics if topic[1] not in self.describe}
        if struct.topics is None:  # all topics: those that may not be described are left out
            metadata.topics = [topic for topic in metadata.topics if topic[1] not in named]
        else:
            metadata.topics = [
                (TOPIC_AUTHORIZATION_FAILED, *topic[1:-1], []) if topic[1] in named else topic
                for topic in metadata.topics
            ]
        return metadata


def rights_of(role: str, settings: Settings) -> Rights:
    """The documented rights of a role."""
    access: Access = ACCESS[role]
    return Rights(
        read=frozenset(settings.topic(topic.name) for topic in access.reads),
        write=frozenset(settings.topic(topic.name) for topic in access.writes),
        groups=frozenset(settings.group(group) for group in access.groups),
    )


def _refused(struct: Any, refused: set[str]) -> Any:
    """The answer to a fetch or a produce request. What is allowed beside the refused has to be
    asked for again, by itself."""
    schema = struct.RESPONSE_TYPE.SCHEMA
    topics = schema.fields[schema.names.index("topics")].array_of
    names = topics.fields[1].array_of.names

    def answer(partition: int, code: int) -> tuple[Any, ...]:
        known = {"partition": partition, "error_code": code, "message_set": b""}
        known |= {"record_errors": [], "error_message": None, "aborted_transactions": []}
        return tuple(known.get(name, -1) for name in names)

    return _filled(
        struct,
        topics=[
            (
                topic,
                [
                    answer(
                        partition[0], TOPIC_AUTHORIZATION_FAILED if topic in refused else NOT_LEADER
                    )
                    for partition in partitions
                ],
            )
            for topic, partitions in struct.topics
        ],
    )


def _filled(struct: Any, **fields: Any) -> Any:
    """An answer to ``struct`` with these fields, and nothing in the others."""
    schema = struct.RESPONSE_TYPE.SCHEMA
    empty = {"throttle_time_ms": 0, "coordinator_id": -1, "host": "", "port": 0}
    empty |= {"generation_id": -1, "group_protocol": "", "leader_id": "", "member_id": ""}
    empty |= {"members": [], "error_message": None, "session_id": 0, "error_code": 0}
    return struct.RESPONSE_TYPE(**{name: {**empty, **fields}[name] for name in schema.names})


def _answered(response: Any) -> asyncio.Future[Any]:
    answer = asyncio.get_running_loop().create_future()
    answer.set_result(response)
    return answer

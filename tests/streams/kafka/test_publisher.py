"""Nothing counts as out before the broker said so, and one bad record does not hold up others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RecordTooLargeError,
    TopicAuthorizationFailedError,
)

from safepassage.schemas import Document
from safepassage.streams.kafka.publisher import KafkaPublisher, PublishFailed, WriteRefused
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS

Fate = Callable[[str, int], Exception | None]


class Producer:
    """Stands in for aiokafka's. ``on_send`` and ``on_ack`` decide by key and attempt."""

    def __init__(self, on_send: Fate = lambda *_: None, on_ack: Fate = lambda *_: None) -> None:
        self.on_send, self.on_ack = on_send, on_ack
        self.attempts: dict[str, int] = {}
        self.acknowledged: list[str] = []
        self.topics: set[str] = set()

    async def send(self, topic: str, *, value: bytes, key: bytes, headers: Any) -> Any:
        name = key.decode()
        attempt = self.attempts[name] = self.attempts.get(name, 0) + 1
        self.topics.add(topic)
        if error := self.on_send(name, attempt):
            raise error
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if error := self.on_ack(name, attempt):
            future.set_exception(error)
        else:
            self.acknowledged.append(name)
            future.set_result(None)
        return future


def publisher(producer: Producer, patience: float = 5) -> KafkaPublisher:
    settings = Settings(publish_patience_seconds=patience, topic_prefix="p-")
    return KafkaPublisher(producer, settings)  # type: ignore[arg-type]


def documents(*names: str) -> list[Outgoing]:
    return [Outgoing(DOCUMENTS, name, Document(id=name, text="t")) for name in names]


async def test_all_are_acknowledged_under_the_prefixed_topic():
    producer = Producer()
    assert await publisher(producer).publish(documents("a", "b")) == {}
    assert (producer.acknowledged, producer.topics) == (["a", "b"], {"p-documents"})


async def test_nothing_to_publish_is_nothing_to_wait_for():
    assert await publisher(Producer()).publish([]) == {}


@pytest.mark.parametrize("error", [MessageSizeTooLargeError, RecordTooLargeError])
@pytest.mark.parametrize("when", ["on_send", "on_ack"])
async def test_a_record_that_is_refused_for_ever_is_named_and_not_repeated(
    error: type[Exception], when: str
):
    producer = Producer(**{when: lambda name, _: error() if name == "b" else None})
    refused = await publisher(producer).publish(documents("a", "b", "c"))
    assert refused == {1: error.__name__}
    assert producer.acknowledged == ["a", "c"]
    assert producer.attempts["b"] == 1


async def test_what_failed_for_now_is_repeated_and_what_was_acknowledged_is_not():
    producer = Producer(
        on_ack=lambda name, attempt: (
            NotLeaderForPartitionError() if name == "b" and attempt < 3 else None
        )
    )
    assert await publisher(producer).publish(documents("a", "b", "c")) == {}
    assert producer.attempts == {"a": 1, "b": 3, "c": 1}


async def test_a_send_that_fails_for_now_keeps_the_order_of_those_behind_it():
    producer = Producer(
        on_send=lambda name, attempt: KafkaTimeoutError() if (name, attempt) == ("a", 1) else None
    )
    assert await publisher(producer).publish(documents("a", "b", "c")) == {}
    assert producer.acknowledged == ["a", "b", "c"]


async def test_a_broker_that_stays_away_ends_in_publish_failed():
    producer = Producer(on_ack=lambda *_: KafkaConnectionError())
    with pytest.raises(PublishFailed, match="2 records for p-documents: KafkaConnectionError"):
        await publisher(producer, patience=0.05).publish(documents("a", "b"))


@pytest.mark.parametrize("when", ["on_send", "on_ack"])
async def test_a_write_that_is_refused_is_not_repeated_and_names_topic_and_right(when: str):
    error = TopicAuthorizationFailedError("p-documents")
    producer = Producer(**{when: lambda name, _: error if name == "b" else None})
    with pytest.raises(WriteRefused, match="topic p-documents: this user may not Write it") as told:
        await publisher(producer, patience=600).publish(documents("a", "b", "c"))
    assert "doctor --acls" in str(told.value)
    assert producer.attempts["b"] == 1


async def test_a_refused_write_is_told_although_the_broker_also_fails_for_now():
    errors = {"a": KafkaTimeoutError(), "b": TopicAuthorizationFailedError(), "c": None}
    producer = Producer(on_ack=lambda name, _: errors[name])
    with pytest.raises(WriteRefused, match="p-documents"):
        await publisher(producer, patience=600).publish(documents("a", "b", "c"))


@pytest.mark.parametrize("error", [OutOfOrderSequenceNumber, ProducerFenced])
async def test_a_producer_that_lost_its_identity_does_not_try_in_vain(error: type[Exception]):
    producer = Producer(on_ack=lambda *_: error())
    with pytest.raises(PublishFailed):
        await publisher(producer).publish(documents("a"))
    assert producer.attempts == {"a": 1}


async def test_an_error_that_is_not_the_brokers_is_not_taken_for_one():
    producer = Producer(on_ack=lambda *_: ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await publisher(producer).publish(documents("a"))

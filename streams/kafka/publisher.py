"""Publishing with the answer awaited: nothing counts as out before the broker said so."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import stamina
import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    KafkaError,
    MessageSizeTooLargeError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RecordTooLargeError,
)
from aiokafka.structs import RecordMetadata

from safepassage.schemas import Coordinates, Verdict

from ..runtime import metrics
from ..runtime.tracing import tracing
from ..settings import Settings
from ..topics import ACCEPTED, QUARANTINE
from .clients import new_producer
from .erasures_and_seals import protection
from .records import Outgoing, cloud_event
from .refusals import RIGHTS_ERRORS, refused_write
from .schema_registry import framed

log = structlog.get_logger(__name__)

# Errors of one record, which no repetition mends.
RECORD_ERRORS = (MessageSizeTooLargeError, RecordTooLargeError)

# Errors of the producer itself: the broker lost or replaced its identity. Only a new one, in a
# new process, can go on.
PRODUCER_ERRORS = (OutOfOrderSequenceNumber, ProducerFenced)


class PublishFailed(Exception):
    """The broker did not take the records in time, or refuses them to this user. The role stops
    without committing."""


class WriteRefused(PublishFailed):
    """This user may not write to a topic; the message names it, and the right."""


class Publisher(Protocol):
    """What the roles publish through."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        """Publish all and wait for every acknowledgement. What is about an erased document is
        left out.

        Returns the positions of records that the broker will never take, with the error's name.
        Raises `WriteRefused` where this user may not write to one of the topics; `PublishFailed`
        where the others could not all be published in time."""
        ...


async def hand_over(
    producer: AIOKafkaProducer, outgoing: Outgoing, settings: Settings
) -> asyncio.Future[RecordMetadata]:
    """Give one record to the producer; what is awaited of the result is the acknowledgement."""
    name = settings.topic(outgoing.topic.name)
    if outgoing.traceparent is None:
        outgoing = replace(outgoing, traceparent=tracing().origin(name))
    key = outgoing.encoded_key()
    value = protection(settings).sealed(outgoing.event, outgoing.topic, name, key)
    headers = outgoing.headers()
    if settings.cloud_events:
        headers += cloud_event(outgoing, name, value)
    value = await framed(value, outgoing.topic, settings)
    future: asyncio.Future[RecordMetadata] = await producer.send(
        name, value=value, key=key, headers=headers
    )
    return future


def place_of(written: RecordMetadata) -> Coordinates:
    """Where a record is that was acknowledged."""
    return Coordinates(topic=written.topic, partition=written.partition, offset=written.offset)


async def send_values(
    producer: AIOKafkaProducer, topic: str, values: Mapping[bytes, bytes | None]
) -> None:
    """Send each key's value as it is, None for a tombstone, and wait until all are out. Raises
    `aiokafka.errors.KafkaError` where the broker did not take one of them."""
    sent = [await producer.send(topic, key=key, value=value) for key, value in values.items()]
    await asyncio.gather(*sent)


class KafkaPublisher:
    """Publishes through one aiokafka producer, which it owns between `start` and `stop`."""

    def __init__(self, producer: AIOKafkaProducer, settings: Settings) -> None:
        self.producer = producer
        self._settings = settings

    async def start(self) -> None:
        try:
            await self.producer.start()
        except BaseException:
            await self.producer.stop()  # aiokafka leaves its connections open otherwise
            raise

    async def stop(self) -> None:
        await self.producer.stop()

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        refused: dict[int, str] = {}
        known = protection(self._settings)
        pending = {at: o for at, o in enumerate(outgoing) if not known.erased_event(o.event)}
        try:
            async for attempt in stamina.retry_context(
                on=_may_pass,
                attempts=None,
                timeout=self._settings.publish_patience_seconds,
                wait_max=10,
            ):
                with attempt:
                    await self._publish_pending(pending, refused)
        except KafkaError as error:
            topics = {self._settings.topic(out.topic.name) for out in pending.values()}
            where = f"{len(pending)} records for {', '.join(sorted(topics))}"
            raise PublishFailed(f"{where}: {type(error).__name__}") from error
        return refused

    async def _publish_pending(self, pending: dict[int, Outgoing], refused: dict[int, str]) -> None:
        """Send what is pending, in order; acknowledged and refused records leave ``pending``."""
        handed_over: list[tuple[int, asyncio.Future[RecordMetadata]]] = []
        failures: list[tuple[Outgoing, KafkaError]] = []
        for position, outgoing in list(pending.items()):
            try:
                handed_over.append(
                    (position, await hand_over(self.producer, outgoing, self._settings))
                )
            except RECORD_ERRORS as error:
                refused[position] = type(error).__name__
                del pending[position]
            except KafkaError as error:
                failures.append((outgoing, error))
                break
        results = await asyncio.gather(*(f for _, f in handed_over), return_exceptions=True)
        for (position, _), result in zip(handed_over, results, strict=True):
            if isinstance(result, RECORD_ERRORS):
                refused[position] = type(result).__name__
            elif isinstance(result, KafkaError):
                failures.append((pending[position], result))
                continue
            elif isinstance(result, BaseException):
                raise result
            else:
                _count(pending[position])
            del pending[position]
        for outgoing, failure in failures:
            if isinstance(failure, RIGHTS_ERRORS):
                name = self._settings.topic(outgoing.topic.name)
                raise WriteRefused(refused_write(name, failure)) from failure
        if failures:
            raise failures[0][1]


@contextlib.asynccontextmanager
async def open_publisher(settings: Settings) -> AsyncIterator[KafkaPublisher]:
    """A publisher with a producer of its own, closed on the way out."""
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        yield publisher
    finally:
        await publisher.stop()


def _may_pass(error: Exception) -> bool:
    return isinstance(error, KafkaError) and not isinstance(error, PRODUCER_ERRORS)


def _count(outgoing: Outgoing) -> None:
    verdict = outgoing.event
    # A shadow's and a replay's verdicts decide nothing.
    if not isinstance(verdict, Verdict) or outgoing.topic not in (ACCEPTED, QUARANTINE):
        return
    metrics.VERDICTS.labels(verdict.decision, next(iter(verdict.reasons), "")).inc()
    if outgoing.born:
        seconds = max(0.0, time.time() - outgoing.born / 1000)
        metrics.END_TO_END_SECONDS.labels(verdict.decision).observe(seconds)
    # What passes is the bulk; what is stopped is what an operator follows up.
    level = logging.DEBUG if verdict.decision == "accepted" else logging.INFO
    log.log(
        level,
        "verdict",
        doc_id=verdict.doc_id,
        extraction_id=verdict.extraction_id,
        verdict_id=verdict.id,
        decision=verdict.decision,
        reasons=verdict.reasons,
    )

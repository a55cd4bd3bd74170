"""Documents and answers onto their topics, and waiting for what becomes of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping

from aiokafka import TopicPartition
from aiokafka.structs import RecordMetadata

from safepassage.files import Rejected
from safepassage.schemas import Coordinates, DeadLetter, Document, DocumentReport, Response
from safepassage.streams.kafka.erasures_and_seals import protection
from safepassage.streams.kafka.publisher import (
    RECORD_ERRORS,
    hand_over,
    open_publisher,
    place_of,
)
from safepassage.streams.kafka.reading import assign, reader, to_record
from safepassage.streams.kafka.records import Outgoing, Record, event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS, DOCUMENTS, REPORTS, RESPONSES

from .documents import Submittable

POLL_MILLISECONDS = 250
IN_FLIGHT = 64


async def submit(
    documents: Iterable[Submittable], settings: Settings, *, anew: bool = False
) -> AsyncIterator[tuple[Coordinates | Rejected, Submittable]]:
    """Publish each document or response; yields it with its coordinates once the broker has it, or
    with why the broker will never take it. ``anew`` has the LLM asked also where the same text was
    answered before."""
    async with open_publisher(settings) as publisher:
        sending: list[tuple[asyncio.Future[RecordMetadata], Submittable]] = []
        reading = iter(documents)
        # In a thread: a scan takes seconds to read, in which the producer has to go on.
        while (found := await asyncio.to_thread(next, reading, None)) is not None:
            try:
                future = await hand_over(publisher.producer, _outgoing(found, anew), settings)
            except RECORD_ERRORS as error:
                future = asyncio.get_running_loop().create_future()
                future.set_exception(error)
            sending.append((future, found))
            if len(sending) >= IN_FLIGHT:
                yield await _acknowledged(*sending.pop(0), settings)
        for sent in sending:
            yield await _acknowledged(*sent, settings)


async def wait_for_reports(
    pending: set[Coordinates],
    settings: Settings,
    steps: Mapping[TopicPartition, int] | None = None,
    note: Callable[[Record], None] = lambda _record: None,
) -> AsyncIterator[DocumentReport | DeadLetter]:
    """The report, or else the dead letter, of each document of ``pending``, as they come. ``note``
    is told of every record from ``steps`` on, which are places on other topics."""
    async with reader(settings) as consumer:
        names = [settings.topic(t.name) for t in (REPORTS, DEAD_LETTERS)]
        await assign(consumer, [*names, *(tp.topic for tp in steps or ())], steps)
        remaining = set(pending)
        while remaining:
            fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
            for tp, messages in fetched.items():
                for message in messages:
                    if tp.topic not in names:
                        note(to_record(message, protection(settings)))
                        continue
                    event = _outcome(tp, message, settings)
                    place = event and about(event)
                    if event and place in remaining:
                        remaining.discard(place)
                        yield event


def is_reported(document: Submittable) -> bool:
    """Whether a report or a dead letter names the record of ``document``: the parts of an answer
    before its last one have none of their own."""
    return not isinstance(document, Response) or document.complete


def _outgoing(document: Submittable, anew: bool) -> Outgoing:
    topic = DOCUMENTS if isinstance(document, Document) else RESPONSES
    return Outgoing(topic, document.id, document, anew=anew)


async def _acknowledged(
    future: asyncio.Future[RecordMetadata], document: Submittable, settings: Settings
) -> tuple[Coordinates | Rejected, Submittable]:
    try:
        return place_of(await future), document
    except RECORD_ERRORS:
        why = (
            f"the broker takes no record of its {len(document.to_json())} bytes; raise the topic's "
            "max.message.bytes (`safepassage doctor --alter-topics` says how)"
        )
        return Rejected(document.id, why), document


def _outcome(
    tp: TopicPartition, message: object, settings: Settings
) -> DocumentReport | DeadLetter | None:
    record = to_record(message, protection(settings))
    if tp.topic == settings.topic(REPORTS.name):
        return event_of(record, DocumentReport)
    letter = event_of(record, DeadLetter)
    # Where the manifest is, the report counts what was refused.
    return None if letter and letter.manifest_stands else letter


def about(event: DocumentReport | DeadLetter) -> Coordinates | None:
    """Where the document is that ``event`` is about."""
    return event.source if isinstance(event, DeadLetter) else event.document.coordinates

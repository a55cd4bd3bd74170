"""Documents and answers onto their topics, and waiting for what becomes of them."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Final

from aiokafka import TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.structs import RecordMetadata

from safepassage.files import Rejected
from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    Document,
    DocumentReport,
    DriftWarning,
    ExtractionManifest,
    Response,
)

from ..delivery.llm_warnings import MEASURE
from ..kafka.erasures_and_seals import protection
from ..kafka.publisher import RECORD_ERRORS, hand_over, open_publisher, place_of
from ..kafka.reading import UnknownTopic, assign, reader, tails, to_record
from ..kafka.records import Outgoing, Record, event_of
from ..settings import Settings
from ..topics import ALIGNMENTS, DEAD_LETTERS, DOCUMENTS, MANIFESTS, REPORTS, RESPONSES, WARNINGS
from .documents import Submittable

POLL_MILLISECONDS = 250
IN_FLIGHT = 64


async def submit(
    documents: Iterable[Submittable], settings: Settings, *, anew: bool = False
) -> AsyncIterator[tuple[Coordinates | Rejected, Submittable]]:
    """Publish each document or response; yields it with its coordinates once the broker has it, or
    with why it never will. ``anew`` has the LLM asked also about a text that it answered before."""
    async with open_publisher(settings) as publisher:
        sending: list[tuple[asyncio.Future[RecordMetadata], Submittable]] = []
        reading = iter(documents)
        # In a thread: a scan takes seconds to read, in which the producer has to go on.
        while (found := await asyncio.to_thread(next, reading, None)) is not None:
            try:
                topic = DOCUMENTS if isinstance(found, Document) else RESPONSES
                outgoing = Outgoing(topic, found.id, found, anew=anew)
                future = await hand_over(publisher.producer, outgoing, settings)
            except RECORD_ERRORS as error:
                future = asyncio.get_running_loop().create_future()
                future.set_exception(error)
            sending.append((future, found))
            if len(sending) >= IN_FLIGHT:
                yield await _acknowledged(*sending.pop(0))
        for sent in sending:
            yield await _acknowledged(*sent)


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
                    record = to_record(message, protection(settings))
                    if tp.topic not in names:
                        note(record)
                        continue
                    event = _outcome(record, settings)
                    place = event and about(event)
                    if event and place in remaining:
                        remaining.discard(place)
                        yield event


def is_reported(document: Submittable) -> bool:
    """Whether a report names its record: of the parts of an answer only the last one has it."""
    return not isinstance(document, Response) or document.complete


async def _acknowledged(
    future: asyncio.Future[RecordMetadata], document: Submittable
) -> tuple[Coordinates | Rejected, Submittable]:
    try:
        return place_of(await future), document
    except RECORD_ERRORS:
        why = (
            f"the broker takes no record of its {len(document.to_json())} bytes; raise the topic's "
            "max.message.bytes (`safepassage doctor --alter-topics` says how)"
        )
        return Rejected(document.id, why), document


def _outcome(record: Record, settings: Settings) -> DocumentReport | DeadLetter | None:
    if record.topic == settings.topic(REPORTS.name):
        return event_of(record, DocumentReport)
    letter = event_of(record, DeadLetter)
    # Where the manifest is, the report counts what was refused.
    return None if letter and letter.manifest_stands else letter


def about(event: DocumentReport | DeadLetter) -> Coordinates | None:
    return event.source if isinstance(event, DeadLetter) else event.document.coordinates


STEP_TOPICS: Final = (MANIFESTS, ALIGNMENTS, WARNINGS)


async def step_starts(settings: Settings) -> dict[TopicPartition, int]:
    """Where `STEP_TOPICS` end now, as far as they exist and this user may read them."""
    found: dict[TopicPartition, int] = {}
    for topic in STEP_TOPICS:
        with contextlib.suppress(UnknownTopic, TopicAuthorizationFailedError):
            # One record before the end: the embedded broker tells nothing past it.
            found |= await tails(settings, [topic], 1)
    return found


class SubmissionProgress:
    """Counts documents by step. ``documents`` are the ids of those that wait for a report."""

    def __init__(
        self,
        documents: Mapping[Coordinates, str],
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = dict(documents)
        self._by_key = {name.encode("utf-8", "replace"): name for name in documents.values()}
        self._topics = {settings.topic(topic.name): topic for topic in STEP_TOPICS}
        self._clock = clock
        self._started = clock()
        self._extracted: set[str] = set()
        self._aligned: set[str] = set()
        self._judged: set[str] = set()

    def note(self, record: Record) -> str | None:
        """Take a record of `STEP_TOPICS`; gives what it says of the LLM, where it says something.

        An alignment is told by its key and not read.
        """
        topic = self._topics.get(record.topic)
        if topic is ALIGNMENTS and record.key in self._by_key:
            self._extracted.add(self._by_key[record.key])
            self._aligned.add(self._by_key[record.key])
        elif topic is MANIFESTS and (manifest := event_of(record, ExtractionManifest)):
            place = manifest.document.coordinates
            if place in self._documents:
                self._extracted.add(self._documents[place])
        elif topic is WARNINGS and (warning := event_of(record, DriftWarning)):
            return warning.detail if warning.measure == MEASURE else None
        return None

    def ended(self, place: Coordinates) -> None:
        """The document at ``place`` has its report, or a dead letter: all steps are behind it."""
        for step in (self._extracted, self._aligned, self._judged):
            step.add(self._documents[place])

    @property
    def counts(self) -> tuple[int, int, int, int]:
        extracted, aligned, judged = map(len, (self._extracted, self._aligned, self._judged))
        return len(self._by_key), extracted, aligned, judged

    @property
    def minutes_left(self) -> float | None:
        """At the pace so far; None before the first step is done."""
        sent, *steps = self.counts
        if not sum(steps):
            return None
        left = len(steps) * sent - sum(steps)
        return (self._clock() - self._started) / sum(steps) * left / 60

    def __str__(self) -> str:
        sent, extracted, aligned, judged = self.counts
        said = f"{sent} sent, {extracted} extracted, {aligned} aligned, {judged} judged"
        minutes = self.minutes_left
        if minutes is None or judged == sent:
            return said
        return f"{said}, {'under a minute' if minutes < 1 else f'{minutes:.0f} min'} left"

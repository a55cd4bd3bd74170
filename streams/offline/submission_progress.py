"""How far the documents of a submission are, by what is on the topics."""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Final

from aiokafka import TopicPartition
from aiokafka.errors import TopicAuthorizationFailedError

from safepassage.schemas import Coordinates, DriftWarning, ExtractionManifest
from safepassage.streams.delivery.llm_warnings import MEASURE
from safepassage.streams.kafka.reading import UnknownTopic, tails
from safepassage.streams.kafka.records import Record, event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS, MANIFESTS, WARNINGS

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
    """Counts documents by step. ``documents`` are the ids of those that a report is awaited of, by
    where they are on their topic."""

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
        """Documents sent, extracted, aligned and judged."""
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

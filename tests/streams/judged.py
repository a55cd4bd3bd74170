"""Aligned extractions, verdicts and scorers for the tests of what comes after alignment."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Coordinates,
    Document,
    Event,
    Extraction,
    ExtractorTrail,
    Span,
    Verdict,
    judge,
)
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.settings import Settings
from safepassage.streams.topics import Topic

NOTHING = LearntFrom()
SENTENCE = "The hearing took place on {value} in the small courtroom."


@dataclass
class FakeScorer:
    """A pure function of the pair: supported where the value's checksum says so.

    ``stop`` names values that it never supports, so that two fakes can differ.
    """

    name: str = "fake"
    revision: str = "fake-1"
    stop: frozenset[str] = frozenset()
    fails: bool = False
    learnt_from: LearntFrom | None = NOTHING

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return [self._one(pair) for pair in pairs]

    def close(self) -> None:
        """Holds nothing."""

    def _one(self, pair: Pair) -> Assessment:
        if self.fails:
            return Assessment(scorer=self.name, revision=self.revision, failure="scorer_failed")
        score = 0.05 if pair.value in self.stop else 0.3 + share(str(pair.value)) * 0.7
        return Assessment(scorer=self.name, revision=self.revision, score=score, threshold=0.5)


def share(text: str) -> float:
    """A number in [0, 1) that depends on ``text`` alone."""
    return (zlib.crc32(text.encode()) % 1000) / 1000


def aligned(
    number: int,
    *,
    entity_type: str = "Hearing Date",
    model: str = "model-a",
    route: str = "verbatim",
) -> AlignedExtraction:
    """The extraction ``number`` of a small corpus, aligned with its document."""
    value = f"May {number}"
    text = SENTENCE.format(value=value)
    document = Document(id=f"doc-{number // 4}", text=text)
    ref = document.ref(Coordinates(topic="documents", partition=0, offset=number))
    extraction = Extraction(
        id=f"extraction-{number}",
        doc_id=document.id,
        entity_type=entity_type,
        value=value,
        context=text,
        document=ref,
        extractor=ExtractorTrail(model=model, prompt_digest="p", schema_digest="s"),
    )
    alignment = Alignment(
        score=1.0,
        matches=len(text),
        length=len(text),
        unaligned=0,
        threshold=0.6,
        spans=(Span(start=0, end=len(text), text=text),),
        route=route,
    )
    return AlignedExtraction(extraction=extraction, document=ref, alignment=alignment)


def verdict(number: int, scorer: FakeScorer | None = None, **changes: str) -> Verdict:
    """The verdict of ``scorer`` on extraction ``number``."""
    event = aligned(number, **changes)
    return judge(event, (scorer or FakeScorer()).assess([Pair.of(event)])[0])


def received(event: Event, offset: int, *, topic: str = "accepted", partition: int = 0) -> Received:
    """``event`` as if it had been read from ``topic``."""
    record = Record(topic, partition, offset, None, event.to_json(), timestamp=offset)
    return Received(record, event)


async def publish(settings: Settings, topic: Topic, events: Iterable[Event], key: str = "") -> None:
    """Create the topics and put ``events`` onto one; the key is each event's document."""
    await create_topics(settings)
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        await publisher.publish([Outgoing(topic, key or _doc_id(e), e) for e in events])
    finally:
        await publisher.stop()


def _doc_id(event: Event) -> str:
    if isinstance(event, AlignedExtraction):
        return event.extraction.doc_id
    return str(getattr(event, "doc_id", "-"))

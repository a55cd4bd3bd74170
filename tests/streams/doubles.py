"""Events and stand-ins that several tests of `streams` use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from safepassage.schemas import Document, ExtractionManifest
from safepassage.streams.delivery.circuit_breaker import CircuitBreaker
from safepassage.streams.delivery.record_outcomes import Delivery, Outcome, Role, Step
from safepassage.streams.kafka.publisher import Publisher, PublishFailed
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, MANIFESTS, Topic


@dataclass
class FakePublisher:
    """Keeps what is published. ``refuse`` names the error of a record the broker never takes."""

    refuse: Callable[[Outgoing], str | None] = lambda _: None
    broken: bool = False
    published: list[Outgoing] = field(default_factory=list)

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        if self.broken and outgoing:
            raise PublishFailed("the broker is gone")
        refused = {i: error for i, out in enumerate(outgoing) if (error := self.refuse(out))}
        self.published += [out for i, out in enumerate(outgoing) if i not in refused]
        return refused

    def to(self, topic: Topic) -> list[Any]:
        """The events published to ``topic``, in order."""
        return [out.event for out in self.published if out.topic is topic]


def document_record(
    doc_id: str, offset: int, *, text: str = "a text", topic: str = "documents", partition: int = 0
) -> Record:
    """A document as it stands on its topic."""
    value = Document(id=doc_id, text=text).to_json()
    return Record(topic, partition, offset, doc_id.encode(), value)


def manifest_of(received: Received[Document]) -> list[Outgoing]:
    """What the tests' role makes of a document: one record, whose document is the input's."""
    ref = received.event.ref(received.record.coordinates)
    return [Outgoing(MANIFESTS, ref.id, ExtractionManifest(document=ref, extraction_ids=()))]


async def note_each(batch: Sequence[Received[Document]]) -> list[Outcome]:
    """The plainest step: one manifest for each document."""
    return [manifest_of(received) for received in batch]


def document_role(step: Step = note_each, *, lanes: int = 4, batch: int = 8) -> Role:
    """A role from ``documents`` to ``manifests``."""
    return Role("extract", "extract", (DOCUMENTS,), step, lanes=lanes, batch=batch)


def delivery_of(
    role: Role,
    publisher: Publisher,
    settings: Settings | None = None,
    breaker: CircuitBreaker | None = None,
) -> Delivery:
    """The role's delivery, on unprefixed topics where there are no settings."""
    models = {
        settings.topic(topic.name) if settings else topic.name: topic.model for topic in role.topics
    }
    return Delivery(role, publisher, breaker or CircuitBreaker(), models)

"""The load of a benchmark: its documents, when each comes, and when it had its last verdict.

Arrivals are on a schedule that no completion delays: an open loop. A closed loop, which sends the
next document when one is done, slows down with the system that it measures, and so omits the waits
of all documents that should have come meanwhile (coordinated omission). Here a document is due at
its time; how late it was sent is part of the figures.
"""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiokafka import AIOKafkaProducer, TopicPartition

from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    Document,
    Event,
    ExtractionManifest,
    LabelledExtraction,
)

from ..kafka.publisher import hand_over, place_of
from ..kafka.reading import ends, follow_topics
from ..kafka.records import Outgoing, event_of
from ..report.document_completion import DocumentCompletion
from ..settings import Settings
from ..topics import ACCEPTED, DEAD_LETTERS, DOCUMENTS, MANIFESTS, QUARANTINE

FOLLOWED = (MANIFESTS, ACCEPTED, QUARANTINE, DEAD_LETTERS)


@dataclass(frozen=True, slots=True)
class Workload:
    """``documents`` are taken in turns. With ``length`` n each is followed by the texts of the
    n-1 documents after it, of which nothing is extracted. ``entities`` is the share of the
    recorded extractions that are kept, in (0, 1]; it has no meaning for an LLM that is asked."""

    documents: Sequence[Document]
    extractions: Sequence[LabelledExtraction] = ()
    length: int = 1
    entities: float = 1.0

    def take(self, run: str, count: int) -> list[Document]:
        """``count`` documents with ids and texts that no other run has."""
        made, texts = [], [document.text for document in self.documents]
        for number in range(count):
            parts = [texts[(number + n) % len(texts)] for n in range(self.length)]
            doc_id = f"{run}-{number}"
            made.append(Document(id=doc_id, text="\n\n".join([*parts, doc_id])))
        return made

    def record(self, documents: Sequence[Document], folder: Path) -> tuple[Path, Path]:
        """The recording that answers for ``documents``, made by `take`, as two files."""
        by_document: dict[str, list[LabelledExtraction]] = defaultdict(list)
        for extraction in self.extractions:
            by_document[extraction.doc_id].append(extraction)
        texts, answers = folder / "documents.jsonl", folder / "extractions.jsonl"
        with texts.open("wb") as texts_file, answers.open("wb") as answers_file:
            for number, document in enumerate(documents):
                texts_file.write(document.to_json() + b"\n")
                of_document = by_document[self.documents[number % len(self.documents)].id]
                for row in of_document[: round(len(of_document) * self.entities)]:
                    changes = {"id": f"{document.id}-{row.id}", "doc_id": document.id}
                    copy = row.model_copy(update=changes)
                    answers_file.write(copy.model_dump_json().encode() + b"\n")
        return texts, answers


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document that the broker has, and when it was due and had, in `time.monotonic`."""

    place: Coordinates
    due: float
    accepted: float


def schedule(rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Times of arrival in [0, ``seconds``), with exponential gaps of ``rate`` a second."""
    draw = random.Random(seed)
    at = draw.expovariate(rate)
    while at < seconds:
        yield at
        at += draw.expovariate(rate)


async def arrive(
    producer: AIOKafkaProducer,
    settings: Settings,
    documents: Sequence[Document],
    times: Sequence[float],
) -> list[Arrival]:
    """Send each document at its time, whether the one before was acknowledged or not."""
    start = time.monotonic()
    sending = []
    for document, at in zip(documents, times, strict=True):
        await asyncio.sleep(max(0.0, start + at - time.monotonic()))
        sending.append(asyncio.create_task(_send(producer, settings, document, start + at)))
    return await asyncio.gather(*sending)


async def _send(
    producer: AIOKafkaProducer, settings: Settings, document: Document, due: float
) -> Arrival:
    future = await hand_over(producer, Outgoing(DOCUMENTS, document.id, document), settings)
    return Arrival(place_of(await future), due, time.monotonic())


@dataclass(frozen=True, slots=True)
class Ending:
    """How a document ended and when; ``failed`` where something became a dead letter."""

    at: float
    verdicts: int
    failed: bool


class Completions:
    """Follows the flow's results for the documents whose ids begin with ``run``."""

    def __init__(self, settings: Settings, run: str) -> None:
        self.ended: dict[Coordinates, Ending] = {}
        self._settings = settings
        self._run = run
        self._models = {settings.topic(topic.name): topic.model for topic in FOLLOWED}
        self._completion = DocumentCompletion()

    async def start(self) -> dict[TopicPartition, int]:
        """Where `follow` begins: to be asked before the first document is sent."""
        return await ends(self._settings, FOLLOWED)

    async def follow(self, start: Mapping[TopicPartition, int]) -> None:
        """Note endings until cancelled."""
        async for record in follow_topics(self._settings, FOLLOWED, start=start):
            event = event_of(record, self._models[record.topic])
            if isinstance(event, ExtractionManifest):
                doc_id: str | None = event.document.id
            else:
                doc_id = getattr(event, "doc_id", None)
            if event and doc_id and doc_id.startswith(self._run):
                self._note(record.coordinates, event)

    async def until(self, count: int, seconds: float) -> bool:
        """Wait until ``count`` documents ended; False where they did not within ``seconds``."""
        deadline = time.monotonic() + seconds
        while len(self.ended) < count and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return len(self.ended) >= count

    def _note(self, source: Coordinates, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, DeadLetter) and event.extraction_id is None:
            self.ended.setdefault(event.source, Ending(now, 0, failed=True))
        for closed in self._completion.add(source, event):
            report = closed.report
            if report and report.document.coordinates:
                ending = Ending(now, len(report.verdict_ids), bool(report.dead_lettered))
                self.ended.setdefault(report.document.coordinates, ending)

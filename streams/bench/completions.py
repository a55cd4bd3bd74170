"""When each document of a benchmark had its last verdict."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka import TopicPartition

from safepassage.schemas import Coordinates, DeadLetter, Event, ExtractionManifest

from ..kafka.reading import ends, follow_topics
from ..kafka.records import event_of
from ..report.document_completion import DocumentCompletion
from ..settings import Settings
from ..topics import ACCEPTED, DEAD_LETTERS, MANIFESTS, QUARANTINE

FOLLOWED = (MANIFESTS, ACCEPTED, QUARANTINE, DEAD_LETTERS)


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

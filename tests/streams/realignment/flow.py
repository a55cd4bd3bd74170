"""The flow around the role, in memory: the real aligner, decision rule and settling of verdicts, a
scorer without a model, and topics that are lists. The role can be killed between any two writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from safepassage.agents.aligner import Aligner
from safepassage.schemas import (
    Coordinates,
    Document,
    DocumentRef,
    DocumentValues,
    DocumentVersion,
    Event,
    Extraction,
    Realignment,
    Review,
    SchemaField,
    Verdict,
    extraction_id,
    judge,
)
from safepassage.schemas.review import ReviewDecision
from safepassage.schemas.verdict_after_review import next_verdict
from safepassage.scoring_worker import Pair
from safepassage.streams.kafka.publisher import PublishFailed
from safepassage.streams.kafka.records import Outgoing, Record
from safepassage.streams.realignment.role import ValuesStore, realign_role
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    DOCUMENT_VALUES,
    DOCUMENTS,
    EXTRACTIONS,
    MANIFESTS,
    QUARANTINE,
    REALIGNMENTS,
    VERSIONS,
    Topic,
)
from safepassage.streams.verdicts.standing_decisions import StandingDecisions
from tests.faults.scorer import CueScorer, ScorerPlan
from tests.streams.doubles import delivery_of

READS = (ACCEPTED, QUARANTINE, VERSIONS)


@dataclass
class Flow:
    """One document's stream. ``dies_after`` is how many more records the role may write."""

    doc_id: str = "lease"
    aligner: Aligner = field(default_factory=Aligner)
    scorer: CueScorer = field(default_factory=lambda: CueScorer(ScorerPlan()))
    topics: dict[Topic, list[Record]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[Coordinates, str] = field(default_factory=dict)
    waiting: list[Extraction] = field(default_factory=list)
    read: dict[Topic, int] = field(default_factory=lambda: defaultdict(int))
    dies_after: int | None = None
    clock: int = 0

    def __post_init__(self) -> None:
        self.decisions = StandingDecisions()
        self.start()

    def start(self) -> None:
        """The role as a new process: it knows what stands on its topic."""
        self.dies_after = None
        self.store = ValuesStore()
        for record in self.topics[DOCUMENT_VALUES]:
            self.store.put(DocumentValues.model_validate_json(record.value or b""))
        self.role = realign_role(self.store, Settings(), self._read_at)
        self.delivery = delivery_of(self.role, self)

    def extracted(self, text: str, values: Sequence[str], context: str = "") -> DocumentRef:
        """A version that an LLM read, which gave ``values``; each is quoted with its sentence."""
        ref = self._document(text)
        for value in values:
            quote = context or next(s + "." for s in text.split(".") if value in s).strip()
            self.waiting.append(
                Extraction(
                    id=extraction_id(ref, "Fee", value, quote),
                    doc_id=ref.id,
                    entity_type="Fee",
                    value=value,
                    context=quote,
                    document=ref,
                    field=SchemaField(name="fee"),
                )
            )
        return ref

    def realigned(self, text: str) -> DocumentRef:
        """A version that asks for no LLM."""
        ref = self._document(text)
        self.append(VERSIONS, DocumentVersion(document=ref))
        return ref

    def judge(self) -> None:
        """Whatever waits is aligned, scored and published."""
        waiting, self.waiting = self.waiting, []
        for extraction in waiting:
            ref = extraction.document
            text = self.texts[ref.coordinates]
            (made,) = self.aligner.submit(text, ref, [extraction]).result()
            if not isinstance(made, Verdict):
                made = judge(made, self.scorer.assess([Pair.of(made)])[0])
            self.publish_verdict(self.decisions.settle(made))

    def publish_verdict(self, verdict: Verdict) -> None:
        self.append(ACCEPTED if verdict.decision == "accepted" else QUARANTINE, verdict)

    def decided(self, judged: Verdict, decision: ReviewDecision, value: str | None = None) -> None:
        """A person decides, and the console publishes what follows."""
        review = Review(
            id=f"review-{self.clock}",
            verdict=judged,
            decision=decision,
            value=value,
            reviewer="Ada",
            decided_at="2026-01-01T00:00:00Z",
        )
        stands = None if decision == "undone" else review
        published = next(iter(self.verdicts(extraction_id=judged.extraction_id, by_ada=True)), None)
        if after := next_verdict(judged, stands, review, published):
            self.publish_verdict(after)

    async def handle(self, *topics: Topic, repeat: int = 0) -> None:
        """The role takes what it has not read of ``topics`` (of all by default), and ``repeat``
        records before that again."""
        for topic in topics or READS:
            start = max(0, self.read[topic] - repeat)
            if records := self.topics[topic][start:]:
                await self.delivery.handle(records)
                self.read[topic] = len(self.topics[topic])

    async def settle(self) -> None:
        """Go on until nothing is left to do."""
        while self.waiting or any(self.read[t] < len(self.topics[t]) for t in READS):
            await self.handle()
            self.judge()

    async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        """As a publisher: what the role writes, until it dies."""
        for out in outgoing:
            if self.dies_after is not None:
                if self.dies_after == 0:
                    raise PublishFailed("killed")
                self.dies_after -= 1
            self.append(out.topic, out.event)
            if out.topic is EXTRACTIONS:
                self.waiting.append(out.event)
        return {}

    def append(self, topic: Topic, event: Event) -> Record:
        self.clock += 1
        offset = len(self.topics[topic])
        record = Record(topic.name, 0, offset, None, event.to_json(), timestamp=self.clock)
        self.topics[topic].append(record)
        return record

    def events(self, topic: Topic) -> list:
        return [topic.model.model_validate_json(r.value) for r in self.topics[topic]]

    def verdicts(self, *, extraction_id: str = "", by_ada: bool = False) -> list[Verdict]:
        """The verdicts, the latest first."""
        records = sorted(
            (*self.topics[ACCEPTED], *self.topics[QUARANTINE]), key=lambda r: -r.timestamp
        )
        every = [Verdict.model_validate_json(r.value) for r in records]
        wanted = [v for v in every if extraction_id in ("", v.extraction_id)]
        return [v for v in wanted if v.review or not by_ada]

    def told(self) -> list[Realignment]:
        """The events for consumers, each once."""
        return list({event.id: event for event in self.events(REALIGNMENTS)}.values())

    def outcomes(self, ref: DocumentRef) -> dict[str, str]:
        """What the last event on each value says of a version."""
        return {str(e.value): e.outcome for e in self.told() if e.document == ref}

    def manifests(self, ref: DocumentRef) -> list[str]:
        """The extractions that the version's manifests name."""
        return [i for m in self.events(MANIFESTS) if m.document == ref for i in m.extraction_ids]

    def _document(self, text: str) -> DocumentRef:
        record = self.append(DOCUMENTS, Document(id=self.doc_id, text=text))
        self.texts[record.coordinates] = text
        return Document(id=self.doc_id, text=text).ref(record.coordinates)

    async def _read_at(self, places: Sequence[Coordinates]) -> dict[Coordinates, Record]:
        return {
            place: self.topics[ACCEPTED][place.offset]
            for place in places
            if self.topics[ACCEPTED][place.offset].value is not None
        }

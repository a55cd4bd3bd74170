"""A document that contradicts itself, through the live steps, a report and a replay."""

from __future__ import annotations

from contextlib import AsyncExitStack

from safepassage.pipeline import new_aligner
from safepassage.schemas import Coordinates, Document, Extraction, SchemaField, Verdict
from safepassage.schemas.rivals import with_rivals
from safepassage.streams.agent_factory import document_store
from safepassage.streams.delivery.circuit_breaker import CircuitBreaker
from safepassage.streams.delivery.record_outcomes import Delivery
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, DOCUMENTS, EXTRACTIONS, QUARANTINE
from safepassage.streams.topology import align_role
from tests.streams.judged import SENTENCE, FakeScorer, publish, share
from tests.streams.replay.test_engine import NoRest, judge_live, values

SUPPORTED = [f"May {n}" for n in range(1, 29) if 0.3 + share(f"May {n}") * 0.7 >= 0.5][:2]
REFUSED = next(f"May {n}" for n in range(1, 29) if 0.3 + share(f"May {n}") * 0.7 < 0.5)
TEXT = " ".join(SENTENCE.format(value=value) for value in (*SUPPORTED, REFUSED))


def extractions(document: Document, place: Coordinates) -> list[Extraction]:
    """A date of hearing with three values, of which the scorer supports two; a list beside it."""
    ref = document.ref(place)

    def made(identity: str, value: str, field: SchemaField) -> Extraction:
        return Extraction(
            id=identity,
            doc_id=document.id,
            entity_type="Hearing Date",
            value=value,
            context=SENTENCE.format(value=value),
            document=ref,
            field=field,
        )

    single, several = SchemaField(name="held", single=True), SchemaField(name="days", single=False)
    rows = [made(f"held-{n}", v, single) for n, v in enumerate((*SUPPORTED, REFUSED))]
    return with_rivals(rows + [made(f"day-{n}", v, several) for n, v in enumerate(SUPPORTED)])


async def test_both_values_wait_for_a_person_and_a_replay_says_the_same_byte_for_byte(
    kafka: Settings,
):
    document = Document(id="doc-0", text=TEXT)
    await publish(kafka, DOCUMENTS, [document], key="doc-0")
    (place,) = [r.coordinates async for r in read_topics(kafka, [DOCUMENTS])]
    await publish(kafka, EXTRACTIONS, extractions(document, Coordinates(**place.model_dump())))
    async with AsyncExitStack() as resources:
        aligner = new_aligner(kafka)
        resources.callback(aligner.close)
        role = align_role(aligner, await document_store(kafka, resources))
        publisher = KafkaPublisher(new_producer(kafka), kafka)
        await publisher.start()
        models = {kafka.topic(topic.name): topic.model for topic in role.topics}
        delivery = Delivery(role, publisher, CircuitBreaker(), models)
        await delivery.handle([r async for r in read_topics(kafka, role.topics)])
        await publisher.stop()
    await judge_live(kafka, FakeScorer())

    live = await values(kafka, ACCEPTED, QUARANTINE)
    found = {v.extraction_id: v for v in map(Verdict.model_validate_json, live)}
    assert {
        name: (v.decision, v.reasons, tuple(c.extraction_id for c in v.conflicts))
        for name, v in found.items()
    } == {
        "held-0": ("quarantined", ("conflicting",), ("held-1",)),
        "held-1": ("quarantined", ("conflicting",), ("held-0",)),
        "held-2": ("quarantined", ("unsupported",), ()),
        "day-0": ("accepted", (), ()),
        "day-1": ("accepted", (), ()),
    }
    for origin in ("extractions", "alignments"):
        request = ReplayRequest(f"again-{origin}", origin=origin)
        await run_replay(request, FakeScorer(), kafka, NoRest())
        assert await values(kafka, verdicts_topic(request.id)) == live

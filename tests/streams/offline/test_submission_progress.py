"""What `submit --wait` shows of documents on their way."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from safepassage.schemas import (
    Coordinates,
    Document,
    DocumentRef,
    DriftWarning,
    Event,
    ExtractionManifest,
    ExtractorTrail,
)
from safepassage.streams.delivery.llm_warnings import MEASURE
from safepassage.streams.kafka.records import Record
from safepassage.streams.offline.submit import SubmissionProgress
from safepassage.streams.settings import Settings

PLACES = {Coordinates(topic="documents", partition=0, offset=n): f"d{n}" for n in range(4)}


def reference(number: int) -> DocumentRef:
    place = list(PLACES)[number]
    return Document(id=f"d{number}", text="text").ref(place)


def record(topic: str, event: Event | None, key: str = "d0") -> Record:
    value = event.to_json() if event else b"not read"
    return Record(f"x-{topic}", 0, 0, key.encode(), value)


def manifest(number: int, place: Coordinates | None = None) -> Record:
    ref = reference(number)
    if place:
        ref = ref.model_copy(update={"coordinates": place})
    trail = ExtractorTrail(model="m", prompt_digest="p", schema_digest="s")
    return record("manifests", ExtractionManifest(document=ref, extractor=trail, extraction_ids=()))


@pytest.fixture
def progress() -> tuple[SubmissionProgress, list[float]]:
    clock = [100.0]
    settings = Settings(topic_prefix="x-")
    return SubmissionProgress(PLACES, settings, lambda: clock[0]), clock


def test_documents_are_counted_step_by_step(progress):
    documents, clock = progress
    assert str(documents) == "4 sent, 0 extracted, 0 aligned, 0 judged"
    clock[0] += 60
    documents.note(manifest(0))
    documents.note(manifest(1))
    documents.note(record("alignments", None, "d1"))
    documents.note(record("alignments", None, "somebody else's"))
    assert str(documents) == "4 sent, 2 extracted, 1 aligned, 0 judged, 3 min left"
    for place in PLACES:
        documents.ended(place)
    assert str(documents) == "4 sent, 4 extracted, 4 aligned, 4 judged"


def test_a_manifest_of_another_record_of_the_same_document_counts_for_nothing(progress):
    documents, _ = progress
    documents.note(manifest(0, Coordinates(topic="documents", partition=0, offset=99)))
    assert documents.counts == (4, 0, 0, 0)


def test_a_document_that_ended_without_an_alignment_has_every_step_behind_it(progress):
    documents, clock = progress
    clock[0] += 3
    documents.ended(next(iter(PLACES)))
    assert str(documents).endswith("1 extracted, 1 aligned, 1 judged, under a minute left")


def test_only_what_the_llm_was_asked_again_for_is_told(progress):
    documents, _ = progress
    told = {"observed": 1, "expected": 0, "limit": 0, "raised_at": datetime.now(UTC)}
    slow = DriftWarning(id="a", measure=MEASURE, detail="no token in 120 s", **told)
    other = DriftWarning(id="b", measure="acceptance", detail="fell", **told)
    assert documents.note(record("warnings", slow)) == "no token in 120 s"
    assert documents.note(record("warnings", other)) is None

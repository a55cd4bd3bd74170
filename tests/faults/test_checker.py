"""The checker turns red for each promise that a history breaks, and for no other reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Coordinates,
    DeadLetter,
    Document,
    Event,
    Extraction,
    ExtractionManifest,
    Span,
    Verdict,
    extraction_id,
    judge,
)

from .checker import check
from .history import Entry, History
from .load import make_load

COUNT = 4


class Writer:
    """Appends events to topics as a broker with one partition would."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def write(self, topic: str, key: str, event: Event) -> Coordinates:
        offset = sum(entry.topic == topic for entry in self.entries)
        self.entries.append(Entry(topic, 0, offset, key, event.model_dump(mode="json")))
        return Coordinates(topic=f"prefix-{topic}", partition=0, offset=offset)


def scored(row: Any, document: Document, place: Coordinates) -> Verdict:
    ref = document.ref(place)
    extraction = Extraction(
        id=extraction_id(ref, row.entity_type, row.value, row.context),
        doc_id=document.id,
        entity_type=row.entity_type,
        value=row.value,
        context=row.context,
        document=ref,
    )
    start = document.text.find(row.context)
    found = start >= 0
    span = Span(start=start, end=start + len(row.context), text=row.context) if found else None
    alignment = Alignment(
        score=1.0 if found else 0.0,
        matches=len(row.context),
        length=len(row.context),
        unaligned=0,
        threshold=0.6,
        spans=(span,) if span else (),
        route="verbatim",
    )
    score = 0.9 if row.label else 0.1
    return judge(
        AlignedExtraction(extraction=extraction, document=ref, alignment=alignment),
        Assessment(scorer="cue", revision="r1", score=score, threshold=0.5),
    )


def healthy() -> History:
    """Four versions of two documents, each through the whole flow."""
    load = make_load(1, COUNT, keys=2)
    writer = Writer()
    for serial, document in enumerate(load.documents):
        place = writer.write("documents", document.id, document)
        rows = [row for row in load.expected if int(row.id.rsplit("-", 2)[1]) == serial]
        verdicts = [scored(row, document, place) for row in rows]
        for row, verdict in zip(rows, verdicts, strict=True):
            extraction = Extraction(
                id=verdict.extraction_id,
                doc_id=document.id,
                entity_type=row.entity_type,
                value=row.value,
                context=row.context,
                document=document.ref(place),
            )
            writer.write("extractions", document.id, extraction)
        manifest = ExtractionManifest(
            document=document.ref(place),
            extraction_ids=tuple(verdict.extraction_id for verdict in verdicts),
        )
        writer.write("manifests", document.id, manifest)
        for verdict in verdicts:
            topic = "accepted" if verdict.decision == "accepted" else "quarantine"
            writer.write(topic, document.id, verdict)
    return History([row.model_dump(mode="json") for row in load.expected], writer.entries)


def without(history: History, topic: str, position: int = 0) -> None:
    del history.entries[history.entries.index([*history.of(topic)][position])]


def replaced(history: History, topic: str, position: int = 0, **changes: Any) -> None:
    entry = [*history.of(topic)][position]
    event = {**copy.deepcopy(entry.event or {}), **changes}
    history.entries[history.entries.index(entry)] = Entry(
        entry.topic, entry.partition, entry.offset, entry.key, event
    )


def repeated(history: History, topic: str, **changes: Any) -> None:
    entry = next(history.of(topic))
    event = {**copy.deepcopy(entry.event or {}), **changes}
    history.entries.append(Entry(topic, 0, 1_000, entry.key, event))


def test_a_healthy_history_breaks_no_promise():
    findings = check(healthy())
    assert (findings.documents, findings.extractions, findings.accepted) == (4, 16, 8)
    assert not any(
        (
            findings.lost,
            findings.ended_twice,
            findings.unevidenced,
            findings.conflicts,
            findings.out_of_order,
        )
    )


@pytest.mark.parametrize("topic", ["manifests", "accepted", "quarantine"])
def test_what_is_missing_is_lost(topic: str):
    history = healthy()
    without(history, topic)
    assert len(check(history).lost) == 1


def test_an_extraction_that_never_reached_its_topic_is_lost():
    history = healthy()
    replaced(history, "manifests", extraction_ids=[])
    assert len(check(history).lost) == 4


def test_a_dead_letter_ends_a_document_and_an_extraction():
    history = healthy()
    ended = next(history.of("quarantine")).event or {}
    without(history, "manifests", position=1)
    without(history, "quarantine")
    for source, about in ((1, None), (7, ended["extraction_id"])):
        letter = DeadLetter(
            id=f"letter-{source}",
            stage="extract",
            source=Coordinates(
                topic="prefix-documents" if about is None else "prefix-alignments",
                partition=0,
                offset=source,
            ),
            error="Error",
            detail="",
            extraction_id=about,
        )
        history.entries.append(
            Entry("dead-letters", 0, source, "k", letter.model_dump(mode="json"))
        )
    findings = check(history)
    assert (findings.lost, findings.dead_letters) == ([], 2)


@pytest.mark.parametrize(("told", "lost"), [(True, 0), (False, 1)])
def test_a_result_that_the_broker_refused_ended_where_manifest_and_letter_say_so(
    told: bool, lost: int
):
    history = healthy()
    gone = next(history.of("quarantine")).event or {}
    without(history, "quarantine")
    number, manifest = next(
        (number, entry.event)
        for number, entry in enumerate(history.of("manifests"))
        if entry.event and gone["extraction_id"] in entry.event["extraction_ids"]
    )
    replaced(history, "manifests", number, refused={gone["extraction_id"]: "TooLarge"})
    letter = DeadLetter(
        id="letter",
        stage="extract",
        source=Coordinates(**manifest["document"]["coordinates"]),
        error="TooLarge",
        detail="",
        refused={gone["extraction_id"]: "TooLarge"},
        manifest_stands=True,
    )
    if told:
        entry = Entry("dead-letters", 0, 0, "k", letter.model_dump(mode="json"))
        history.entries.append(entry)
    assert len(check(history).lost) == lost


def test_an_extraction_that_ended_in_two_ways_is_told():
    history = healthy()
    accepted = next(history.of("accepted"))
    history.entries.append(Entry("quarantine", 0, 1_000, accepted.key, accepted.event))
    assert len(check(history).ended_twice) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"score": None},
        {"score": 0.4},
        {"score": float("nan")},
        {"threshold": None},
        {"alignment": None},
        {"decision": "undetermined"},
    ],
)
def test_an_accept_without_its_evidence_is_told(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    # Such verdicts cannot be built any more; a history may hold them all the same.
    monkeypatch.setattr("tests.faults.checker._compare_repetitions", lambda *_: None)
    history = healthy()
    replaced(history, "accepted", **changes)
    assert len(check(history).unevidenced) == 1


def test_a_span_that_is_no_slice_of_the_document_is_told():
    history = healthy()
    alignment = copy.deepcopy((next(history.of("accepted")).event or {})["alignment"])
    alignment["spans"][0]["start"] += 1
    alignment["spans"][0]["end"] += 1
    replaced(history, "accepted", alignment=alignment)
    assert len(check(history).unevidenced) == 1


def test_an_accept_that_the_load_knows_to_be_wrong_is_told():
    history = healthy()
    accepted = next(history.of("accepted")).event or {}
    for row in history.expected:
        row["label"] = 0 if row["value"] == accepted["value"] else row["label"]
    assert len(check(history).unevidenced) == 1


def test_a_repetition_is_counted_and_a_contradiction_is_told():
    history = healthy()
    repeated(history, "quarantine")
    assert (check(history).repeated, check(history).conflicts) == (1, [])
    repeated(history, "quarantine", reasons=["not_found"])
    assert len(check(history).conflicts) == 1


def test_a_key_whose_documents_go_backwards_is_told():
    def swap(history: History) -> None:
        ours = [e for e in history.of("manifests") if e.key == "doc-000000"]
        first, second = (history.entries.index(entry) for entry in ours)
        entries = history.entries
        entries[first], entries[second] = entries[second], entries[first]

    history = healthy()
    assert check(history).out_of_order == []
    swap(history)
    assert len(check(history).out_of_order) == 1


def test_what_was_not_committed_is_told():
    history = healthy()
    history.undrained = 3
    assert check(history).undrained == 3


def test_a_written_history_reads_the_same(tmp_path: Path):
    history = healthy()
    history.write(tmp_path / "history.jsonl")
    assert History.read(tmp_path / "history.jsonl") == history


@pytest.mark.parametrize("make", [lambda: make_load(7, 30), lambda: make_load(7, 30, keys=3)])
def test_a_load_is_made_by_its_seed(make: Callable[[], Any]):
    assert make() == make()
    assert len({document.text for document in make().documents}) == 30


def test_histories_are_written_to_a_folder_that_is_not_there_yet(tmp_path):
    path = tmp_path / "new" / "kill-0.jsonl"
    History([], []).write(path)
    assert History.read(path) == History([], [])

"""The table of personal data says something of every topic, and what the code does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from safepassage.schemas import (
    Claim,
    Document,
    DocumentReport,
    Event,
    Extraction,
    MemorySnapshot,
    Response,
    document_id,
)
from safepassage.schemas.realignment import DocumentValues, DocumentVersion, Realignment
from safepassage.streams.kafka.erasures_and_seals import Protection, SealedRecord
from safepassage.streams.kafka.records import Record, UnreadableRecord, decode, opened_value
from safepassage.streams.sealing.frame import is_sealed
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    ALL_TOPICS,
    DOCUMENTS,
    OF_DOCUMENTS,
    PERSONAL_DATA,
    QUARANTINE,
    Topic,
)

from .deployment import Traces, add_master_key


def test_every_topic_has_a_line() -> None:
    assert [t.name for t in ALL_TOPICS if t not in PERSONAL_DATA] == []
    assert list(PERSONAL_DATA) == [t for t in PERSONAL_DATA if t in ALL_TOPICS]


def with_keys(folder: Path, **changes: object) -> Protection:
    path = add_master_key(folder / "keys")
    made = Protection(Settings(keys_file=path, **changes))  # type: ignore[arg-type]
    assert made.seals
    root = made.seals.masters.wrap("", os.urandom(32))
    made.note("keys", 0, b"/", root.to_json())
    return made


def one_of_each() -> dict[type[Event], Event]:
    traces = Traces("doc")
    made: list[Event] = [out.event for out in traces.outgoing()]
    made.append(
        DocumentReport(
            document=traces.ref, extractions=0, accepted=0, quarantined=0, undetermined=0
        )
    )
    made.append(DocumentVersion(document=traces.ref))
    made.append(DocumentValues(doc_id="doc"))
    told = {"outcome": "withdrawn", "decision": "quarantined", "former_extraction_id": "x"}
    made.append(Realignment(id="r", doc_id="doc", document=traces.ref, **told))
    made.append(Response(id="doc", context=["a text"], response="It says so."))
    return {type(event): event for event in made}


@pytest.mark.parametrize("topic", OF_DOCUMENTS, ids=lambda topic: topic.name)
def test_topic_about_documents_is_sealed_and_opens_where_it_was_written(
    topic: Topic, tmp_path: Path
) -> None:
    if topic.model is Claim:
        pytest.skip("a claim is sealed as an extraction is: it names its document")
    known, event = with_keys(tmp_path), one_of_each()[topic.model]
    value = known.sealed(event, topic, topic.name, b"key")
    assert is_sealed(value)
    record = Record(topic.name, 0, 0, b"key", value, protection=known)
    assert decode(record, topic.model).event == event
    for moved in (Record("elsewhere", 0, 0, b"key", value), Record(topic.name, 0, 0, b"x", value)):
        with pytest.raises(UnreadableRecord, match="seal"):
            decode(Record(moved.topic, 0, 0, moved.key, value, protection=known), topic.model)


def test_what_is_about_no_document_stays_plain() -> None:
    others = [topic.model for topic in ALL_TOPICS if topic not in OF_DOCUMENTS]
    named = {
        model for model in others if {"doc_id", "document", "verdict"} & model.model_fields.keys()
    }
    assert {model.__name__ for model in named} == {"Erasure"}
    assert document_id(Traces("doc").snapshot) is None
    assert isinstance(Traces("doc").snapshot, MemorySnapshot)


def test_verdicts_stay_plain_for_others_where_that_is_set(tmp_path: Path) -> None:
    known, verdict = with_keys(tmp_path, plain_verdicts=True), Traces("doc").verdict
    for topic in (ACCEPTED, QUARANTINE):
        assert known.sealed(verdict, topic, topic.name, b"doc") == verdict.to_json()


def test_process_without_keys_stops_at_a_sealed_record_and_takes_it_for_nothing_else(
    tmp_path: Path,
) -> None:
    known, document = with_keys(tmp_path), Traces("doc").document
    value = known.sealed(document, DOCUMENTS, "documents", b"doc")
    without = Protection(Settings())
    record = Record("documents", 0, 0, b"doc", value, protection=without)
    # Anybody may write such a value where nothing is sealed: it must not stop a role.
    with pytest.raises(UnreadableRecord, match="no keys here"):
        decode(record, Document)
    assert known.seals
    without.note("keys", 0, b"/", known.seals.masters.wrap("", os.urandom(32)).to_json())
    with pytest.raises(SealedRecord, match="SAFEPASSAGE_KEYS_FILE"):
        decode(record, Document)


def test_plain_record_is_read_where_others_are_sealed(tmp_path: Path) -> None:
    extraction = Traces("doc").extraction
    record = Record("e", 0, 0, b"doc", extraction.to_json(), protection=with_keys(tmp_path))
    assert decode(record, Extraction).event == extraction
    assert opened_value(record) == extraction.to_json()

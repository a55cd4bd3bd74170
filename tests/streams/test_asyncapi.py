"""The published schemas: they hold what the roles write, and what was released stays readable."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from safepassage.schemas import Document, Extraction, Response, Verdict
from safepassage.streams.asyncapi import asyncapi_document, event_models, event_schema
from safepassage.streams.kafka.records import Record, UnreadableRecord, decode
from safepassage.streams.topics import ACCESS, ALL_TOPICS
from tests.schemas.compatibility import refusals
from tests.simulation import clients
from tests.simulation import run as simulation
from tests.simulation.invariants import Watch

RELEASED = Path(__file__).parent / "released_events.json"
UNKNOWN = "from_the_next_version"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return asyncapi_document("0")


def references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*(references(inner) for inner in part.values()))
    if isinstance(part, list):
        return set().union(*(references(inner) for inner in part))
    return set()


def test_every_reference_of_the_document_leads_somewhere(document: dict[str, Any]):
    found = references(document)
    assert len(found) > len(ALL_TOPICS)
    for reference in found:
        part = document
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]


def test_the_document_has_every_topic_and_all_that_the_roles_do(document: dict[str, Any]):
    assert set(document["channels"]) == {topic.name for topic in ALL_TOPICS}
    done = sum(len(access.reads) + len(access.writes) for access in ACCESS.values())
    assert len(document["operations"]) == done
    for topic in ALL_TOPICS:
        assert set(document["channels"][topic.name]["messages"]) == {topic.model.__name__}


@pytest.mark.parametrize("name", event_models())
def test_the_schema_of_an_event_is_one(name: str):
    Draft202012Validator.check_schema(event_schema(name))


def test_an_event_that_is_not_there_is_named():
    with pytest.raises(LookupError, match="Verdict"):
        event_schema("Verdikt")


def test_all_that_a_simulated_run_writes_is_as_its_schema_says(monkeypatch: pytest.MonkeyPatch):
    seen: dict[str, int] = {}
    validators = {
        topic.name: Draft202012Validator(event_schema(topic.model.__name__)) for topic in ALL_TOPICS
    }
    appended = Watch.appended

    def validated(watch: Watch, record: Any) -> None:
        appended(watch, record)
        event = watch.entries[-1].event
        if record.topic in validators and event and record.key != b"poison":
            validators[record.topic].validate(event)
            seen[record.topic] = seen.get(record.topic, 0) + 1

    monkeypatch.setattr(Watch, "appended", validated)
    simulation.run(0)
    assert len(seen) >= 11, seen
    with pytest.raises(ValidationError):
        validators["accepted"].validate({"id": "no verdict"})


def test_no_change_refuses_what_was_released():
    released = json.loads(RELEASED.read_text("utf-8"))
    now = asyncapi_document("0")["components"]["schemas"]
    assert refusals(released, now) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda s: s["Verdict"]["properties"].pop("score"), "Verdict.score is gone"),
        (lambda s: s["Verdict"]["required"].append("review"), "Verdict.review is required"),
        (lambda s: s.pop("Verdict"), "Verdict is gone"),
        (lambda s: s["Verdict"]["properties"]["id"].update(maxLength=8), "Verdict.id: maxLength"),
        (lambda s: s["Verdict"]["properties"]["decision"]["enum"].pop(), "values are gone"),
        (lambda s: s["Verdict"]["properties"]["id"].update(type="integer"), "type is integer"),
        (
            lambda s: s["Verdict"]["properties"]["score"]["anyOf"].pop(),
            "is not allowed any more",
        ),
    ],
)
def test_a_change_that_refuses_what_was_released_is_told(change: Any, told: str):
    released = asyncapi_document("0")["components"]["schemas"]
    now = copy.deepcopy(released)
    change(now)
    assert any(told in one for one in refusals(released, now)), refusals(released, now)


def test_a_field_with_a_default_may_be_added():
    released = asyncapi_document("0")["components"]["schemas"]
    now = copy.deepcopy(released)
    now["Verdict"]["properties"]["more"] = {"type": "string", "default": ""}
    assert refusals(released, now) == []


def test_old_workers_lose_nothing_of_what_new_ones_write(monkeypatch: pytest.MonkeyPatch):
    """Every second record has fields of the next version, at its top and within: kills, rebalances
    and replays as ever."""
    send = clients.Producer.send
    count = 0

    async def newer(producer: Any, topic: str, value: Any = None, *rest: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count % 2 and value and topic not in ("documents",):
            event = json.loads(value)
            for part in (event, *(inner for inner in event.values() if isinstance(inner, dict))):
                if part.keys() & Verdict.model_fields.keys() or part.keys() & {"coordinates"}:
                    part[UNKNOWN] = {"anything": 1}
            value = json.dumps(event).encode()
        return await send(producer, topic, value, *rest, **named)

    monkeypatch.setattr(clients.Producer, "send", newer)
    broken = [one for one in simulation.run(1).broken if "replay" not in one[1]]
    assert count > 100
    assert broken == []


def test_the_least_that_the_last_release_wrote_is_read_by_this_one():
    """A record with the required fields of the released schemas and no other."""
    released = json.loads(RELEASED.read_text("utf-8"))
    least = {"id": "e", "doc_id": "d", "entity_type": "T", "value": "v", "context": "c"}
    assert set(released["Extraction"]["required"]) == least.keys()
    record = Record("extractions", 0, 0, b"d", json.dumps(least).encode())
    assert decode(record, Extraction).event.id == "e"


@pytest.mark.parametrize("model", [Document, Response])
def test_what_people_send_is_read_to_the_letter(model: Any):
    value = {"id": "d", "text": "t", "context": "c", "txet": "misspelt"}
    with pytest.raises(UnreadableRecord):
        decode(Record("t", 0, 0, b"d", json.dumps(value).encode()), model)

"""One extraction has one verdict: on the stream, from a file, in a call, for an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from safepassage import Entity, Extraction, Verifier
from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.known_fields import configured_fields, known_fields
from safepassage.agents.extraction.schema_loading import SchemaError, load_schema
from safepassage.llm_calls.client import create_client
from safepassage.schemas import (
    ChatCompletion,
    Coordinates,
    Document,
    Response,
    SchemaField,
    Verdict,
)
from safepassage.schemas import Extraction as Event
from safepassage.scoring_worker import Scorer, load_scorer
from safepassage.scoring_worker.evaluation.sources import Sources
from safepassage.settings import JudgingSettings
from safepassage.streams.cli import app, label_options
from tests.safepassage.test_verifier import streamed

TEXT = """Berth agreement of 3 March 2027 between Tern Harbour Board and the yacht Kittiwake.

The mooring fee is 2,150 a season and falls due on 04/05/2027. A key deposit of 120 is held.
Power is metered at 0.31 a unit. The berth may take hulls of up to 12.5 m. Shore crew: Ines Falk.
"""
QUOTES = {
    "fee": "The mooring fee is 2,150 a season and falls due on 04/05/2027.",
    "deposit": "A key deposit of 120 is held.",
    "berth": "The berth may take hulls of up to 12.5 m.",
    "crew": "Shore crew: Ines Falk.",
}


class MooringFee(Entity):
    """What the owner pays for the berth."""

    value: float


class KeyDeposit(Entity):
    """Held until the keys come back."""

    value: float


class DueDate(Entity):
    """Day on which the mooring fee falls due, dd/mm/yyyy in the document."""

    value: str


class HullLength(Entity):
    value: float = Field(json_schema_extra={"unit": "m"})


class Person(Entity):
    """Who acts for a side."""

    name: str


class Case(BaseModel):
    fee: MooringFee | None = Field(None, description="the fee for one season, in euros")
    deposit: KeyDeposit | None = None
    due: DueDate | None = None
    hull: HullLength | None = None
    owner: Person | None = Field(None, description="who owns the yacht")
    harbour: Person | None = Field(None, description="who acts for the harbour")
    crew: list[Person] = Field([], description="who works ashore")


CASE = Case(
    fee=MooringFee(value=120, context=QUOTES["deposit"]),
    deposit=KeyDeposit(value=120, context=QUOTES["deposit"]),
    due=DueDate(value="2027-05-04", context=QUOTES["fee"]),
    hull=HullLength(value=12.5, context=QUOTES["berth"]),
    owner=Person(name="Ines Falk", context=QUOTES["crew"]),
    crew=[Person(name="Ines Falk", context=QUOTES["crew"])],
)
SPEC = f"{__name__}:Case"
DOCUMENT = Document(id="berth", text=TEXT)


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    loaded = load_scorer("default", packs=())
    yield loaded
    loaded.close()


async def extracted(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """What the stream's extractor makes of an LLM that answers with `CASE`."""

    async def complete(*_: object) -> ChatCompletion:
        message = {"content": CASE.model_dump_json()}
        return ChatCompletion.model_validate({"choices": [{"message": message}]})

    monkeypatch.setattr(Extractor, "complete", complete)
    async with create_client("http://localhost:9/v1") as client:
        extractor = Extractor(client, model="m", schema=load_schema(SPEC))
        ref = DOCUMENT.ref(Coordinates(topic="documents", partition=0, offset=7))
        return await extractor.extract(DOCUMENT, ref)


def rows(events: list[Event]) -> list[dict[str, Any]]:
    """The extractions as a file of somebody else has them: their fields are not described."""
    kept = {"id", "doc_id", "entity_type", "value", "context"}
    made = [one.model_dump(mode="json", include=kept) for one in events]
    for row, event in zip(made, events, strict=True):
        if event.entity_type == "Person":  # three fields of the schema have this type
            row["field"] = {"name": event.field.name}
    return made


def shared(verdict: Verdict | bytes) -> bytes:
    """The bytes of what no caller knows better than another: not who extracted, and where the
    document lies."""
    said = json.loads(verdict if isinstance(verdict, bytes) else verdict.to_json())
    for apart in ("id", "extraction_id", "extractor", "document"):
        said.pop(apart, None)
    return json.dumps(said).encode()


async def test_stream_file_and_call_give_one_verdict_byte_for_byte(
    scorer: Scorer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    events = await extracted(monkeypatch)
    live = [shared(one) for one in await streamed(events, TEXT, scorer)]

    documents, extractions = tmp_path / "d.jsonl", tmp_path / "e.jsonl"
    documents.write_text(DOCUMENT.model_dump_json(include={"id", "text"}))
    extractions.write_text("".join(json.dumps(row) + "\n" for row in rows(events)))
    monkeypatch.setattr("safepassage.scoring_worker.load_scorer", lambda *_, **__: scorer)
    out = tmp_path / "v.jsonl"
    asked = ["check", "-d", documents, "-e", extractions, "--schema", SPEC, "-o", out]
    ran = CliRunner().invoke(app, list(map(str, asked)), catch_exceptions=False)
    assert ran.exit_code == 0
    assert [shared(line) for line in out.read_bytes().splitlines()] == live

    given = [
        Extraction(one.entity_type, one.value, one.context, place=one.field.name, id=one.id)
        for one in events
    ]
    verifier = Verifier(scorer, schema=Case)
    called = await verifier.averify(DOCUMENT, given)
    assert [shared(one) for one in called.verdicts] == live

    results: list[Any] = []
    Verifier(scorer).check(CASE, DOCUMENT, on_result=results.append)
    assert [shared(one) for one in results[0].verdicts] == live

    decided = {(v.entity_type, v.field.name): v.decision for v in called.verdicts}
    assert decided["Mooring Fee", "fee"] == "quarantined"
    assert decided["Key Deposit", "deposit"] == "accepted"
    assert decided["Due Date", "due"] == "accepted"


def test_without_the_schema_it_is_another_question(scorer: Scorer):
    due = Extraction("Due Date", "2027-05-04", QUOTES["fee"])
    [told] = Verifier(scorer, schema=Case).verify(TEXT, [due]).verdicts
    [untold] = Verifier(scorer).verify(TEXT, [due]).verdicts
    assert (told.decision, untold.reasons) == ("accepted", ("date_ambiguous",))


def test_the_environment_names_the_schema_of_calls(monkeypatch: pytest.MonkeyPatch, scorer: Scorer):
    monkeypatch.setenv("SAFEPASSAGE_SCHEMA", SPEC)
    verifier = Verifier(scorer, settings=JudgingSettings())
    [told] = verifier.verify(TEXT, [Extraction("Key Deposit", 120, QUOTES["deposit"])]).verdicts
    assert told.field
    assert told.field.description == "Held until the keys come back."
    assert told.field.others[:2] == ("Mooring Fee", "Due Date")


def test_what_an_extraction_says_of_its_field_stays() -> None:
    fields = known_fields(Case)
    assert fields
    own = SchemaField(description="what is paid a year", required=True)
    event = Event(id="e", doc_id="d", entity_type="Mooring Fee", value=1, context="q", field=own)
    said = fields.filled(event).field
    assert said
    assert (said.description, said.required, said.single) == ("what is paid a year", True, True)
    assert "Key Deposit" in said.others


def test_of_several_fields_with_one_type_a_name_tells_which() -> None:
    fields = known_fields(Case)
    assert fields
    event = Event(id="e", doc_id="d", entity_type="Person", value="x", context="q")
    unnamed = fields.filled(event).field
    assert unnamed
    assert (unnamed.description, unnamed.single) == (None, None)
    assert "Mooring Fee" in unnamed.others
    named = fields.filled(event, "crew").field
    assert named
    assert (named.name, named.single) == ("crew", False)
    other = event.model_copy(update={"entity_type": "Tide"})
    assert fields.filled(other) == other


def test_a_schema_of_types_and_descriptions_tells_as_much_as_it_says(tmp_path: Path) -> None:
    file = tmp_path / "types.json"
    file.write_text(json.dumps({"Fee": "a season's fee", "Deposit": {"single": True}}))
    event = Event(id="e", doc_id="d", entity_type="Fee", value=1, context="q")
    for given in (str(file), {"Fee": "a season's fee", "Deposit": SchemaField(single=True)}):
        fields = known_fields(given)
        assert fields
        assert fields.filled(event).field == SchemaField(
            description="a season's fee", others=("Deposit",)
        )
    typed = configured_fields(None, ("Fee", "Deposit"))
    assert typed
    assert typed.filled(event).field == SchemaField(others=("Deposit",))
    assert configured_fields(None) is None
    with pytest.raises(SchemaError, match="not both"):
        configured_fields(SPEC, ("Fee",))


def test_a_file_of_none_of_the_schemas_types_is_told_so(tmp_path: Path) -> None:
    documents, extractions = tmp_path / "d.jsonl", tmp_path / "e.jsonl"
    documents.write_text(DOCUMENT.model_dump_json(include={"id", "text"}))
    row = {"id": "1", "doc_id": "berth", "entity_type": "fee", "value": 120, "context": "120"}
    extractions.write_text(json.dumps(row))
    with pytest.raises(SchemaError, match=r"'Mooring Fee'.*they have 'fee'"):
        CliRunner().invoke(
            app,
            ["check", "-d", str(documents), "-e", str(extractions), "--schema", SPEC],
            catch_exceptions=False,
        )


def test_evaluate_asks_with_the_schemas_fields(tmp_path: Path) -> None:
    documents = tmp_path / "d.jsonl"
    documents.write_text(DOCUMENT.model_dump_json(include={"id", "text"}))
    sources = label_options.label_sources([documents], 0, lambda *_: None, SPEC)
    assert isinstance(sources, Sources)
    event = Event(id="e", doc_id="berth", entity_type="Hull Length", value=12.5, context="q")
    said = sources.describe(event).field
    assert said
    assert said.unit == "m"


def test_claims_have_no_schema(scorer: Scorer) -> None:
    answer = Response(id="a", context=TEXT, response="A key deposit of 120 is held.")
    told, untold = (
        Verifier(scorer, **more).claims(answer.context, answer.response).verdicts
        for more in ({"schema": Case}, {})
    )
    assert [one.to_json() for one in told] == [one.to_json() for one in untold]

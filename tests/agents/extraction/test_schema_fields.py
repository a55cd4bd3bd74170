"""What a user's model says travels with each finding, from the place where the entity stands."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from safepassage.agents.extraction.answers import GenericSchema, read_answer
from safepassage.agents.extraction.cache import CachedAnswer, CacheKey
from safepassage.agents.extraction.chunking import Chunk, merge
from safepassage.agents.extraction.schema_fields import entity_places, placed_entities, schema_field
from safepassage.agents.extraction.schema_loading import SchemaError, load_schema, user_schema
from safepassage.schemas import Entity, SchemaField, Usage


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Dose(Entity):
    """How much of the drug a day."""

    milligrams: float = Field(description="without the unit", json_schema_extra={"unit": "mg"})


class Party(Entity):
    name: str


class Car(Entity):
    colour: Colour | None


class Sex(Entity):
    sex: Literal["f", "m"]


class Trip(BaseModel):
    car: Car


class Record(BaseModel):
    dose: Dose = Field(description="Maximum daily dose for hypertension.")
    landlord: Party
    tenant: Party | None = None
    sexes: Annotated[list[Sex], Field(min_length=1)]
    trips: list[Trip] = []


RECORD = user_schema(Record)
ANSWER = {
    "dose": {"context": "5 mg", "milligrams": 5},
    "landlord": {"context": "Ann", "name": "Ann"},
    "tenant": {"context": "Ann", "name": "Ann"},
    "sexes": [{"context": "f", "sex": "f"}],
    "trips": [{"car": {"context": "red", "colour": "red"}}],
}
FINDINGS = read_answer(RECORD, json.dumps(ANSWER)).findings
FIELDS = {finding.schema_field.name: finding.schema_field for finding in FINDINGS}


def test_descriptions_units_options_and_numbers_are_read_from_the_model():
    said = {name: field.model_copy(update={"others": ()}) for name, field in FIELDS.items()}
    assert {
        "dose": SchemaField(
            name="dose",
            description="Maximum daily dose for hypertension. How much of the drug a day. "
            "without the unit",
            unit="mg",
            single=True,
            required=True,
        ),
        "landlord": SchemaField(name="landlord", single=True, required=True),
        "tenant": SchemaField(name="tenant", single=True, required=False),
        "sexes": SchemaField(name="sexes", allowed=("f", "m"), single=False, required=True),
        "trips.car": SchemaField(
            name="trips.car", allowed=("red", "blue"), single=False, required=False
        ),
    } == said
    assert FIELDS["landlord"].others == FIELDS["tenant"].others
    assert set(FIELDS["landlord"].others) == {
        finding.entity_type for finding in FINDINGS if finding.entity_type != "Party"
    }


def test_one_type_at_two_places_gives_two_facts():
    """The landlord's name and the tenant's are two questions though all else is equal."""
    parties = [finding for finding in FINDINGS if finding.entity_type == "Party"]
    assert [finding.place for finding in parties] == ["landlord", "tenant"]
    chunk = Chunk(0, "Ann")
    answer = read_answer(RECORD, json.dumps(ANSWER))
    assert len(merge([chunk], [answer]).findings) == len(FINDINGS)
    assert all(finding.place == "" for finding in FINDINGS if finding.entity_type != "Party")


def test_entities_are_found_at_every_depth_in_field_order():
    class Case(BaseModel):
        dates: list[Dose]
        inner: Inner
        parties: dict[str, Dose]
        pair: tuple[Dose, ...]

    class Inner(BaseModel):
        dose: Dose | None

    a, b, c, d = (Dose.model_construct(context=name) for name in "abcd")
    case = Case.model_construct(
        dates=[a], inner=Inner.model_construct(dose=b), parties={"x": c}, pair=(d,)
    )
    assert [entity.context for entity, _ in placed_entities(case)] == [*"abcd"]
    assert [entity for entity, _ in placed_entities(a)] == [a]


def test_a_model_that_holds_itself_is_entered_once():
    class Tree(BaseModel):
        party: Party
        children: list[Tree] = []

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    assert [place.name for _, place in entity_places(Tree)] == ["party"]


def test_the_cache_gives_back_what_the_schema_says():
    key = CacheKey(
        document_digest="d", model="m", prompt_digest="p", schema_digest="s", chunking="c"
    )
    answer = read_answer(RECORD, json.dumps(ANSWER))
    cached = CachedAnswer.of(key, answer, Usage())
    again = CachedAnswer.model_validate_json(cached.model_dump_json()).answer
    assert again == answer
    assert [f.schema_field for f in again.findings] == [f.schema_field for f in answer.findings]


def test_a_generic_schema_tells_the_model_and_the_scorer_what_a_type_is(tmp_path):
    path = tmp_path / "types.json"
    path.write_text(json.dumps({"Dose": "the daily dose", "Sex": {"allowed": ["f", "m"]}}))
    schema = load_schema(str(path))
    assert isinstance(schema, GenericSchema)
    told = json.dumps(schema.json_schema)
    assert "the daily dose" in told
    row = {"entity_type": "Sex", "value": "f", "context": "f"}
    [finding] = read_answer(schema, json.dumps({"entities": [row]})).findings
    assert finding.schema_field == SchemaField(allowed=("f", "m"), others=("Dose",))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"Dose": 5}', '{" ": "x"}'])
def test_a_file_that_describes_nothing_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "types.json"
    path.write_text(content)
    with pytest.raises(SchemaError) as caught:
        load_schema(str(path))
    assert "\n" not in str(caught.value)


def test_without_descriptions_the_generic_schema_is_as_it_was():
    assert (
        "description"
        not in GenericSchema(["Rent"]).json_schema["properties"]["entities"]["items"]["properties"][
            "entity_type"
        ]
    )


def test_required_fields_that_nothing_filled_are_told():
    """Only what a document always has: a field inside an optional one is not required."""

    class Inner(BaseModel):
        dose: Dose

    class Outer(BaseModel):
        dose: Dose
        tenant: Party
        sexes: Annotated[list[Sex], Field(min_length=1)]
        notes: list[Car]
        inner: Inner | None = None

    schema = user_schema(Outer)
    assert schema.unfilled(()) == ("dose", "tenant", "sexes")
    found = {"dose": {"context": "5", "milligrams": 5}, "tenant": {"context": "", "name": ""}}
    answer = {**found, "sexes": [{"context": "f", "sex": "f"}], "notes": []}
    findings = read_answer(schema, json.dumps(answer)).findings
    assert schema.unfilled(findings) == ("tenant",)  # an entity without a value fills nothing


def test_a_generic_schema_can_require_a_type():
    schema = GenericSchema({"Dose": SchemaField(required=True), "Sex": SchemaField()})
    assert schema.unfilled(()) == ("Dose",)


class Prescription(Entity):
    """A drug and how it is taken."""

    drug: str
    route: Literal["oral", "nasal"] | None = None


class Reason(Entity):
    reason: str = Field(json_schema_extra={"words": "reader"})


class Chart(BaseModel):
    prescription: Prescription
    reason: Reason


def test_the_options_of_parts_and_who_decides_on_words_are_read_from_the_model():
    places = dict(entity_places(Chart))
    assert schema_field(Prescription, places[Prescription]).part_options == ("oral", "nasal")
    assert schema_field(Prescription, places[Prescription]).allowed is None
    assert schema_field(Prescription, places[Prescription]).words is None
    assert schema_field(Reason, places[Reason]).words == "reader"

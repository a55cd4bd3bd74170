"""What the schema says of a field: bounded, and part of what a verdict rests on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from safepassage.schemas import Extraction, LabelledExtraction, SchemaField, verdict_id
from safepassage.schemas.extraction import among_one_another
from safepassage.schemas.schema_field import MAX_ALLOWED, MAX_DESCRIPTION, other_types

ROW = {"id": "e", "doc_id": "d", "entity_type": "Dose", "value": "5 mg", "context": "5 mg"}
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=1_200)


@given(TEXTS, st.lists(TEXTS | st.booleans() | st.integers(), max_size=150), TEXTS)
def test_any_description_is_bounded_and_what_is_cut_leaves_a_digest(description, allowed, unit):
    field = SchemaField(description=description, allowed=tuple(allowed), unit=unit)
    assert len(field.description or "") <= MAX_DESCRIPTION
    assert len(field.allowed or ()) <= MAX_ALLOWED
    whole = (field.description, field.allowed, field.unit) == (description, tuple(allowed), unit)
    assert (field.digest is None) == whole
    assert SchemaField.model_validate_json(field.model_dump_json()) == field


def test_two_long_descriptions_that_differ_only_at_their_ends_are_told_apart():
    one, other = (SchemaField(description="x" * 600 + end) for end in "ab")
    assert one.description == other.description
    assert one.identity != other.identity


def test_a_row_may_say_only_a_description():
    """``"description"`` is short for a field of which nothing else is known."""
    said = LabelledExtraction.model_validate(ROW | {"description": "the maximum daily dose"})
    assert said.field == SchemaField(description="the maximum daily dose")
    full = LabelledExtraction.model_validate(ROW | {"field": {"unit": "mg", "single": True}})
    assert full.field == SchemaField(unit="mg", single=True)
    with pytest.raises(ValidationError):
        LabelledExtraction.model_validate(ROW | {"description": "x", "field": {"unit": "mg"}})


def test_an_extraction_without_a_field_is_written_as_before():
    extraction = Extraction.model_validate(ROW)
    assert b'"field"' not in extraction.to_json()
    described = extraction.model_copy(update={"field": SchemaField(description="a")})
    assert Extraction.model_validate_json(described.to_json()) == described


def test_the_schemas_words_are_part_of_a_verdicts_id():
    """The same scorer may answer another question otherwise."""
    plain = Extraction.model_validate(ROW)
    one, other = (
        plain.model_copy(update={"field": SchemaField(description=words)})
        for words in ("maximum dose", "maximum dose for hypertension")
    )
    assert len({verdict_id(e, None, "r") for e in (plain, one, other)}) == 3


def test_the_other_fields_are_the_nearest_of_the_schema_without_the_own():
    assert other_types(["A", "B", "a", "C"], 1) == ("A", "C")
    assert other_types(["A", "a"], 0) == ()
    many = [f"Field {number}" for number in range(20)]
    assert set(other_types(many, 10)) == {f"Field {n}" for n in (6, 7, 8, 9, 11, 12, 13, 14)}


def test_the_types_of_a_document_stand_for_a_schema_that_nobody_told():
    rows = [
        Extraction(id=f"e{at}", doc_id=doc, entity_type=kind, value="x", context="x")
        for at, (doc, kind) in enumerate([("a", "Rent"), ("a", "Deposit"), ("b", "Rent")])
    ]
    told = rows[0].model_copy(update={"id": "t", "field": SchemaField(others=("Term",))})
    rent, deposit, alone, kept = among_one_another([*rows, told])
    assert rent.field == SchemaField(others=("Deposit",))
    assert deposit.field == SchemaField(others=("Rent",))
    assert alone == rows[2]
    assert kept == told

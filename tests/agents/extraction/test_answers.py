"""How an answer is read back."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from safepassage.agents.extraction.answers import (
    MAX_FINDINGS,
    Finding,
    GenericSchema,
    read_answer,
    schema_digest,
)
from safepassage.agents.extraction.generic_schema import plain_value, schema_value
from safepassage.agents.extraction.schema_loading import user_schema
from safepassage.llm_calls.errors import Malformed, SchemaMismatch, TooLarge
from safepassage.schemas import Entity, Extraction

GENERIC = GenericSchema()
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)


def _row(**fields: Any) -> dict[str, Any]:
    return {"entity_type": "Rent", "value": "900", "context": "Rent: 900"} | fields


def _read(*rows: Any, schema: GenericSchema = GENERIC):
    return read_answer(schema, json.dumps({"entities": rows}))


class TestGeneric:
    """A flat list of entities."""

    @pytest.mark.parametrize(
        "value",
        [
            "900",
            900,
            9.5,
            False,
            ["a", "b"],
            {"yyyy": 2012, "mm": None, "dd": None},
            {"nested": {"a": 1}},
        ],
    )
    def test_a_value_comes_back_as_it_was(self, value):
        assert _read(_row(value=value)).findings == (Finding("Rent", value, "Rent: 900"),)

    @given(st.dictionaries(st.text(max_size=5), scalars, max_size=4))
    def test_an_object_survives_the_form_that_endpoints_can_enforce(self, value):
        assert plain_value(schema_value(value)) == value

    @given(st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=5))
    def test_other_values_stand_for_themselves(self, value):
        assert plain_value(schema_value(value)) == value

    @pytest.mark.parametrize(
        "value",
        [
            {"fields": [{"name": "a"}]},
            {"fields": [{"name": 1, "value": 2}]},
            {"fields": ["a"]},
            {"fields": "a"},
            {"fields": [], "more": 1},
        ],
    )
    def test_an_object_that_only_looks_like_fields_is_left_alone(self, value):
        assert plain_value(value) == value

    @pytest.mark.parametrize("context", ["", None])
    def test_an_entity_without_a_context_is_kept_for_the_aligner_to_reject(self, context):
        assert _read(_row(context=context)).findings == (Finding("Rent", "900", ""),)

    def test_a_context_that_is_not_there_is_empty(self):
        assert _read({"entity_type": "Rent", "value": 1}).findings[0].context == ""

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            (_row(value=None), "no_value"),
            (_row(value="  "), "no_value"),
            (_row(value=[]), "no_value"),
            (_row(value={"yyyy": None}), "no_value"),
            (_row(value={"fields": []}), "no_value"),
            (_row(value="\ud800"), "invalid_entity"),
            (_row(context="\ud800"), "invalid_entity"),
            (_row(context=["Rent"]), "invalid_entity"),
            (_row(entity_type=""), "invalid_entity"),
            (_row(entity_type="x" * 201), "invalid_entity"),
            (_row(entity_type=None), "invalid_entity"),
            ({"value": 1}, "invalid_entity"),
            ("Rent", "invalid_entity"),
            (None, "invalid_entity"),
        ],
    )
    def test_what_is_no_extraction_is_counted_and_costs_nothing_else(self, row, reason):
        answer = _read(_row(), row, _row(value="1"))
        assert [finding.value for finding in answer.findings] == ["900", "1"]
        assert answer.skipped == {reason: 1}

    def test_a_type_that_was_not_asked_for_is_counted(self):
        answer = _read(_row(), _row(entity_type="Judge"), schema=GenericSchema(["Rent"]))
        assert len(answer.findings) == 1
        assert answer.skipped == {"unknown_type": 1}

    @pytest.mark.parametrize("content", ["[]", "null", "1", "{}", '{"entities": {}}'])
    def test_another_shape_is_a_mismatch(self, content):
        with pytest.raises(SchemaMismatch):
            read_answer(GENERIC, content)

    @pytest.mark.parametrize(
        "content",
        ["", "Sure! {", '{"entities": [', '{"entities": [NaN]}', "[" * 100_000, "9" * 5000, "\x00"],
    )
    def test_what_is_no_json_is_malformed(self, content):
        with pytest.raises(Malformed):
            read_answer(GENERIC, content)

    def test_a_flood_of_entities_is_refused(self):
        with pytest.raises(TooLarge):
            _read(*[_row(value=number) for number in range(MAX_FINDINGS + 1)])

    @given(st.text() | st.binary().map(repr))
    def test_no_answer_makes_reading_fail_in_another_way(self, content):
        with contextlib.suppress(Malformed, SchemaMismatch):
            read_answer(GENERIC, content)

    @given(
        st.recursive(
            scalars | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
            max_leaves=10,
        )
    )
    def test_every_finding_makes_an_extraction(self, value):
        for finding in _read(_row(value=value)).findings:
            extraction = Extraction(
                id="e",
                doc_id="d",
                entity_type=finding.entity_type,
                value=finding.value,
                context=finding.context,
            )
            assert Extraction.model_validate_json(extraction.to_json()) == extraction
            assert extraction.hypothesis != "Rent: "

    def test_the_types_close_the_json_schema(self):
        entity = GenericSchema(["Rent"]).json_schema["properties"]["entities"]["items"]
        assert entity["properties"]["entity_type"]["enum"] == ["Rent"]
        assert "confidence" not in json.dumps(entity)

    def test_every_object_of_the_json_schema_is_closed(self):
        def check(part: Any) -> None:
            if isinstance(part, dict):
                if part.get("type") == "object":
                    assert part["additionalProperties"] is False
                    assert part["required"] == list(part["properties"])
                for inner in part.values():
                    check(inner)
            elif isinstance(part, list):
                for inner in part:
                    check(inner)

        check(GENERIC.json_schema)


class Amount(BaseModel):
    number: float
    currency: str | None = None


class Rent(Entity):
    amount: Amount


class Note(Entity):
    text: str
    by: str

    @field_validator("text")
    @classmethod
    def _is_short(cls, text: str) -> str:
        if len(text) > 20:
            raise ValueError("too long")
        return text


class Lease(BaseModel):
    rents: list[Rent]
    note: Note | None = None


LEASE = user_schema(Lease)


class TestUsersModel:
    """The user's own pydantic model."""

    def test_entities_become_findings_in_field_order(self):
        answer = read_answer(
            LEASE,
            json.dumps(
                {
                    "note": {"context": "n", "text": "late", "by": "Ann"},
                    "rents": [{"context": "r", "amount": {"number": 900, "currency": None}}],
                }
            ),
        )
        assert answer.findings == (
            Finding("Rent", {"number": 900.0, "currency": None}, "r"),
            Finding("Note", {"text": "late", "by": "Ann"}, "n"),
        )

    def test_an_empty_context_is_kept_and_an_empty_value_is_counted(self):
        answer = read_answer(
            LEASE,
            json.dumps(
                {
                    "rents": [{"context": "", "amount": {"number": 1}}],
                    "note": {"context": "n", "text": "", "by": ""},
                }
            ),
        )
        assert [finding.context for finding in answer.findings] == [""]
        assert answer.skipped == {"no_value": 1}

    @pytest.mark.parametrize("text", ["\\ud800", "\\udc00 x"])
    def test_a_lone_surrogate_costs_only_its_entity(self, text):
        content = (
            '{"rents": [{"context": "r", "amount": {"number": 1}}], '
            f'"note": {{"context": "n", "text": "{text}", "by": "x"}}}}'
        )
        answer = read_answer(LEASE, content)
        assert [finding.entity_type for finding in answer.findings] == ["Rent"]
        assert answer.skipped == {"invalid_entity": 1}

    @pytest.mark.parametrize(
        "answer",
        [
            {},
            [],
            {"rents": [{"amount": {"number": 1}}]},
            {"rents": [{"context": "c", "amount": {"number": "many"}}]},
            {"rents": [], "note": {"context": "c", "text": "x" * 21, "by": "a"}},
        ],
    )
    def test_an_answer_that_breaks_the_model_is_a_mismatch_that_quotes_nothing(self, answer):
        with pytest.raises(SchemaMismatch, match="is no Lease") as caught:
            read_answer(LEASE, json.dumps(answer))
        assert "many" not in str(caught.value)

    def test_a_field_that_may_be_null_and_is_left_out_is_null(self):
        class Notice(BaseModel):
            rents: list[Rent]
            note: Note | None

        notice = user_schema(Notice)
        rents = [{"context": "r", "amount": {"number": 1}}]
        said = read_answer(notice, json.dumps({"rents": rents}))
        assert said == read_answer(notice, json.dumps({"rents": rents, "note": None}))
        for other in ({"note": None}, {"notice": {"rents": rents}}, {}):
            with pytest.raises(SchemaMismatch, match="rents: Field required"):
                read_answer(notice, json.dumps(other))

    def test_a_digest_tells_schemas_apart(self):
        assert schema_digest(LEASE) == schema_digest(user_schema(Lease))
        digests = {schema_digest(schema) for schema in (LEASE, GENERIC, GenericSchema(["Rent"]))}
        assert len(digests) == 3

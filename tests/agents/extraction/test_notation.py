"""An LLM is told all that a schema says, in a fraction of its words."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, Field, create_model

from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.notation import enforced, notation
from safepassage.agents.extraction.prompt import messages
from safepassage.agents.extraction.schema_loading import load_schema, schema_of, user_schema
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.schemas import Entity, SchemaField


class Date(BaseModel):
    yyyy: int
    mm: int | None
    dd: int | None


class DecisionDate(Entity):
    """The day on which
    the court decided."""

    date: Date


class Rent(Entity):
    amount: float = Field(description="a month, without charges", ge=0)
    currency: Literal["EUR", "CHF"]


class Part(BaseModel):
    title: str = Field(description="its heading")
    rents: list[Rent]
    parts: list[Part] | None = None


class Lease(BaseModel):
    decided: DecisionDate | None = Field(description="the latest, where there are several")
    facts: list[Rent]
    parts: list[Part]


LEASE = user_schema(Lease)


def test_the_form_shows_every_field_with_what_is_said_of_it():
    assert notation(LEASE.json_schema).splitlines()[:7] == [
        "{",
        '  "decided": {"context": string, "date": {"yyyy": integer, "mm": integer | null, '
        '"dd": integer | null}} | null,  '
        "// the latest, where there are several Decision Date: The day on which the court decided.",
        '  "facts": {',
        '    "context": string,',
        '    "amount": number,  // a month, without charges (minimum 0)',
        '    "currency": "EUR" | "CHF",',
        "  }[],  // Rent:",
    ]


def test_a_class_inside_itself_is_named_and_ends():
    written = notation(LEASE.json_schema)
    assert '"parts": Part[] | null,' in written
    assert '"title": string,  // its heading' in written


def test_what_may_be_left_out_is_marked():
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}
    assert notation(schema) == '{\n  "a": any,\n  "b"?: any,\n}'


def test_types_of_one_list_are_told_in_its_field():
    told = {"Dose": SchemaField(description="the daily dose", unit="mg"), "Sex": "f or m"}
    written = notation(schema_of(told).json_schema)
    assert '"entity_type": "Dose" | "Sex",' in written
    assert "Dose: the daily dose; unit: mg" in written
    assert "Sex: f or m" in written


def test_the_enforced_schema_has_the_same_form_without_its_prose():
    sent = enforced(LEASE.json_schema)
    assert "description" not in json.dumps(sent)
    part = sent["$defs"]["Part"]
    assert part["properties"]["title"] == {"type": "string"}
    assert part["required"] == ["title", "rents", "parts"]
    assert "title" not in sent["$defs"]["DecisionDate"]
    assert enforced(LEASE.json_schema["$defs"]["Rent"], "Rate")["title"] == "Rent"
    assert sent["$defs"]["Rent"]["properties"]["currency"]["enum"] == ["EUR", "CHF"]


async def test_eleven_classes_take_less_than_six_kilobytes_and_the_constant_part_comes_first():
    """17 kB with a document of 2.5: a small LLM on a processor read them for minutes."""
    kinds = {
        f"invoice_field_{n}": create_model(f"InvoiceField{n}", __base__=Entity, value=(str, ...))
        for n in range(11)
    }
    for name, kind in kinds.items():
        kind.__doc__ = f"The {name} as the invoice says it."
        kind.model_rebuild(force=True)
    fields = {name: (list[kind], ...) for name, kind in kinds.items()}  # type: ignore[valid-type]
    schema = user_schema(create_model("Invoice", **fields))  # type: ignore[call-overload]
    async with create_client("http://127.0.0.1:9/v1") as client:
        caller = Extractor(
            client, model="m", schema=schema, max_concurrency=1, timeout=1, retries=RetryPolicy()
        )
        form = caller._schema_format()
    asked = [messages(text, schema.json_schema) for text in ("one", "another")]
    size = len(json.dumps([asked[0], form], separators=(",", ":")).encode())
    assert 4_000 < size < 6_000
    assert asked[0][0] == asked[1][0]
    assert asked[0][0]["content"].count("as the invoice says it") == 11


def test_every_word_of_the_demos_types_is_told():
    schema = load_schema(None, ["Monthly Rent", "Tenant"])
    assert '"Monthly Rent" | "Tenant"' in notation(schema.json_schema)

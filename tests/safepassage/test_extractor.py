"""`extract`: the stream's extractor in one call, with examples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from safepassage import Entity, extract
from safepassage.agents.extraction.prompt import fenced_text, prompt_digest
from safepassage.agents.extraction.schema_loading import SchemaError, load_schema, schema_of
from safepassage.extractor import _extract
from safepassage.llm_calls.client import create_client
from tests.recorded_llm.serving import serve

TEXT = "A monthly rent of £1,250 is due."
SHOWN = {
    "document": "Rent: £900 a month.",
    "answer": {"rent": {"amount": "£900", "context": "Rent: £900"}},
}


class Rent(Entity):
    amount: str


class Lease(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [SHOWN]})

    rent: Rent | None = None


async def asked(schema: Any, answer: Any, **options: Any) -> tuple[Any, list[dict[str, str]]]:
    seen: list[dict[str, Any]] = []
    unsaid: dict[str, Any] = {"examples": (), "settings": None}

    async def complete(request: Request) -> JSONResponse:
        seen.append(await request.json())
        choice = {"message": {"content": json.dumps(answer)}, "finish_reason": "stop"}
        return JSONResponse({"choices": [choice], "usage": {}})

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    async with serve(app) as base_url, create_client(base_url) as client:
        found = await _extract(TEXT, schema, model="m", client=client, **(unsaid | options))
    assert [request["model"] for request in seen] == ["m"]
    return found, seen[0]["messages"]


async def test_a_model_with_examples_shows_them_before_the_document():
    answer = {"rent": {"amount": "£1,250", "context": "A monthly rent of £1,250"}}
    found, messages = await asked(Lease, answer)
    assert [(e.type, e.value, e.quote) for e in found] == [
        ("Rent", "£1,250", "A monthly rent of £1,250")
    ]
    assert found[0].field.name == "rent"
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert fenced_text(messages[1]["content"]) == SHOWN["document"]
    assert json.loads(messages[2]["content"]) == SHOWN["answer"]
    assert fenced_text(messages[3]["content"]) == TEXT
    assert "£900" not in messages[0]["content"], "strict endpoints refuse examples in a schema"


@pytest.mark.parametrize("schema", [["Rent"], {"Rent": "what is paid each month"}], ids=str)
async def test_entity_types_are_a_schema_too(schema: Any):
    row = {"entity_type": "Rent", "value": "£1,250", "context": "rent of £1,250"}
    shown = {"document": "Rent: £900", "answer": {"entities": [{**row, "context": "Rent: £900"}]}}
    found, messages = await asked(schema, {"entities": [row]}, examples=[shown])
    assert [(e.type, e.value) for e in found] == [("Rent", "£1,250")]
    assert len(messages) == 4


def test_it_runs_where_no_loop_is_and_says_what_is_no_schema():
    for wrong in (3, {"Rent": 5}, BaseModel):
        with pytest.raises(SchemaError):
            extract(TEXT, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("examples", "told"),
    [
        ("no list", "examples: "),
        ([{"document": "x"}], "answer: Field required"),
        (
            [{"document": "x", "answer": {"rents": 1, "rent": 5}}],
            "example 1: the answer is no Wrong",
        ),
        (
            [{**SHOWN, "document": "Rent: £800 a month."}],
            "the context of Rent is not in its document",
        ),
        ([SHOWN] * 21, "at most 20"),
    ],
    ids=["form", "row", "schema", "quote", "many"],
)
def test_an_example_that_would_teach_what_is_refused_later_is_refused(examples: Any, told: str):
    class Wrong(Lease):
        model_config = ConfigDict(json_schema_extra={"examples": examples})

    with pytest.raises(SchemaError, match=told):
        schema_of(Wrong)


def test_examples_change_the_prompts_digest_and_nothing_else_does():
    plain = load_schema(None, ["Rent"])
    assert prompt_digest(plain.json_schema) == prompt_digest(plain.json_schema, examples=())
    shown = schema_of(Lease)
    assert prompt_digest(shown.json_schema) != prompt_digest(
        shown.json_schema, examples=shown.examples
    )

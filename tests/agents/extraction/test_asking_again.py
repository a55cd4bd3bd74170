"""Quotes that do not exist go back to the LLM once, before anything is published."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import redis.asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.answers import Answer, Finding
from safepassage.agents.extraction.asking_again import mended, sifted
from safepassage.agents.extraction.cache import ExtractionCache
from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.schemas import Coordinates, Document, Extraction
from tests.recorded_llm.serving import serve

DOCUMENT = Document(id="lease", text="Rent: 900 a month. Deposit: 1800, held by the agent.")
REF = DOCUMENT.ref()
SCHEMA = load_schema(None, ["Rent", "Deposit"])
RENT = {"entity_type": "Rent", "value": "900", "context": "Rent: 900 a month"}
INVENTED = {"entity_type": "Deposit", "value": "1800", "context": "sum of eighteen hundred"}
COPIED = {**INVENTED, "context": "Deposit: 1800"}


class Conversation:
    """Answers the first question with ``first`` and the second with ``second``."""

    def __init__(self, first: list[Any], second: Any) -> None:
        self.answers = [{"entities": first}, second]
        self.asked: list[list[dict[str, str]]] = []

    async def complete(self, request: Request) -> Response:
        messages = (await request.json())["messages"]
        self.asked.append(messages)
        content = self.answers[(len(messages) - 2) // 2]
        if isinstance(content, Response):
            return content
        choice = {"message": {"content": json.dumps(content)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return JSONResponse({"choices": [choice], "usage": usage})


@contextlib.asynccontextmanager
async def extractor(llm: Conversation, **options: Any) -> AsyncIterator[Extractor]:
    app = Starlette(routes=[Route("/v1/chat/completions", llm.complete, methods=["POST"])])
    quick = RetryPolicy(attempts=1)
    async with serve(app) as base_url, create_client(base_url) as client:
        given = {"ask_again_below": 0.5} | options
        yield Extractor(client, model="m", schema=SCHEMA, retries=quick, **given)


def seen(found: list[Extraction]) -> list[tuple[str, str, int]]:
    return [(e.entity_type, e.context, e.attempt) for e in found]


async def test_it_is_off_by_default_and_changes_no_digest_then():
    llm = Conversation([RENT, INVENTED], {"entities": [COPIED]})
    async with extractor(llm, ask_again_below=None) as off, extractor(llm) as on:
        found = await off.extract(DOCUMENT, REF)
        assert off.trail.prompt_digest != on.trail.prompt_digest
    assert len(llm.asked) == 1
    assert [e.attempt for e in found] == [1, 1]


async def test_an_invented_quote_is_asked_about_once_and_the_answer_takes_its_place():
    llm = Conversation([RENT, INVENTED], {"entities": [COPIED]})
    async with extractor(llm) as asking:
        extracted = await asking.examine(DOCUMENT, REF)
    assert seen(extracted.extractions) == [
        ("Rent", "Rent: 900 a month", 1),
        ("Deposit", "Deposit: 1800", 2),
    ]
    assert extracted.manifest().skipped == {"replaced": 1}
    assert extracted.trail.usage.input_tokens == 200
    first, second = llm.asked
    assert second[: len(first)] == first
    assert "sum of eighteen hundred" in second[-1]["content"]
    assert "Rent: 900" not in second[-1]["content"]
    assert b'"attempt":2' in extracted.extractions[1].to_json()
    assert b"attempt" not in extracted.extractions[0].to_json()


async def test_nobody_is_asked_where_every_quote_stands():
    llm = Conversation([RENT, COPIED], {"entities": []})
    async with extractor(llm) as asking:
        await asking.extract(DOCUMENT, REF)
    assert len(llm.asked) == 1


async def test_what_the_second_answer_does_not_mend_goes_on_as_it_came():
    other_type = {**COPIED, "entity_type": "Rent", "value": "1800"}
    for second in (
        {"entities": []},
        {"entities": [INVENTED]},
        {"entities": [{**INVENTED, "context": "a deposit was invented again"}]},
        {"entities": [other_type]},
        {"unexpected": True},
        Response("overloaded", status_code=500),
    ):
        llm = Conversation([RENT, INVENTED], second)
        async with extractor(llm) as asking:
            extracted = await asking.examine(DOCUMENT, REF)
        assert len(llm.asked) == 2
        assert seen(extracted.extractions) == [
            ("Rent", "Rent: 900 a month", 1),
            ("Deposit", "sum of eighteen hundred", 1),
        ]
        assert extracted.skipped["replaced"] == 0


async def test_the_attempt_survives_the_cache(redis_client: redis.asyncio.Redis):
    llm = Conversation([INVENTED], {"entities": [COPIED]})
    async with extractor(llm, cache=ExtractionCache(redis_client)) as asking:
        fresh = await asking.extract(DOCUMENT, REF)
        kept = await asking.extract(DOCUMENT, REF)
    assert len(llm.asked) == 2
    assert seen(kept) == seen(fresh) == [("Deposit", "Deposit: 1800", 2)]


async def test_anew_asks_once_for_a_record_and_says_what_came_from_the_cache(
    redis_client: redis.asyncio.Redis,
):
    llm = Conversation([RENT], {"entities": []})
    record = DOCUMENT.ref(Coordinates(topic="documents", partition=0, offset=7))
    async with extractor(llm, cache=ExtractionCache(redis_client)) as asking:
        manifests = [
            (await asking.examine(DOCUMENT, ref, anew=anew)).manifest()
            for ref, anew in ((REF, False), (REF, False), (record, True), (record, True))
        ]
    assert len(llm.asked) == 2
    assert [manifest.from_cache for manifest in manifests] == [False, True, False, True]


def test_one_offer_mends_one_finding_and_no_repetition_mends_any():
    one = Finding("Deposit", {"sum": 1}, "nowhere to be found here")
    two = Finding("Deposit", {"sum": 2}, "neither is this one at all")
    good = Finding("Deposit", {"sum": 1}, "Deposit: 1800")
    answer = mended(Answer((one, two)), [one, two], [good, one])
    assert [(f.context, f.attempt) for f in answer.findings] == [
        ("Deposit: 1800", 2),
        ("neither is this one at all", 1),
    ]
    already = mended(Answer((one, good)), [one], [good])
    assert [f.attempt for f in already.findings] == [1, 1]


def test_an_empty_and_an_endless_quote_do_not_stand_in_a_text():
    empty, endless = Finding("Rent", "1", ""), Finding("Rent", "1", "Rent " * 2_000)
    standing, invented = sifted(DOCUMENT.text, [empty, endless, Finding("Rent", "9", "Rent")], 0.5)
    assert invented == [empty, endless]
    assert len(standing) == 1

"""One question to an endpoint that misbehaves in every way there is."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.answers import read_answer
from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.notation import enforced
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.llm_calls.api_errors import _retry_after
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.errors import (
    LLMError,
    LLMMisconfigured,
    LLMRejected,
    LLMUnavailable,
    Malformed,
    Refused,
    SchemaMismatch,
    TooLarge,
    Truncated,
)
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.schemas import Document
from tests.recorded_llm.faults import Fault, Faults
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve

TEXT = "Rent: 900 a month. SECRET"
SCHEMA = load_schema(None, ["Rent"])
QUICK = RetryPolicy(attempts=3, first_wait=0.01, max_wait=0.05)


def _caller(client, **options) -> Extractor:
    settings = {"max_concurrency": 4, "timeout": 5.0, "retries": QUICK} | options
    return Extractor(client, model="m", schema=SCHEMA, **settings)


@contextlib.asynccontextmanager
async def _faulty(*plan: Fault | None, **faults) -> AsyncIterator[str]:
    app = create_app([Document(id="lease", text=TEXT)], [], faults=Faults(plan=plan, **faults))
    async with serve(app) as base_url:
        yield base_url


async def _complete(*plan: Fault | None, caller=None, client=None, **faults) -> str:
    async with (
        _faulty(*plan, **faults) as base_url,
        create_client(base_url, **client or {}) as openai,
    ):
        completion = await _caller(openai, **caller or {}).complete(TEXT)
    return completion.content


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.GARBAGE])
async def test_a_passing_fault_is_retried(fault):
    assert await _complete(fault, fault, None, retry_after=0.01) == '{"entities": []}'


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.DRIP])
async def test_an_endpoint_that_takes_for_ever_is_left_and_asked_again(fault):
    assert await _complete(fault, None, caller={"timeout": 0.5}) == '{"entities": []}'


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault.RATE_LIMIT, "answered 429"),
        (Fault.SERVER_ERROR, "answered 500"),
        (Fault.GARBAGE, "no completion"),
    ],
)
async def test_a_lasting_fault_is_an_error_after_the_last_attempt(fault, message):
    with pytest.raises(LLMUnavailable, match=message) as caught:
        await _complete(rate=1.0, kinds=(fault,), retry_after=0.01)
    assert caught.value.retryable
    assert caught.value.code == "llm_unavailable"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.TRUNCATED, Truncated),
        (Fault.REFUSAL, Refused),
        (Fault.CONTENT_FILTER, Refused),
        (Fault.OVERSIZED, TooLarge),
    ],
)
async def test_an_unusable_answer_is_an_error_of_its_own_and_not_retried(fault, error):
    with pytest.raises(error) as caught:
        await _complete(fault, None)
    assert not caught.value.retryable
    assert TEXT not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.MALFORMED, Malformed), (Fault.MISMATCH, SchemaMismatch)]
)
async def test_an_answer_that_is_no_json_of_the_schema_is_an_error_when_it_is_read(fault, error):
    content = await _complete(fault)
    with pytest.raises(error):
        read_answer(SCHEMA, content)


async def test_an_endpoint_without_json_schema_is_asked_for_a_json_object_from_then_on():
    always = {"rate": 1.0, "kinds": (Fault.NO_JSON_SCHEMA,)}
    async with _faulty(**always) as base_url, create_client(base_url) as client:
        caller = _caller(client)
        assert (await caller.complete(TEXT)).content == '{"entities": []}'
        assert caller._caller._refused == {"json_schema"}
        assert (await caller.complete(TEXT)).content == '{"entities": []}'


async def test_no_connection_is_an_error_after_the_last_attempt():
    async with _faulty() as base_url:
        pass
    async with create_client(base_url) as client:
        with pytest.raises(LLMUnavailable, match="ConnectError"):
            await _caller(client).complete(TEXT)


async def test_an_overload_narrows_the_window_of_the_caller():
    async with (
        _faulty(Fault.RATE_LIMIT, retry_after=0.01) as base_url,
        create_client(base_url) as client,
    ):
        caller = _caller(client)
        before = caller.limit.window
        await caller.complete(TEXT)
        assert caller.limit.window == before // 2


async def test_a_cancelled_call_leaves_its_place():
    async with (
        _faulty(Fault.HANG, hang_seconds=30) as base_url,
        create_client(base_url) as client,
    ):
        caller = _caller(client)
        task = asyncio.create_task(caller.complete(TEXT))
        async with asyncio.timeout(10):
            while not caller.limit.active:  # noqa: ASYNC110 - there is nothing to wait on
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert caller.limit.active == 0


@contextlib.asynccontextmanager
async def _endpoint(status: int, body: object, **headers: str) -> AsyncIterator[str]:
    async def answer(_request: Request) -> Response:
        return JSONResponse(body, status, headers=headers)

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(app) as base_url:
        yield base_url


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (401, "invalid_api_key", LLMMisconfigured),
        (403, None, LLMMisconfigured),
        (404, None, LLMMisconfigured),
        (404, "model_not_found", LLMMisconfigured),
        (404, "document_not_recorded", LLMRejected),
        (400, "context_length_exceeded", LLMRejected),
        (413, None, LLMRejected),
        (409, None, LLMUnavailable),
        (529, None, LLMUnavailable),
    ],
)
async def test_a_status_says_whose_fault_it_is(status, code, error):
    body = {"error": {"message": f"not {TEXT}", "code": code}}
    async with _endpoint(status, body) as base_url, create_client(base_url) as client:
        with pytest.raises(LLMError) as caught:
            await _caller(client).complete(TEXT)
    assert type(caught.value) is error
    assert str(status) in str(caught.value)
    assert "SECRET" not in repr(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": ["x"]}}]},
        {"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": -1}},
        [],
    ],
)
async def test_a_body_that_is_no_completion_is_a_fault_of_the_endpoint(body):
    async with _endpoint(200, body) as base_url, create_client(base_url) as client:
        with pytest.raises(LLMUnavailable, match="no completion"):
            await _caller(client).complete(TEXT)


@pytest.mark.parametrize("content", [None, ""])
async def test_an_empty_answer_is_malformed(content):
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    async with _endpoint(200, body) as base_url, create_client(base_url) as client:
        with pytest.raises(Malformed, match="empty"):
            await _caller(client).complete(TEXT)


async def test_the_body_of_an_error_is_bounded_too():
    async with (
        _endpoint(400, {"error": "x" * 5000}) as base_url,
        create_client(base_url, max_response_bytes=1000) as client,
    ):
        with pytest.raises(TooLarge, match="1000 bytes"):
            await _caller(client).complete(TEXT)


async def test_a_compressed_answer_is_refused_since_its_size_is_not_bounded():
    headers = {"content-encoding": "gzip"}
    async with _endpoint(200, {}, **headers) as base_url, create_client(base_url) as client:
        with pytest.raises(LLMRejected, match="compresses"):
            await _caller(client).complete(TEXT)


async def test_the_request_asks_for_the_schema_and_names_model_and_temperature():
    seen = []

    async def answer(request: Request) -> Response:
        seen.append(await request.json())
        return JSONResponse({"choices": [{"message": {"content": "{}"}}]})

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(app) as base_url, create_client(base_url) as client:
        await _caller(client).complete(TEXT)
        await _caller(client, temperature=0.0).complete(TEXT)
    form = seen[0]["response_format"]
    assert form["json_schema"]["schema"] == enforced(SCHEMA.json_schema)
    assert form["json_schema"]["strict"] is True
    assert seen[0]["model"] == "m"
    assert "temperature" not in seen[0]
    assert seen[1]["temperature"] == 0.0


def test_a_wait_that_the_endpoint_names_is_kept_within_bounds():
    policy = RetryPolicy(max_wait=10)
    waits = [policy.wait(LLMUnavailable("", retry_after=4)) for _ in range(50)]
    assert all(4 <= wait <= 5 for wait in waits)
    assert len(set(waits)) > 1
    assert policy.wait(LLMUnavailable("", retry_after=3600)) <= 12.5


def test_waits_double_with_jitter_up_to_their_bound():
    policy = RetryPolicy(first_wait=1, max_wait=10)
    waits = [[policy.wait(LLMUnavailable(""), n) for n in (1, 2, 3, 9)] for _ in range(50)]
    assert all(1 <= a <= 2 <= b <= 3 and 4 <= c <= 5 and d == 10 for a, b, c, d in waits)
    assert len({first for first, *_ in waits}) > 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(header, seconds):
    assert _retry_after(header) == seconds


def test_retry_after_may_lie_in_the_future():
    from email.utils import formatdate

    wait = _retry_after(formatdate(time.time() + 100, usegmt=True))
    assert 50 < wait <= 100


async def test_no_environment_setting_can_turn_the_clients_own_retries_on():
    requests = 0

    async def answer(_request: Request) -> Response:
        nonlocal requests
        requests += 1
        return JSONResponse({}, 500)

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(app) as base_url, create_client(base_url) as client:
        with pytest.raises(LLMUnavailable):
            await _caller(client.with_options(max_retries=5)).complete(TEXT)
    assert requests == QUICK.attempts


async def test_a_client_reads_through_the_bound_when_the_answer_is_small():
    async with _endpoint(200, {"ok": True}) as base_url, create_client(base_url) as client:
        response = await client.post("/chat/completions", cast_to=httpx2.Response, body={})
        assert response.json() == {"ok": True}

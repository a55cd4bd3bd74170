"""The official client, with bounds."""

from __future__ import annotations

import pytest
import structlog
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.extractor import Extractor
from safepassage.agents.extraction.schema_loading import load_schema
from safepassage.llm_calls.client import _is_loopback, configured_client, create_client
from safepassage.llm_calls.errors import LLMUnavailable
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.llm_calls.settings import GraderSettings
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve


async def test_a_proxy_of_the_environment_does_not_stand_before_the_loopback(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with serve(create_app([], [])) as base_url, create_client(base_url) as client:
        models = await client.models.list()
    assert [model.id for model in models.data] == ["recorded"]


@pytest.mark.parametrize(
    ("base_url", "is_loopback"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost/v1", True),
        ("https://llm.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example/v1", False),
    ],
)
def test_only_this_machine_is_its_loopback(base_url, is_loopback):
    assert _is_loopback(base_url) is is_loopback


async def test_the_key_is_sent_and_an_endpoint_without_keys_needs_none(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    seen = []

    async def models(request: Request) -> Response:
        seen.append(request.headers["authorization"])
        return JSONResponse({"object": "list", "data": []})

    async with serve(Starlette(routes=[Route("/v1/models", models)])) as base_url:
        for key in ("sk-test", None):
            async with create_client(base_url, api_key=key) as client:
                await client.models.list()
    assert seen == ["Bearer sk-test", "Bearer none"]


def test_settings_make_the_client_with_their_key_and_their_patience_or_a_shorter_one():
    settings = GraderSettings(
        openai_base_url="http://127.0.0.1:9/v1",
        openai_api_key=SecretStr("sk-test"),
        llm_timeout_seconds=7,
    )
    patient, probing = configured_client(settings), configured_client(settings, timeout=0.5)
    assert (str(patient.base_url), patient.api_key) == ("http://127.0.0.1:9/v1/", "sk-test")
    assert (patient.timeout, probing.timeout) == (7, 0.5)


async def test_neither_key_nor_document_nor_the_endpoints_words_are_logged():
    async def fail(request: Request) -> Response:
        echoed = (await request.body()).decode()
        return JSONResponse({"error": {"message": echoed, "code": "DOCUMENT"}}, 500)

    app = Starlette(routes=[Route("/v1/chat/completions", fail, methods=["POST"])])
    async with serve(app) as base_url, create_client(base_url, api_key="sk-KEY") as client:
        caller = Extractor(
            client,
            model="m",
            schema=load_schema(None, []),
            max_concurrency=1,
            timeout=5,
            retries=RetryPolicy(attempts=3, first_wait=0.01),
        )
        with structlog.testing.capture_logs() as logs, pytest.raises(LLMUnavailable) as caught:
            await caller.complete("DOCUMENT")
    assert len(logs) == 2  # one for each retry
    assert not any(secret in repr((logs, caught.value)) for secret in ("DOCUMENT", "sk-KEY"))

"""Verdicts over HTTP: the library's, for many callers at once."""

from __future__ import annotations

import asyncio
import json
import re
import threading

import jsonschema
import pytest
from prometheus_client import REGISTRY

from safepassage import Extraction, Verifier
from safepassage.schemas import Document
from safepassage.service.openapi import openapi
from tests.safepassage.scorers import WordScorer

from .running import BAD, GOOD, INVENTED, TEXT, running

ANSWER = "a monthly rent of £1,250. Dogs are welcome in the garden."


def library(*given: dict[str, str], document_id: str | None = None) -> list[bytes]:
    """The verdicts of the library on the same, as the bytes of the stream's records."""
    with Verifier(WordScorer()) as verifier:
        document = Document(id=document_id, text=TEXT) if document_id else TEXT
        extractions = [Extraction(g["type"], g["value"], g["quote"]) for g in given]
        return [v.to_json() for v in verifier.verify(document, extractions).verdicts]


def valued(value: bytes) -> bytes:
    """A question with ``value`` as it stands in the body."""
    return b'{"text":"t","extractions":[{"type":"T","value":%s,"quote":"secret"}]}' % value


async def test_verify_answers_with_the_librarys_verdicts_byte_for_byte():
    asked = {"text": TEXT, "document_id": "lease", "extractions": [GOOD, BAD, INVENTED]}
    async with running() as client:
        answer = await client.post("/v1/verify", json=asked)
    assert answer.status_code == 200
    verdicts = library(GOOD, BAD, INVENTED, document_id="lease")
    assert answer.content.startswith(b'{"verdicts":[' + b",".join(verdicts) + b"]")
    assert [v["decision"] for v in answer.json()["verdicts"]] == [
        "accepted",
        "quarantined",
        "quarantined",
    ]
    assert "The quote is not in the document." in answer.json()["feedback"]


async def test_claims_are_judged_sentence_by_sentence():
    asked = {"context": [TEXT, "Pets need consent."], "answer": ANSWER, "answer_id": "a1"}
    async with running() as client:
        answer = await client.post("/v1/claims", json=asked)
    with Verifier(WordScorer()) as verifier:
        expected = verifier.claims([TEXT, "Pets need consent."], ANSWER, id="a1").verdicts
    assert [json.loads(v.to_json()) for v in expected] == answer.json()["verdicts"]
    assert len(expected) == 2


async def test_callers_at_the_same_time_share_the_scorers_calls():
    entered, opened = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        entered.set()
        assert opened.wait(20)

    scorer = WordScorer(before=hold)
    before = REGISTRY.get_sample_value("safepassage_http_pairs_per_call_sum") or 0
    async with running(scorer) as client:
        asked = {"text": TEXT, "extractions": [GOOD]}
        first = asyncio.create_task(client.post("/v1/verify", json=asked))
        assert await asyncio.to_thread(entered.wait, 20)
        rest = [asyncio.create_task(client.post("/v1/verify", json=asked)) for _ in range(5)]
        for _ in range(400):
            if REGISTRY.get_sample_value("safepassage_http_in_flight") == 6:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)  # they are aligned, and wait for the scorer
        opened.set()
        answers = await asyncio.gather(first, *rest)
    assert {answer.content for answer in answers} == {answers[0].content}
    assert len(scorer.calls) < 6
    assert REGISTRY.get_sample_value("safepassage_http_pairs_per_call_sum") == before + 6


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/verify", b"{", 400),
        ("/v1/verify", b"\xff", 400),
        ("/v1/verify", b"[]", 422),
        ("/v1/verify", b'{"text": "secret"}', 422),
        ("/v1/verify", b'{"text": " \\n", "extractions": []}', 422),
        ("/v1/verify", b'{"text": "t", "extractions": [], "secret": 1}', 422),
        (
            "/v1/verify",
            b'{"text":"t","extractions":[{"type":"T","value":null,"quote":"secret"}]}',
            422,
        ),
        ("/v1/verify", json.dumps({"text": "\ud800", "extractions": []}).encode(), 400),
        ("/v1/verify", json.dumps({"text": "t", "extractions": [GOOD]}).encode("utf-16"), 400),
        ("/v1/verify", json.dumps({"text": "t", "extractions": [GOOD] * 2_001}).encode(), 422),
        ("/v1/verify", valued(b"1e400"), 422),
        ("/v1/verify", valued(b"9" * 5_000), 400),
        ("/v1/verify", valued(b"[" * 60 + b"1" + b"]" * 60), 422),
        ("/v1/verify", valued(b"[" * 5_000 + b"]" * 5_000), 400),
        ("/v1/claims", b'{"context": 1, "answer": "secret"}', 422),
        ("/v1/claims", json.dumps({"context": "c", "answer": "s" * 100_001}).encode(), 422),
        ("/nothing", b"{}", 404),
    ],
)
async def test_what_is_no_question_is_refused_and_not_quoted(
    path: str, body: bytes, status: int, capsys: pytest.CaptureFixture[str]
):
    async with running() as client:
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
        assert (await client.get("/v1/verify")).status_code == 405
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "detail"}
    assert "secret" not in answer.json()["detail"].replace("secret:", "")
    logged = "".join(capsys.readouterr())
    assert "secret" not in logged


async def test_a_misspelt_key_is_named_beside_the_one_that_is_missing():
    asked = {"text": "t", "extractions": [{"type": "T", "value": 1, "qoute": "t"}]}
    async with running() as client:
        answer = await client.post("/v1/verify", json=asked)
    detail = answer.json()["detail"]
    assert detail == "extractions.0.quote: Field required; extractions.0.qoute: unknown"


async def test_a_scorer_that_breaks_is_an_error_that_says_and_logs_no_text(
    capsys: pytest.CaptureFixture[str],
):
    def broken(_: object) -> None:
        raise RuntimeError("secret of the document")

    async with running(WordScorer(before=broken)) as client:
        answer = await client.post("/v1/verify", json={"text": TEXT, "extractions": [GOOD]})
        health = await client.get("/health")
    assert (answer.status_code, answer.json()["error"]) == (500, "failed")
    assert health.status_code == 200
    assert "secret" not in answer.text + "".join(capsys.readouterr())


async def test_health_names_the_scorer_and_metrics_count():
    async with running() as client:
        await client.post("/v1/verify", json={"text": TEXT, "extractions": [GOOD, BAD]})
        health = (await client.get("/health")).json()
        metrics = (await client.get("/metrics")).text
    assert (health["healthy"], health["scorer"], health["revision"]) == (True, "words", "words-1")
    assert 'safepassage_http_requests_total{route="/v1/verify",status="200"}' in metrics
    assert 'safepassage_http_verdicts_total{decision="quarantined"}' in metrics


async def test_openapi_describes_every_route_and_what_it_describes_is_true():
    asked = {"text": TEXT, "extractions": [GOOD, BAD]}
    async with running() as client:
        described = (await client.get("/openapi.json")).json()
        answer = (await client.post("/v1/verify", json=asked)).json()
    assert described == openapi()
    assert set(described["paths"]) == {
        "/v1/verify",
        "/v1/claims",
        "/beta/litellm_basic_guardrail_api",
        "/health",
    }
    schemas = described["components"]["schemas"]
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert named
    assert named <= set(schemas)

    def check(value: object, name: str) -> None:
        whole = {**schemas[name], "components": {"schemas": schemas}}
        jsonschema.validate(value, whole)

    check(asked, "VerifyRequest")
    check(answer, "Verdicts")
    with pytest.raises(jsonschema.ValidationError):
        check({"text": TEXT}, "VerifyRequest")

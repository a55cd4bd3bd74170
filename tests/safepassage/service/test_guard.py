"""Who may ask, how much, and for how long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import httpx2
import pytest

from safepassage.service.limits import Limits
from safepassage.service.serving import check_entrance
from tests.safepassage.scorers import WordScorer

from .running import GOOD, TEXT, running

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound
TOKEN = "the token of the tests"
ASKED = {"text": TEXT, "extractions": [GOOD]}


class Held:
    """Holds every call of a scorer until it is opened."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, _: object) -> None:
        self.entered.set()
        assert self.opened.wait(20)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer another token of the tests"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"authorization": "Bearer"},
        {"x-api-key": ""},
        {"x-api-key": TOKEN[:-1]},
        {"authorization": "Bearer \xff"},
    ],
)
async def test_nobody_is_let_in_without_the_token(headers: dict[str, str]):
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    scorer = WordScorer()
    async with running(scorer, token=TOKEN) as client:
        for path in ("/v1/verify", "/v1/claims", "/beta/litellm_basic_guardrail_api", "/else"):
            answer = await client.post(path, json=ASKED, headers=encoded)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/metrics", "/openapi.json"):
            assert (await client.get(path, headers=encoded)).status_code == 401
        assert (await client.get("/health", headers=encoded)).status_code == 200
    assert scorer.calls == []


@pytest.mark.parametrize(
    "headers", [{"authorization": f"Bearer {TOKEN}"}, {"x-api-key": TOKEN}], ids=["bearer", "key"]
)
async def test_the_token_opens(headers: dict[str, str]):
    async with running(token=TOKEN) as client:
        assert (await client.post("/v1/verify", json=ASKED, headers=headers)).status_code == 200
        assert (await client.get("/metrics", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("host", "token", "refused"),
    [
        ("127.0.0.1", None, False),
        ("::1", None, False),
        ("localhost", None, False),
        (EVERYWHERE, None, True),
        ("::", None, True),
        ("10.0.0.7", None, True),
        ("example.org", None, True),
        (EVERYWHERE, TOKEN, False),
        (EVERYWHERE, "short", True),
        ("127.0.0.1", "", True),
    ],
)
def test_only_loopback_needs_no_token(host: str, token: str | None, refused: bool):
    if refused:
        with pytest.raises(ValueError, match="SAFEPASSAGE_SERVE_TOKEN"):
            check_entrance(host, token)
    else:
        check_entrance(host, token)


async def test_a_body_that_is_too_large_is_refused_whether_or_not_it_says_so():
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(10_000):
            yield b" " * 1_000

    limits = Limits(body_bytes=2_000)
    headers = {"content-type": "application/json"}
    async with running(limits=limits) as client:
        declared = await client.post("/v1/verify", content=b" " * 2_001, headers=headers)
        fits = await client.post("/v1/verify", json=ASKED)
        try:
            streamed = (
                await client.post("/v1/verify", content=endless(), headers=headers)
            ).status_code
        except httpx2.WriteError:  # the connection was closed in the middle of the flood
            streamed = 413
    assert (declared.status_code, streamed, fits.status_code) == (413, 413, 200)


async def test_only_json_is_read():
    async with running() as client:
        answer = await client.post(
            "/v1/verify", content=b"{}", headers={"content-type": "text/plain"}
        )
    assert answer.status_code == 415


async def test_more_callers_than_allowed_are_asked_to_come_back():
    held = Held()
    async with running(WordScorer(before=held), limits=Limits(concurrency=1, queue=0)) as client:
        first = asyncio.create_task(client.post("/v1/verify", json=ASKED))
        assert await asyncio.to_thread(held.entered.wait, 20)
        second = await client.post("/v1/verify", json=ASKED)
        assert (second.status_code, second.headers["retry-after"]) == (503, "1")
        held.opened.set()
        assert (await first).status_code == 200
        assert (await client.post("/v1/verify", json=ASKED)).status_code == 200


async def test_a_burst_waits_for_its_turn():
    async with running(limits=Limits(concurrency=4, queue=200)) as client:
        answers = await asyncio.gather(*(client.post("/v1/verify", json=ASKED) for _ in range(100)))
    assert {answer.status_code for answer in answers} == {200}


async def test_a_question_that_takes_too_long_gets_an_answer_that_says_so():
    held = Held()
    limits = Limits(timeout_seconds=0.2, stalled_seconds=0.01)
    async with running(WordScorer(before=held), limits=limits) as client:
        answer = await client.post("/v1/verify", json=ASKED)
        health = await client.get("/health")
        held.opened.set()
    assert (answer.status_code, answer.json()["error"]) == (504, "timeout")
    assert (health.status_code, health.json()["healthy"]) == (503, False)


async def test_a_body_that_drips_meets_the_time_limit():
    async def drops() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" "
            await asyncio.sleep(0.05)

    headers = {"content-type": "application/json"}
    async with running(limits=Limits(timeout_seconds=0.3)) as client:
        try:
            status = (await client.post("/v1/verify", content=drops(), headers=headers)).status_code
        except (httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):
            status = 504
        assert (await client.post("/v1/verify", json=ASKED)).status_code == 200
    assert status == 504


async def test_whose_caller_has_left_is_not_judged():
    held = Held()
    scorer = WordScorer(before=held)
    async with running(scorer) as client:
        first = asyncio.create_task(client.post("/v1/verify", json=ASKED))
        assert await asyncio.to_thread(held.entered.wait, 20)
        with pytest.raises(httpx2.TimeoutException):
            await client.post("/v1/verify", json=ASKED, timeout=0.3)
        await asyncio.sleep(0.2)
        held.opened.set()
        assert (await first).status_code == 200
        assert (await client.post("/v1/verify", json=ASKED)).status_code == 200
    assert len(scorer.calls) == 2


async def test_at_the_end_requests_at_hand_are_answered_and_nobody_new_is_let_in():
    held = Held()
    stop = asyncio.Event()
    async with running(WordScorer(before=held), stop=stop) as client:
        at_hand = asyncio.create_task(client.post("/v1/verify", json=ASKED))
        assert await asyncio.to_thread(held.entered.wait, 20)
        stop.set()
        for _ in range(100):
            await asyncio.sleep(0.05)
            try:
                async with httpx2.AsyncClient(base_url=client.base_url) as other:
                    await other.get("/health", timeout=1)
            except httpx2.ConnectError:
                break
        else:
            pytest.fail("a new caller was let in")
        held.opened.set()
        assert (await at_hand).status_code == 200

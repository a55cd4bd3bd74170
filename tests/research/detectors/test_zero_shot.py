"""The zero-shot baseline: what its log-probabilities mean, and an endpoint that tells none."""

import asyncio
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from research.detectors.llm.settings import MethodSettings
from research.detectors.ragulator.zero_shot import ZeroShot, out_of_context
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.manifest import ModelError
from tests.recorded_llm.serving import serve

RENT = "The rent was 900 euros."


def _completion(asked: dict) -> dict:
    """Sure of "0" for a sentence about rent, of "1" for another; no log-probabilities of cats."""
    said = asked["messages"][1]["content"].partition("BEGIN SENTENCE")[2]
    grounded = "rent" in said
    likely, other = ("0", "1") if grounded else ("1", "0")
    top = [{"token": likely, "logprob": math.log(0.9)}, {"token": other, "logprob": math.log(0.1)}]
    told = None if "Cats" in said else {"content": [{"token": likely, "top_logprobs": top}]}
    assert asked["logprobs"] is True
    assert "response_format" not in asked
    message = {"role": "assistant", "content": likely}
    usage = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
    choices = [{"message": message, "finish_reason": "stop", "logprobs": told}]
    return {"choices": choices, "usage": usage}


async def _complete(request: Request) -> JSONResponse:
    asked = await request.json()
    if asked["model"] == "unknown":
        return JSONResponse({"error": {"message": "no such model"}}, 404)
    return JSONResponse(_completion(asked))


@contextmanager
def _served() -> Iterator[str]:
    ready, stop = threading.Event(), threading.Event()
    address: list[str] = []

    async def run() -> None:
        app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
        async with serve(app) as url:
            address.append(url)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(60)
    try:
        yield address[0]
    finally:
        stop.set()
        thread.join()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with _served() as url:
        yield url


def _detector(url: str, model: str = "it") -> ZeroShot:
    return ZeroShot(
        MethodSettings(
            openai_base_url=url, openai_api_key="none", model=model, llm_attempts=1,
            llm_first_wait_seconds=0,
        )
    )  # fmt: skip


def test_a_response_is_as_grounded_as_its_worst_sentence(endpoint):
    good, bad = _detector(endpoint).ground(
        [Answer((RENT,), RENT), Answer((RENT,), f"{RENT} Dogs bark.")]
    )
    assert good.score == pytest.approx(0.9, abs=1e-6)
    assert bad.score == pytest.approx(0.1, abs=1e-6)
    assert [claim.score for claim in bad.claims] == pytest.approx([0.9, 0.1], abs=1e-6)


def test_tokens_and_time_of_all_sentences_are_counted(endpoint):
    both, nothing = _detector(endpoint).ground(
        [Answer((RENT,), f"{RENT} Dogs bark."), Answer((), RENT)]
    )
    assert both.usage is not None
    assert (both.usage.input_tokens, both.usage.output_tokens) == (80, 2)
    assert both.usage.milliseconds > 0
    assert nothing.usage is None


def test_what_the_endpoint_tells_nothing_of_is_undetermined_and_loses_no_other(endpoint):
    found = _detector(endpoint).ground(
        [Answer((RENT,), "Cats sleep."), Answer((), RENT), Answer((RENT,), RENT)]
    )
    assert [one.score is None for one in found] == [True, True, False]
    assert found[1].failure == "no_context"


def test_an_endpoint_that_refuses_every_request_is_an_error(endpoint):
    with pytest.raises(ModelError, match="the LLM"):
        _detector(endpoint, "unknown").ground([Answer((RENT,), RENT)])


@given(st.floats(0.001, 0.999))
def test_the_probability_is_the_softmax_over_the_two_digits(share):
    told = {"0": math.log((1 - share) / 2), "1": math.log(share / 2), "yes": math.log(0.5)}
    assert out_of_context(told) == pytest.approx(share)


def test_a_digit_that_is_not_told_is_at_most_as_likely_as_the_least_that_is():
    told = {"1": math.log(0.8), "maybe": math.log(0.2)}
    assert out_of_context(told) == pytest.approx(0.8)
    assert out_of_context({" 0": -0.1, "1": -3.0}) < 0.1
    assert out_of_context({"yes": -0.1}) is None
    assert out_of_context({}) is None

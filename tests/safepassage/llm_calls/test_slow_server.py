"""A slow server is no broken one: its answers are waited for, and no call is lost or paid twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from safepassage.llm_calls.caller import Caller, Question
from safepassage.llm_calls.client import create_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMTimeout, LLMUnavailable
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.schemas import ChatCompletion
from tests.recorded_llm.serving import serve

from .slow_server import SlowServer

QUESTION = Question([{"role": "user", "content": "What is the rent?"}], None)
FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


def _as_it_is(completion: ChatCompletion) -> ChatCompletion:
    return completion


async def _ask(
    server: SlowServer,
    questions: int = 1,
    *,
    patience: float = 1.0,
    attempts: int = 2,
    window: int = 32,
    question: Question = QUESTION,
    **options: Any,
) -> tuple[list[ChatCompletion | BaseException], list[str], AdaptiveLimit]:
    """What came of ``questions`` at once, what was told of them, and the window of calls."""
    told: list[str] = []
    limit = AdaptiveLimit(window, overload=LLMUnavailable)
    caller = Caller(
        model="m",
        timeout=patience,
        retries=RetryPolicy(attempts=attempts, first_wait=0.01),
        options=options,
        told=told.append,
    )
    async with serve(server.app()) as url, create_client(url) as client:
        asked = (caller.ask(client, question, _as_it_is, limit=limit) for _ in range(questions))
        return await asyncio.gather(*asked, return_exceptions=True), told, limit


async def test_an_answer_that_takes_longer_than_the_timeout_is_waited_for_while_it_grows():
    server = SlowServer("a b c d e f g h", tokens_per_second=10)
    (answer,), told, _ = await _ask(server, patience=0.4)
    assert isinstance(answer, ChatCompletion)
    assert answer.content == "a b c d e f g h"
    assert (answer.input_tokens, answer.output_tokens) == (7, 8)
    assert (told, len(server.requests)) == ([], 1)


async def test_one_slot_of_three_tokens_a_second_loses_nothing():
    """Whole-call timeouts of 32 at once lost them all: each was cancelled and began anew."""
    server = SlowServer("two words and more", slots=1, tokens_per_second=3)
    answers, told, _ = await _ask(server, 6, patience=1.0)
    assert [one.content for one in answers if isinstance(one, ChatCompletion)] == [
        server.answer
    ] * 6
    assert server.finished == 6
    assert told
    assert all("asked again in its turn" in one for one in told)


async def test_a_server_that_tells_its_slots_is_never_asked_for_more_at_once():
    server = SlowServer("a b c", slots=2, tokens_per_second=20, tells_slots=True)
    answers, told, limit = await _ask(server, 8)
    assert all(isinstance(one, ChatCompletion) for one in answers)
    assert (server.most_at_once, len(server.requests), told) == (2, 8, [])
    assert limit.window == 2
    assert all(request["return_progress"] is True for request in server.requests)


async def test_a_window_that_a_turn_narrowed_is_not_widened_at_once():
    server = SlowServer("a b c d e f", slots=1, tokens_per_second=4)
    answers, told, limit = await _ask(server, 6, patience=1.0)
    assert all(isinstance(one, ChatCompletion) for one in answers)
    assert limit.window == 1
    assert len(server.requests) == 6 + len(told)


async def test_a_call_that_hangs_beside_others_ends_as_an_error_once_it_had_its_turns():
    server = SlowServer("a b", slots=40, tokens_per_second=20, silent_calls=1)
    (answer, *_), told, _ = await _ask(server, 2, patience=0.2, attempts=1, window=2)
    assert isinstance(answer, ChatCompletion)
    assert len(told) == 1


async def test_a_silent_server_is_an_error_after_the_last_attempt():
    server = SlowServer(slots=9, silent_calls=99)
    (answer,), told, _ = await _ask(server, patience=0.2, attempts=2)
    assert isinstance(answer, LLMTimeout)
    assert str(answer) == "no token in 0.4 s"
    assert [one.partition(" in 0 s")[0] for one in told] == ["no token in 0.2 s; attempt 2 of 2"]


async def test_an_answer_that_stops_growing_is_asked_for_again():
    server = SlowServer("a b c", tokens_per_second=2)
    (answer,), told, _ = await _ask(server, patience=0.45, attempts=2)
    # The first token takes as long as the others, and twice the time is waited for it.
    assert isinstance(answer, LLMTimeout)
    assert len(told) == 1


async def test_each_token_gives_its_watcher_another_deadline():
    """Else a worker whose LLM answers for an hour looks as if it hung, and is restarted."""
    server, watched = SlowServer("a b c d", tokens_per_second=50), []

    @contextmanager
    def within(seconds: float) -> Iterator[None]:
        watched.append(seconds)
        yield

    caller = Caller(model="m", timeout=3.0, retries=RetryPolicy(), within=within)
    limit = AdaptiveLimit(1, overload=LLMUnavailable)
    async with serve(server.app()) as url, create_client(url) as client:
        await caller.ask(client, QUESTION, _as_it_is, limit=limit)
    assert watched == [3.0] * (1 + 4 + 1)  # the call, its tokens, its end


async def test_an_answer_that_breaks_off_is_no_answer():
    server = SlowServer("a b", tokens_per_second=100, breaks_off=True)
    (answer,), _, _ = await _ask(server)
    assert isinstance(answer, LLMUnavailable)
    assert "broke off" in str(answer)


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ("temperature", {"max_tokens": 5}),
        ("max_tokens", {"temperature": 0.0, "max_completion_tokens": 5}),
        ("stream_options", {"temperature": 0.0, "max_tokens": 5}),
        ("response_format", {"temperature": 0.0, "max_tokens": 5}),
    ],
)
async def test_an_option_that_the_endpoint_refuses_is_left_out_from_then_on(refused, left):
    server = SlowServer(tokens_per_second=100, refuses=(refused,))
    question = Question(QUESTION.messages, FORM)
    options = {"temperature": 0.0, "max_tokens": 5}
    answers, told, _ = await _ask(server, 3, window=1, question=question, **options)
    assert all(isinstance(one, ChatCompletion) for one in answers)
    last = server.requests[-1]
    assert refused not in last
    assert left.items() <= last.items()
    assert told == []
    assert sum(refused in request for request in server.requests) <= 2


async def test_no_call_begins_before_the_endpoint_wants_one():
    server = SlowServer(tokens_per_second=100, retry_after=0.5)
    started = time.monotonic()
    answers, told, _ = await _ask(server, 3, window=1)
    assert all(isinstance(one, ChatCompletion) for one in answers)
    assert time.monotonic() - started >= 0.5
    assert len(told) == 1
    assert "answered 429" in told[0]

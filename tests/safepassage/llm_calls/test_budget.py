"""The budget of tokens is counted: between waiting questions, attempts, detectors and graders."""

from __future__ import annotations

import asyncio
import pickle

import httpx2
import pytest
from openai import AsyncOpenAI

from safepassage.llm_calls.budget import CHARACTERS_PER_TOKEN, TokenBudget
from safepassage.llm_calls.caller import Caller, Question, Spent
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import BudgetSpent, LLMUnavailable, Malformed
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.llm_calls.settings import GraderSettings, LLMSettings
from safepassage.schemas import ChatCompletion
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.scorers.llm import LLMGrader
from safepassage.streams.settings import Settings

QUESTION = Question([{"role": "user", "content": "q" * 400}], None)


def ask_many(
    count: int, budget: TokenBudget, tokens: int | None, *, text: str = "yes", attempts: int = 1
) -> tuple[int, list[object]]:
    """How many calls ``count`` questions at once made, one at a time, and what came of them.
    ``tokens`` are what the endpoint says of an answer."""
    calls = 0

    def answer(request: httpx2.Request) -> httpx2.Response:
        nonlocal calls
        calls += request.method == "POST"
        body: dict[str, object] = {"choices": [{"message": {"content": text}}]}
        if tokens is not None:
            body["usage"] = {"prompt_tokens": tokens, "completion_tokens": 0}
        return httpx2.Response(200, json=body)

    def read(completion: ChatCompletion) -> str:
        if completion.content != "yes":
            raise Malformed("not yes")
        return completion.content

    async def run() -> list[object]:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        retries = RetryPolicy(attempts=attempts, first_wait=0, retried=(Malformed,))
        caller = Caller(model="m", timeout=5, retries=retries)
        limit = AdaptiveLimit(1, overload=LLMUnavailable)
        async with AsyncOpenAI(api_key="k", base_url="http://llm/v1", http_client=http) as client:
            asked = (
                caller.ask(client, QUESTION, read, limit=limit, spent=Spent(budget=budget))
                for _ in range(count)
            )
            return list(await asyncio.gather(*asked, return_exceptions=True))

    found = asyncio.run(run())
    return calls, found


def refused(found: list[object]) -> int:
    return sum(isinstance(one, BudgetSpent) for one in found)


def test_questions_that_wait_for_their_turn_are_not_asked_when_the_budget_is_spent() -> None:
    calls, found = ask_many(10, TokenBudget(250), tokens=100)
    assert (calls, refused(found), found.count("yes")) == (3, 7, 3)


def test_without_a_budget_all_are_asked() -> None:
    assert ask_many(4, TokenBudget(None), tokens=100)[0] == 4


def test_attempts_count_too() -> None:
    calls, found = ask_many(1, TokenBudget(250), 100, text="no", attempts=9)
    assert (calls, refused(found)) == (3, 1)


def test_an_endpoint_that_does_not_tell_tokens_is_counted_by_characters() -> None:
    budget = TokenBudget(250)
    calls, _ = ask_many(10, budget, tokens=None)
    assert calls == 3
    assert budget.tokens == 3 * -(-403 // CHARACTERS_PER_TOKEN)


def test_that_it_is_spent_is_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    ask_many(5, TokenBudget(50), tokens=100)
    assert "".join(capfd.readouterr()).count("llm_token_budget_spent") == 1


def test_the_grader_heeds_it() -> None:
    given = GraderSettings(
        openai_base_url="http://127.0.0.1:9/v1", model="recorded", llm_token_budget=0
    )
    [graded] = LLMGrader(given).assess([Pair("A text.", "Claim", "Claim", "Claim")])
    assert (graded.failure, graded.failure_detail) == (
        "scorer_failed",
        "the budget of 0 tokens is spent",
    )


def test_what_is_said_of_an_llm_is_declared_once() -> None:
    """For the extractor, the grader and the detectors alike."""
    own = vars(Settings)["__annotations__"].keys() | GraderSettings.__annotations__.keys()
    assert own & LLMSettings.model_fields.keys() == {"model"}


def test_settings_with_a_count_go_to_another_process():
    """Workers of other processes are started with them."""
    settings = GraderSettings(llm_token_budget=9)
    settings.token_budget.spend(4, 0)
    copied = pickle.loads(pickle.dumps(settings))  # noqa: S301 - our own bytes
    assert copied.token_budget == settings.token_budget
    copied.token_budget.spend(4, 0)
    assert settings.token_budget.tokens == 4

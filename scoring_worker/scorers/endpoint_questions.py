"""Questions of a scorer to an endpoint: all of a batch at once, each with its answer or failure."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from openai import AsyncOpenAI

from safepassage.llm_calls.caller import Spent
from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import (
    LLMError,
    LLMMisconfigured,
    LLMTimeout,
    LLMUnavailable,
    first_of,
)
from safepassage.llm_calls.settings import GraderSettings
from safepassage.schemas import Reason, Usage
from safepassage.scoring_worker.manifest import ModelError

A = TypeVar("A")
Q = TypeVar("Q")

Failure = tuple[Reason, str]
TOO_LONG: Failure = ("scorer_failed", "passage and claim are too long")


class GraderMisconfigured(ModelError):
    """The endpoint refuses every request: the address, the key or the model is wrong."""


def ask_all(
    settings: GraderSettings,
    questions: Sequence[Q],
    ask: Callable[[AsyncOpenAI, AdaptiveLimit, Q], Coroutine[Any, Any, A]],
) -> list[A]:
    """What ``ask`` gives for each question, in order.

    Blocks: it runs an event loop of its own, so the calling thread must not have one.

    Raises:
        GraderMisconfigured: the endpoint refuses every request.
    """

    async def run() -> list[A]:
        most = settings.llm_concurrency
        limit = AdaptiveLimit(most, overload=LLMUnavailable, initial=most)
        async with configured_client(settings) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(ask(client, limit, one)) for one in questions]
            except* GraderMisconfigured as errors:
                raise first_of(errors) from None
        return [task.result() for task in tasks]

    return asyncio.run(run())


async def answered(
    settings: GraderSettings, ask: Callable[[Spent], Awaitable[A]], *, judge: str, named_by: str
) -> tuple[A | Failure, Usage]:
    """What ``ask`` gives, or why it gives nothing; and what all attempts took.

    Raises:
        GraderMisconfigured: no request will ever be answered; ``named_by`` are the settings of the
            ``judge`` to look at.
    """
    spent = Spent(budget=settings.token_budget)
    said: A | Failure
    try:
        said = await ask(spent)
    except LLMMisconfigured as error:
        raise GraderMisconfigured(f"{judge}: {error}; check {named_by}") from None
    except LLMError as error:
        timed_out = isinstance(error, LLMTimeout)
        said = ("scorer_timeout" if timed_out else "scorer_failed", str(error))
    return said, spent.usage()

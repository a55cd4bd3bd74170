"""One question to an LLM, asked until it is answered or cannot be."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import stamina
import structlog
from openai import AsyncOpenAI
from pydantic import ValidationError

from safepassage.schemas import ChatCompletion, Usage

from .api_errors import FormRefused, api_errors
from .budget import TokenBudget
from .concurrency import AdaptiveLimit
from .errors import LLMError, LLMUnavailable, Malformed, Refused, Truncated

log = structlog.get_logger(__name__)

A = TypeVar("A")

Within = Callable[[float], AbstractContextManager[None]]

JITTER = 1.25


def unwatched(_seconds: float) -> AbstractContextManager[None]:
    """For callers that nobody watches over."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """``attempts`` in all, within ``budget`` seconds (None: without end); waits grow, with jitter.

    ``max_wait`` also bounds a Retry-After, so that an endpoint cannot park a worker. ``retried``
    are the errors that may pass.
    """

    attempts: int = 6
    budget: float | None = 300.0
    first_wait: float = 0.5
    max_wait: float = 60.0
    retried: tuple[type[LLMError], ...] = (LLMUnavailable,)

    def wait(self, error: Exception) -> bool | float:
        """Whether to try again, and the seconds to wait where the endpoint named them."""
        if not isinstance(error, self.retried):
            return False
        retry_after = error.retry_after if isinstance(error, LLMUnavailable) else None
        if retry_after is None:
            return True
        # The jitter keeps callers that were told the same from coming back at the same time.
        return min(retry_after, self.max_wait) * random.uniform(1.0, JITTER)

    @property
    def longest_wait(self) -> float:
        """The most seconds between two attempts."""
        return self.max_wait * JITTER + self.first_wait


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the ``response_format`` of type ``json_schema`` for the answer; None for
    an answer in plain words."""

    messages: Sequence[Mapping[str, Any]]
    form: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of an answer, and the tokens it took. ``first_token``: the likeliest first tokens
    with their log-probabilities, where they were asked for."""

    content: str
    input_tokens: int
    output_tokens: int
    first_token: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Spent:
    """Tokens and time of all attempts at one question, failed ones included. Where there is a
    ``budget``, every attempt asks it first and is counted against it."""

    input_tokens: int = 0
    output_tokens: int = 0
    started: float = field(default_factory=time.perf_counter)
    budget: TokenBudget | None = None

    def check(self) -> None:
        """Let another attempt begin.

        Raises:
            BudgetSpent: the budget is spent.
        """
        if self.budget:
            self.budget.check()

    def add(self, question: Question, answer: ChatCompletion) -> None:
        """Count what one answer took."""
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens
        if self.budget:
            asked = sum(len(str(message["content"])) for message in question.messages)
            tokens = answer.input_tokens + answer.output_tokens
            self.budget.spend(tokens, asked + len(answer.text))

    def usage(self) -> Usage:
        """What it took so far."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            milliseconds=(time.perf_counter() - self.started) * 1_000,
        )


class Caller:
    """Calls ``/chat/completions`` under a time limit, a retry policy and a window of calls.

    An endpoint that refuses ``json_schema`` is asked for a ``json_object`` from then on; the
    prompt holds the schema anyway, and every answer is validated.

    Args:
        timeout: seconds of one attempt.
        options: further fields of the request, such as ``temperature``.
        within: entered with the seconds that an attempt, or a pause before the next, may take:
            whoever watches over this process can tell waiting from hanging.
    """

    def __init__(
        self,
        *,
        model: str,
        timeout: float,
        retries: RetryPolicy,
        options: Mapping[str, Any] | None = None,
        within: Within = unwatched,
    ) -> None:
        self._within = within
        self._model = model
        self._timeout = timeout
        self._retries = retries
        self._options = dict(options or {})
        self._enforces_schema = True

    async def ask(
        self,
        client: AsyncOpenAI,
        question: Question,
        read: Callable[[Completion], A],
        *,
        limit: AdaptiveLimit,
        spent: Spent | None = None,
    ) -> A:
        """What ``read`` makes of the answer; an error that it raises counts as the attempt's.

        Raises:
            LLMError: as drawn in `safepassage.llm_calls.errors`.
        """
        counted = spent or Spent()
        with ExitStack() as pause:
            async for attempt in self._attempts():
                pause.close()
                with attempt:
                    async with limit.slot():
                        # Not before the slot: all questions of a run wait there at once.
                        counted.check()
                        body = await self._post_in_a_supported_form(client, question)
                        return read(_completion(body, question, counted))
                pause.enter_context(self._within(self._retries.longest_wait))
        raise AssertionError("the retry loop ends with an answer or an error")

    def _attempts(self) -> AsyncIterator[stamina.Attempt]:
        return stamina.retry_context(
            on=self._retries.wait,
            attempts=self._retries.attempts,
            timeout=self._retries.budget,
            wait_initial=self._retries.first_wait,
            wait_max=self._retries.max_wait,
            wait_jitter=self._retries.first_wait,
        ).__aiter__()

    async def _post_in_a_supported_form(self, client: AsyncOpenAI, question: Question) -> bytes:
        if question.form is None:
            return await self._post(client, question, None)
        if self._enforces_schema:
            try:
                return await self._post(client, question, question.form)
            except FormRefused:
                log.warning("endpoint_refuses_json_schema", model=self._model)
        body = await self._post(client, question, {"type": "json_object"})
        self._enforces_schema = False
        return body

    async def _post(
        self, client: AsyncOpenAI, question: Question, form: Mapping[str, Any] | None
    ) -> bytes:
        create: Any = client.chat.completions.with_raw_response.create
        with self._within(self._timeout), api_errors():
            # The client's own timeout is per read: an endpoint that drips would never meet it.
            async with asyncio.timeout(self._timeout):
                response = await create(
                    model=self._model,
                    messages=question.messages,
                    **({} if form is None else {"response_format": form}),
                    **self._options,
                )
        content: bytes = response.content
        return content


def _completion(body: bytes, question: Question, spent: Spent) -> Completion:
    try:
        answer = ChatCompletion.model_validate_json(body)
    except ValidationError:
        # A proxy's page or half a response: a fault of the way, not of the document.
        raise LLMUnavailable("the endpoint answered something that is no completion") from None
    spent.add(question, answer)
    if answer.declined:
        raise Refused("the model declined to answer")
    if answer.withheld:
        raise Refused("a content filter withheld the answer")
    if answer.broke_off:
        raise Truncated(f"the answer broke off after {answer.output_tokens} tokens")
    if not answer.text:
        raise Malformed("the answer is empty")
    return Completion(
        content=answer.text,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        first_token=answer.first_token,
    )

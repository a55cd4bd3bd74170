"""One question to an LLM, asked until it is answered or cannot be."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import structlog
from openai import AsyncOpenAI

from safepassage.schemas import ChatCompletion, Usage

from .api_errors import OptionRefused, api_errors
from .budget import TokenBudget
from .completion_stream import read_completion
from .concurrency import AdaptiveLimit
from .errors import LLMTimeout, Malformed, Refused, Truncated
from .retrying import Retrying, RetryPolicy, Tries, Within
from .served_slots import served_slots

log = structlog.get_logger(__name__)

A = TypeVar("A")

_MOST_PATIENCE: Final = 4
"""Times the timeout that a question without a first token is waited for, at most."""

_JSON_SCHEMA: Final = "json_schema"
_JSON_OBJECT: Final = {"type": "json_object"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the ``response_format`` of type ``json_schema`` for the answer; None for
    an answer in plain words. ``fields`` are further ones of the request, which are part of the
    question: an endpoint that refuses one is not asked without it."""

    messages: Sequence[Mapping[str, Any]]
    form: Mapping[str, Any] | None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Spent:
    """Tokens and time of all attempts at one question, failed ones included. Where there is a
    ``budget``, every attempt asks it first and is counted against it."""

    input_tokens: int = 0
    output_tokens: int = 0
    started: float = field(default_factory=time.perf_counter)
    budget: TokenBudget | None = None

    def check(self) -> None:
        """Let another attempt begin. Raises `BudgetSpent`."""
        if self.budget:
            self.budget.check()

    def add(self, input_tokens: int, output_tokens: int, characters: int) -> None:
        """Count what one answer took; by its ``characters`` where the endpoint tells no tokens."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        if self.budget:
            self.budget.spend(input_tokens + output_tokens, characters)

    def usage(self) -> Usage:
        """What it took so far."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            milliseconds=(time.perf_counter() - self.started) * 1_000,
        )


class Caller:
    """Calls ``/chat/completions`` under a limit of patience, a retry policy and a window of calls.

    Answers come as streams. An endpoint that refuses ``json_schema`` is asked for a ``json_object``
    from then on; the prompt holds the schema anyway, and every answer is validated. Other options
    that an endpoint refuses are left out likewise.

    A slow endpoint is no broken one: see `Retrying`.

    Args:
        timeout: seconds without a token, after which a call is given up; of an answer in one
            piece, seconds of the call. A question that got no token is waited for twice as long the
            next time, up to four times.
        options: further fields of the request, such as ``temperature``.
        within: as `Retrying` has it; entered for the next token too.
        told: as `Retrying` has it.
    """

    def __init__(
        self,
        *,
        model: str,
        timeout: float,
        retries: RetryPolicy,
        options: Mapping[str, Any] | None = None,
        within: Within = nullcontext,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._retrying = Retrying(
            model=model, timeout=timeout, retries=retries, within=within, told=told
        )
        self._within = within
        self._model = model
        self._timeout = timeout
        self._options = dict(options or {})
        self._refused: set[str] = set()
        self._slots: int | None = None
        self._probed = False

    async def ask(
        self,
        client: AsyncOpenAI,
        question: Question,
        read: Callable[[ChatCompletion], A],
        *,
        limit: AdaptiveLimit,
        spent: Spent | None = None,
    ) -> A:
        """What ``read`` makes of the answer; an error that it raises counts as the attempt's.
        Raises `LLMError`."""
        counted = spent or Spent()
        await self._learn_slots(client, limit)

        async def attempt(tries: Tries) -> A:
            # Not before the slot: all questions of a run wait there at once.
            counted.check()
            answer = await self._answer(client, question, tries, limit)
            return read(_usable(answer, question, counted))

        return await self._retrying.answer(attempt, limit=limit)

    async def _learn_slots(self, client: AsyncOpenAI, limit: AdaptiveLimit) -> None:
        async with limit.before_the_first:
            if not self._probed:
                self._slots = await served_slots(client)
                self._probed = True
        if self._slots:
            limit.bound(self._slots)

    async def _answer(
        self, client: AsyncOpenAI, question: Question, tries: Tries, limit: AdaptiveLimit
    ) -> ChatCompletion:
        while True:
            options = self._accepted_options(question)
            try:
                return await self._post(client, question, options, tries, limit)
            except OptionRefused as refusal:
                refused = next((name for name in refusal.named if name in options), None)
                if refused is None:
                    raise
                if refused == "response_format" and options[refused] != _JSON_OBJECT:
                    refused = _JSON_SCHEMA
                log.warning("endpoint_refuses_option", model=self._model, option=refused)
                self._refused.add(refused)

    def _accepted_options(self, question: Question) -> dict[str, Any]:
        """The fields of the request that the endpoint did not refuse yet."""
        options = {"stream": True, "stream_options": {"include_usage": True}, **self._options}
        if self._slots:
            options["return_progress"] = True
        if question.form is not None:
            options["response_format"] = (
                _JSON_OBJECT if _JSON_SCHEMA in self._refused else question.form
            )
        if "stream" in self._refused:
            options.pop("stream_options")
        if "max_tokens" in self._refused and "max_tokens" in options:
            options["max_completion_tokens"] = options["max_tokens"]
        return {name: given for name, given in options.items() if name not in self._refused}

    async def _post(
        self,
        client: AsyncOpenAI,
        question: Question,
        options: Mapping[str, Any],
        tries: Tries,
        limit: AdaptiveLimit,
    ) -> ChatCompletion:
        create: Any = client.chat.completions.with_streaming_response.create
        request = create(
            model=self._model,
            messages=question.messages,
            extra_body={**options, **question.fields},
            # The client's own limit is per read, and ours has to be met first.
            timeout=2 * _MOST_PATIENCE * self._timeout,
        )
        async with self._patience(tries, limit) as progressed:
            with api_errors():
                async with request as response:
                    return await read_completion(response, progressed)

    @asynccontextmanager
    async def _patience(
        self, tries: Tries, limit: AdaptiveLimit
    ) -> AsyncIterator[Callable[[], None]]:
        """Ends the block when nothing came on for too long; gives what to call when something
        does."""
        seconds = self._timeout * min(2**tries.silent, _MOST_PATIENCE)
        known, heard = limit.progress, 0
        with ExitStack() as watched:
            watched.enter_context(self._within(seconds))
            try:
                async with asyncio.timeout(seconds) as deadline:

                    def progressed() -> None:
                        nonlocal heard
                        heard += 1
                        limit.progress += 1
                        watched.close()
                        watched.enter_context(self._within(self._timeout))
                        deadline.reschedule(asyncio.get_running_loop().time() + self._timeout)

                    yield progressed
            except TimeoutError:
                if heard:
                    raise LLMTimeout(f"no token for {self._timeout:g} s after {heard}") from None
                tries.silent += 1
                raise LLMTimeout(
                    f"no token in {seconds:g} s", passed_over=limit.progress > known
                ) from None


def _usable(answer: ChatCompletion, question: Question, spent: Spent) -> ChatCompletion:
    asked = sum(len(str(message["content"])) for message in question.messages)
    spent.add(answer.input_tokens, answer.output_tokens, asked + len(answer.content))
    if answer.declined:
        raise Refused("the model declined to answer")
    if answer.withheld:
        raise Refused("a content filter withheld the answer")
    if answer.broke_off:
        raise Truncated(
            f"the answer broke off after {answer.output_tokens} tokens; SAFEPASSAGE_LLM_MAX_TOKENS "
            "allows longer ones"
        )
    if not answer.content:
        raise Malformed("the answer is empty")
    return answer

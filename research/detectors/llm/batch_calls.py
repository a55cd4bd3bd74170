"""Asking the LLM for many answers at once: retries, a window of calls, a budget, kept answers.

All of it is `llm_calls`': an attempt, a retry and a window are the same here as for the extractor.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from openai import AsyncOpenAI
from pydantic import BaseModel, ValidationError

from research.detectors.llm.answer_cache import AnswerCache, KeptAnswer, answer_key
from research.detectors.llm.settings import MethodSettings
from safepassage.llm_calls.caller import Caller, Question, Spent
from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import (
    LLMError,
    LLMMisconfigured,
    LLMTimeout,
    LLMUnavailable,
    SchemaMismatch,
    first_of,
)
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import retries_of_judges
from safepassage.schemas import ChatCompletion, Usage
from safepassage.scoring_worker.manifest import ModelError

from .prompting import Prompt

COST_DECIMALS = 12
"""Of US dollars: a millionth of what a token costs at one dollar a million."""

A = TypeVar("A", bound=BaseModel)
S = TypeVar("S")
R = TypeVar("R")


class AskingMisconfigured(ModelError):
    """The endpoint refuses every request: the address, the key or the model is wrong."""


class NoAnswer(Exception):
    """The LLM gave no usable answer. ``code`` is stable and countable."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class Conversation:
    """The questions about one subject, and what they took so far.

    ``usage`` counts what the answers took when they were given, kept ones too: a measurement from
    a file costs nothing, but what it measures did.
    """

    _asking: _Asking
    usage: Usage = field(default_factory=Usage)

    async def ask(self, asked: Prompt[A], *, temperature: float = 0.0, sample: int = 0) -> A:
        """The answer to ``asked``; ``sample`` tells draws of the same question apart. Kept answers
        are not counted against the budget.

        Raises:
            NoAnswer: all attempts failed, or no answer can be had.
            AskingMisconfigured: no request will ever be answered.
        """
        answer, usage = await self._asking.answer(asked, temperature, sample)
        self.usage = added(self.usage, usage)
        return answer


class Asker:
    """Runs coroutines that converse with an LLM. Its ``answers``, kept, live as long as it does."""

    def __init__(self, settings: MethodSettings) -> None:
        self.settings = settings
        self.answers = AnswerCache(settings.llm_answers)
        self._callers: dict[float, Caller] = {}

    def run(
        self,
        judge: Callable[[Conversation, S], Awaitable[R]],
        subjects: Sequence[S],
        on_done: Callable[[int], None] = lambda _done: None,
    ) -> list[tuple[R | NoAnswer, Usage]]:
        """What ``judge`` makes of each subject, or why there is no answer, and what it took.

        ``on_done`` hears after every subject how many are done.

        Blocks: it runs an event loop of its own, so the calling thread must not have one.

        Raises:
            AskingMisconfigured: the endpoint refuses every request.
        """
        return asyncio.run(self._run(judge, subjects, on_done))

    async def _run(
        self,
        judge: Callable[[Conversation, S], Awaitable[R]],
        subjects: Sequence[S],
        on_done: Callable[[int], None],
    ) -> list[tuple[R | NoAnswer, Usage]]:
        settings = self.settings
        limit = AdaptiveLimit(settings.llm_concurrency, overload=LLMUnavailable)
        async with configured_client(settings) as client:
            asking = _Asking(self, client, limit)

            numbers = count(1)

            async def one(subject: S) -> tuple[R | NoAnswer, Usage]:
                conversation = Conversation(asking)
                found: R | NoAnswer
                try:
                    found = await judge(conversation, subject)
                except NoAnswer as failure:
                    found = failure
                on_done(next(numbers))
                return found, conversation.usage

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(subject)) for subject in subjects]
            except* AskingMisconfigured as errors:
                raise first_of(errors) from None
        return [task.result() for task in tasks]

    def caller(self, temperature: float) -> Caller:
        """The caller at a temperature: what it learns of the endpoint serves all questions."""
        if temperature not in self._callers:
            settings = self.settings
            self._callers[temperature] = Caller(
                model=settings.model,
                timeout=settings.llm_timeout_seconds,
                retries=retries_of_judges(settings),
                options={"temperature": temperature, "max_tokens": settings.llm_max_tokens},
            )
        return self._callers[temperature]


@dataclass(frozen=True, slots=True)
class _Asking:
    """One run's client and window of calls."""

    asker: Asker
    client: AsyncOpenAI
    limit: AdaptiveLimit
    locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def answer(self, asked: Prompt[A], temperature: float, sample: int) -> tuple[A, Usage]:
        """The answer, kept or asked for; a question that several ask at once is asked once."""
        model, form = self.asker.settings.model, asked.form
        key = answer_key(model, asked.messages, form, temperature=temperature, sample=sample)
        async with self.locks[key]:
            return await self._answer(key, asked, temperature)

    async def _answer(self, key: str, asked: Prompt[A], temperature: float) -> tuple[A, Usage]:
        asker = self.asker
        kept = asker.answers.get(key)
        if kept is not None:
            with contextlib.suppress(SchemaMismatch):  # somebody edited the file: ask again
                return _read(kept.content, asked), priced(_usage_of(kept), asker.settings)
        if asked.characters > asker.settings.max_prompt_characters:
            raise NoAnswer("prompt_too_long")
        spent = Spent(budget=asker.settings.token_budget)
        question = Question(asked.messages, asked.form)

        def read(completion: ChatCompletion) -> tuple[str, A]:
            return completion.content, _read(completion.content, asked)

        try:
            content, answer = await asker.caller(temperature).ask(
                self.client, question, read, limit=self.limit, spent=spent
            )
        except LLMMisconfigured as error:
            raise AskingMisconfigured(
                f"the LLM: {error}; check OPENAI_BASE_URL, OPENAI_API_KEY and SAFEPASSAGE_MODEL"
            ) from None
        except LLMError as error:
            raise NoAnswer("llm_timeout" if isinstance(error, LLMTimeout) else error.code) from None
        usage = spent.usage()
        usage = usage.model_copy(update={"milliseconds": round(usage.milliseconds, 3)})
        asker.answers.keep(
            KeptAnswer(
                key=key,
                content=content,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                milliseconds=usage.milliseconds,
            )
        )
        return answer, priced(usage, asker.settings)


def added(one: Usage, other: Usage) -> Usage:
    """What both took, one after the other; the cost is known where both costs are."""
    empty = one == Usage()
    known = other.cost_usd is not None and (empty or one.cost_usd is not None)
    cost = (one.cost_usd or 0.0) + (other.cost_usd or 0.0)
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        # Both rounded, so that the order in which answers came changes nothing.
        milliseconds=round(one.milliseconds + other.milliseconds, 3),
        cost_usd=round(cost, COST_DECIMALS) if known else None,
    )


def _read(content: str, asked: Prompt[A]) -> A:
    try:
        return asked.answer.model_validate_json(content)
    except ValidationError:
        raise SchemaMismatch(f"the answer is no {asked.name}") from None


def _usage_of(kept: KeptAnswer) -> Usage:
    return Usage(
        input_tokens=kept.input_tokens,
        output_tokens=kept.output_tokens,
        milliseconds=kept.milliseconds,
    )

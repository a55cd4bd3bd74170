"""One question to the grader's endpoint: attempts, waits, and what cannot be an answer."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import stamina
import structlog
from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI
from pydantic import ValidationError

from schemas import ChatCompletion, Reason, Usage
from scoring_worker.manifest import ModelError

from .llm_prompt import Grade, messages, response_format

_TRANSIENT = frozenset({408, 409, 425, 429})  # and every 5xx
_MISCONFIGURED = frozenset({401, 403, 404, 405})
_LONGEST_WAIT = 60.0

log = structlog.get_logger()


class GraderMisconfigured(ModelError):
    """The endpoint refuses every request: the address, the key or the model is wrong."""


class GradeFailed(Exception):
    """One pair has no grade. The message quotes nothing that the endpoint said."""

    def __init__(self, reason: Reason, detail: str, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.usage = usage or Usage()


class _Passing(GradeFailed):
    """Worth another attempt, after ``retry_after`` seconds where the endpoint said so."""

    def __init__(self, reason: Reason, detail: str, retry_after: float | None = None) -> None:
        super().__init__(reason, detail)
        self.retry_after = retry_after


class _FormRefused(Exception):
    """The endpoint does not know ``response_format`` of type ``json_schema``."""


class Asking:
    """Asks an endpoint under a time limit and a retry policy, and counts what it took.

    Args:
        timeout: seconds of one attempt.
        attempts: in all, for what may pass: 429, 5xx, a lost connection, a malformed answer.
        first_wait: seconds; waits double, with jitter.
    """

    def __init__(self, *, model: str, timeout: float, attempts: int, first_wait: float) -> None:
        self._model = model
        self._timeout = timeout
        self._attempts = attempts
        self._first_wait = first_wait
        self._enforces_schema = True

    async def ask(self, client: AsyncOpenAI, premise: str, hypothesis: str) -> tuple[Grade, Usage]:
        """The grade of one pair, and the tokens of all attempts.

        Raises:
            GradeFailed: there is none after all attempts, or none can be had.
            GraderMisconfigured: no request will ever be answered.
        """
        spent = _Spent()
        try:
            async for attempt in stamina.retry_context(
                on=_wait,
                attempts=self._attempts,
                timeout=None,
                wait_initial=self._first_wait,
                wait_max=_LONGEST_WAIT,
                wait_jitter=self._first_wait,
            ):
                with attempt:
                    return await self._attempt(client, premise, hypothesis, spent), spent.usage()
        except GradeFailed as failure:
            failure.usage = spent.usage()
            raise
        raise AssertionError("the retry loop ends with an answer or an error")

    async def _attempt(
        self, client: AsyncOpenAI, premise: str, hypothesis: str, spent: _Spent
    ) -> Grade:
        if self._enforces_schema:
            try:
                return _grade(await self._post(client, premise, hypothesis), spent)
            except _FormRefused:
                log.warning("endpoint_refuses_json_schema", model=self._model)
                self._enforces_schema = False
        try:
            return _grade(await self._post(client, premise, hypothesis), spent)
        except _FormRefused:
            raise GradeFailed("scorer_failed", "the endpoint refuses the request") from None

    async def _post(self, client: AsyncOpenAI, premise: str, hypothesis: str) -> bytes:
        create: Any = client.chat.completions.with_raw_response.create
        form = response_format() if self._enforces_schema else {"type": "json_object"}
        with _errors():
            # The client's own timeout is per read: an endpoint that drips would never meet it.
            async with asyncio.timeout(self._timeout):
                response = await create(
                    model=self._model,
                    messages=messages(premise, hypothesis),
                    response_format=form,
                )
        content: bytes = response.content
        return content


class _Spent:
    """Tokens and time of all attempts at one pair."""

    def __init__(self) -> None:
        self.input_tokens = 0
        self.output_tokens = 0
        self._started = time.perf_counter()

    def usage(self) -> Usage:
        """What it took so far."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            milliseconds=(time.perf_counter() - self._started) * 1_000,
        )


def _grade(body: bytes, spent: _Spent) -> Grade:
    """The grade in an answer. Only its JSON field ``label`` decides."""
    try:
        answer = ChatCompletion.model_validate_json(body)
    except ValidationError:
        raise _Passing("scorer_failed", "the endpoint answered no completion") from None
    spent.input_tokens += answer.input_tokens
    spent.output_tokens += answer.output_tokens
    if answer.declined or answer.withheld:
        raise GradeFailed("scorer_failed", "the model declined to grade")
    if answer.broke_off:
        raise GradeFailed("scorer_failed", "the grade broke off before its end")
    try:
        return Grade.model_validate_json(answer.text)
    except ValidationError:
        raise _Passing("scorer_failed", "the answer is not a grade") from None


def _wait(error: Exception) -> bool | float:
    """Whether to try again, and the seconds to wait where the endpoint named them."""
    if not isinstance(error, _Passing):
        return False
    if error.retry_after is None:
        return True
    # The jitter keeps callers that were told the same from coming back at the same time.
    return min(error.retry_after, _LONGEST_WAIT) * random.uniform(1.0, 1.25)


@contextmanager
def _errors() -> Iterator[None]:
    """The client's errors as ours: its own quote what the endpoint said, maybe the passage."""
    try:
        yield
    except TimeoutError:
        raise _Passing("scorer_timeout", "the endpoint did not answer in time") from None
    except APIConnectionError as error:
        kind = type(error.__cause__ or error).__name__
        reason: Reason = "scorer_timeout" if "Timeout" in kind else "scorer_failed"
        raise _Passing(reason, f"no answer from the endpoint ({kind})") from None
    except APIStatusError as error:
        raise _of_status(error) from None
    except APIError:
        raise _Passing("scorer_failed", "the endpoint answered no completion") from None


def _of_status(error: APIStatusError) -> Exception:
    status = error.status_code
    if status in _TRANSIENT or status >= 500:
        return _Passing("scorer_failed", f"the endpoint answered {status}", _retry_after(error))
    if status in _MISCONFIGURED:
        return GraderMisconfigured(
            f"the grader's endpoint answers {status}: check OPENAI_BASE_URL, OPENAI_API_KEY and "
            "SAFEPASSAGE_GRADER_MODEL"
        )
    if status in (400, 422) and _names_the_form(error):
        return _FormRefused()
    return GradeFailed("scorer_failed", f"the endpoint answered {status}")


def _names_the_form(error: APIStatusError) -> bool:
    said = f"{error.param} {error.message}".lower()
    return any(word in said for word in ("response_format", "json_schema", "strict", "schema"))


def _retry_after(error: APIStatusError) -> float | None:
    """Seconds of a Retry-After header; a date or nonsense counts as none."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None

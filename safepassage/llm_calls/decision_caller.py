"""One request to a decision model, made until it is answered or cannot be."""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import httpx2
from openai import AsyncOpenAI

from .api_errors import api_errors
from .concurrency import AdaptiveLimit
from .errors import LLMTimeout, LLMUnavailable, SchemaMismatch

A = TypeVar("A")

MAX_WAIT = 60.0
"""Seconds; it bounds a Retry-After too, so that an endpoint cannot park a worker."""


class DecisionCaller:
    """Calls ``/decisions`` or ``/systemone`` under a time limit and a window of calls.

    Args:
        path: the endpoint below the client's address.
        timeout: seconds of one attempt.
        attempts: in all, for what may pass: 429, 5xx, a lost connection, a malformed answer.
        first_wait: seconds; waits double, with jitter.
    """

    def __init__(
        self,
        path: Literal["decisions", "systemone"],
        *,
        timeout: float,
        attempts: int,
        first_wait: float,
    ) -> None:
        self._path = path
        self._timeout = timeout
        self._attempts = attempts
        self._first_wait = first_wait

    async def ask(
        self,
        client: AsyncOpenAI,
        body: Mapping[str, Any],
        read: Callable[[bytes], A],
        *,
        limit: AdaptiveLimit,
    ) -> A:
        """What ``read`` makes of the answer; an error that it raises counts as the attempt's.

        Raises:
            LLMError: as drawn in `safepassage.llm_calls.errors`.
        """
        failures = 0
        while True:
            try:
                async with limit.slot():
                    return read(await self._post(client, body))
            except (LLMUnavailable, SchemaMismatch) as error:
                failures += 1
                if failures >= self._attempts:
                    raise
                told = error.retry_after if isinstance(error, LLMUnavailable) else None
                wait = self._first_wait * 2 ** (failures - 1) if told is None else told
            # The jitter keeps callers that were told the same from coming back at the same time.
            await asyncio.sleep(min(wait, MAX_WAIT) * random.uniform(1.0, 1.25))

    async def _post(self, client: AsyncOpenAI, body: Mapping[str, Any]) -> bytes:
        try:
            # The client's own timeout is per read: an endpoint that drips would never meet it.
            async with asyncio.timeout(self._timeout):
                with api_errors():
                    if self._path == "decisions":
                        return (await client.decisions.with_raw_response.create(**body)).content
                    answer = await client.post("/systemone", cast_to=httpx2.Response, body=body)
                    return answer.content
        except TimeoutError:
            raise LLMTimeout("the endpoint did not answer in time") from None

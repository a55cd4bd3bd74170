"""One request to a decision model, made until it is answered or cannot be."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import httpx2
from openai import AsyncOpenAI

from .api_errors import api_errors
from .caller import Spent
from .concurrency import AdaptiveLimit
from .errors import LLMTimeout
from .retrying import Retrying, RetryPolicy, Tries

A = TypeVar("A")


class DecisionCaller:
    """Calls ``/decisions`` or ``/systemone`` under a time limit and a window of calls.

    Args:
        path: the endpoint below the client's address.
        timeout: seconds of one attempt.
    """

    def __init__(
        self,
        path: Literal["decisions", "systemone"],
        *,
        model: str,
        timeout: float,
        retries: RetryPolicy,
    ) -> None:
        self._path = path
        self._timeout = timeout
        self._retrying = Retrying(model=model, timeout=timeout, retries=retries)

    async def ask(
        self,
        client: AsyncOpenAI,
        body: Mapping[str, Any],
        read: Callable[[bytes], A],
        *,
        limit: AdaptiveLimit,
        spent: Spent,
    ) -> A:
        """What ``read`` makes of the answer; an error that it raises counts as the attempt's. It
        counts what the answer took, on ``spent``.

        Raises:
            LLMError: as drawn in `safepassage.llm_calls.errors`.
        """

        async def attempt(_tries: Tries) -> A:
            spent.check()
            return read(await self._post(client, body))

        return await self._retrying.answer(attempt, limit=limit)

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

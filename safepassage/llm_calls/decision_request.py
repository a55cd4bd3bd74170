"""One request to a decision model."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

import httpx2
from openai import AsyncOpenAI

from .api_errors import api_errors
from .errors import LLMTimeout


async def post_decision(
    client: AsyncOpenAI,
    path: Literal["decisions", "systemone"],
    body: Mapping[str, Any],
    *,
    seconds: float,
) -> bytes:
    """What the endpoint at ``path`` below the client's address answers within ``seconds``.
    Raises `LLMError`."""
    try:
        # The client's own timeout is per read: an endpoint that drips would never meet it.
        async with asyncio.timeout(seconds):
            with api_errors():
                if path == "decisions":
                    return (await client.decisions.with_raw_response.create(**body)).content
                return (await client.post("/systemone", cast_to=httpx2.Response, body=body)).content
    except TimeoutError:
        raise LLMTimeout("the endpoint did not answer in time") from None

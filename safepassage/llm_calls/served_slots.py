"""How many calls a server works on at once, where it tells: llama.cpp does."""

import httpx2
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel, Field, ValidationError

from .errors import LLMError

PROBE_SECONDS = 5.0


class _Properties(BaseModel):
    total_slots: int = Field(ge=1)


async def served_slots(client: AsyncOpenAI) -> int | None:
    """The slots that the server behind ``client`` tells at ``/props``; None for any other."""
    try:
        answer = await client.get(
            str(client.base_url).removesuffix("/").removesuffix("/v1") + "/props",
            cast_to=httpx2.Response,
            options={"timeout": PROBE_SECONDS, "max_retries": 0},
        )
        return _Properties.model_validate_json(answer.content).total_slots
    except (OpenAIError, httpx2.HTTPError, LLMError, ValidationError):
        return None

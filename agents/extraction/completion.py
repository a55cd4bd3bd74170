"""One question to an LLM, asked until it is answered or cannot be."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import stamina
import structlog
from openai import AsyncOpenAI
from pydantic import ValidationError

from schemas import ChatCompletion

from .answers import ExtractionSchema
from .api_errors import FormRefused, api_errors
from .concurrency import AdaptiveLimit
from .errors import LLMUnavailable, Malformed, Refused, Truncated
from .prompt import messages

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """``attempts`` in all, within ``budget`` seconds; waits grow, with jitter.

    ``max_wait`` also bounds a Retry-After, so that an endpoint cannot park a worker.
    """

    attempts: int = 6
    budget: float = 300.0
    first_wait: float = 0.5
    max_wait: float = 60.0

    def wait(self, error: Exception) -> bool | float:
        """Whether to try again, and the seconds to wait where the endpoint named them."""
        if not isinstance(error, LLMUnavailable):
            return False
        if error.retry_after is None:
            return True
        # The jitter keeps callers that were told the same from coming back at the same time.
        return min(error.retry_after, self.max_wait) * random.uniform(1.0, 1.25)


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of an answer, and the tokens it took."""

    content: str
    input_tokens: int
    output_tokens: int


class CompletionCaller:
    """Calls ``/chat/completions`` under a time limit, a retry policy and an adaptive window.

    An endpoint that refuses ``json_schema`` is asked for a ``json_object`` from then on; the
    prompt holds the schema anyway, and every answer is validated.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        schema: ExtractionSchema,
        max_concurrency: int,
        timeout: float,
        retries: RetryPolicy,
        temperature: float | None = None,
    ) -> None:
        self._client = client.with_options(max_retries=0, timeout=timeout)
        self._model = model
        self._schema = schema
        self._timeout = timeout
        self._retries = retries
        self._options = {} if temperature is None else {"temperature": temperature}
        self._enforces_schema = True
        self.limit = AdaptiveLimit(max_concurrency, overload=LLMUnavailable)

    async def complete(self, text: str) -> Completion:
        """The LLM's answer on ``text``.

        Raises:
            ExtractionError: as drawn in `agents.extraction.errors`.
        """
        async for attempt in stamina.retry_context(
            on=self._retries.wait,
            attempts=self._retries.attempts,
            timeout=self._retries.budget,
            wait_initial=self._retries.first_wait,
            wait_max=self._retries.max_wait,
            wait_jitter=self._retries.first_wait,
        ):
            with attempt:
                return await self._attempt(text)
        raise AssertionError("the retry loop ends with an answer or an error")

    async def _attempt(self, text: str) -> Completion:
        async with self.limit.slot():
            return _completion(await self._post_in_a_supported_form(text))

    async def _post_in_a_supported_form(self, text: str) -> bytes:
        if self._enforces_schema:
            try:
                return await self._post(text, self._schema_format())
            except FormRefused:
                log.warning("endpoint_refuses_json_schema", model=self._model)
        body = await self._post(text, {"type": "json_object"})
        self._enforces_schema = False
        return body

    def _schema_format(self) -> dict[str, Any]:
        described = {
            "name": self._schema.name,
            "strict": self._schema.strict,
            "schema": self._schema.json_schema,
        }
        return {"type": "json_schema", "json_schema": described}

    async def _post(self, text: str, response_format: dict[str, Any]) -> bytes:
        create: Any = self._client.chat.completions.with_raw_response.create
        with api_errors():
            # The client's own timeout is per read: an endpoint that drips would never meet it.
            async with asyncio.timeout(self._timeout):
                response = await create(
                    model=self._model,
                    messages=messages(text, self._schema.json_schema),
                    response_format=response_format,
                    **self._options,
                )
        content: bytes = response.content
        return content


def _completion(body: bytes) -> Completion:
    try:
        answer = ChatCompletion.model_validate_json(body)
    except ValidationError:
        # A proxy's page or half a response: a fault of the way, not of the document.
        raise LLMUnavailable("the endpoint answered something that is no completion") from None
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
    )

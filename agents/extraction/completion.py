"""A document's text as a question to the LLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openai import AsyncOpenAI

from safepassage.llm_calls.caller import (
    Caller,
    Completion,
    Question,
    RetryPolicy,
    Within,
    unwatched,
)
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMUnavailable

from .answers import ExtractionSchema
from .prompt import Message, messages


class CompletionCaller:
    """Asks one LLM for extractions of one schema, with an adaptive window of concurrent calls."""

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
        within: Within = unwatched,
    ) -> None:
        self._client = client.with_options(max_retries=0, timeout=timeout)
        self._schema = schema
        options = {} if temperature is None else {"temperature": temperature}
        self._caller = Caller(
            model=model, timeout=timeout, retries=retries, options=options, within=within
        )
        self.limit = AdaptiveLimit(max_concurrency, overload=LLMUnavailable)

    async def complete(self, text: str, then: Sequence[Message] = ()) -> Completion:
        """The LLM's answer on ``text``, or to what comes ``then`` in that conversation.

        Raises:
            LLMError: as drawn in `safepassage.llm_calls.errors`.
        """
        asked = messages(text, self._schema.json_schema, self._schema.examples)
        conversation = [*asked, *then]
        question = Question(conversation, self._schema_format())
        return await self._caller.ask(self._client, question, _as_it_is, limit=self.limit)

    def _schema_format(self) -> dict[str, Any]:
        described = {
            "name": self._schema.name,
            "strict": self._schema.strict,
            "schema": self._schema.json_schema,
        }
        return {"type": "json_schema", "json_schema": described}


def _as_it_is(completion: Completion) -> Completion:
    """Its text is read when all chunks are there: an error in it is not asked about again."""
    return completion

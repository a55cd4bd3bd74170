"""Extraction in one call: a document and a schema in, facts with their quotes out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from safepassage.schemas import Document

from .extraction import Extraction
from .extras import missing_extra

if TYPE_CHECKING:
    from pathlib import Path

    from openai import AsyncOpenAI

    from safepassage.agents.extraction.schema_loading import SchemaLike
    from safepassage.llm_calls.settings import LLMSettings


def extract(
    document: str | Document | Path,
    schema: SchemaLike,
    *,
    model: str | None = None,
    examples: Sequence[Any] = (),
    client: AsyncOpenAI | None = None,
    settings: LLMSettings | None = None,
) -> list[Extraction]:
    """What an LLM finds in ``document``, for `Verifier.verify`: the stream's own extractor, with
    its prompt, its parts of long documents and its retries.

    Args:
        document: a text, what `read` gave, or the path of a file.
        schema: a pydantic model with `Entity` classes inside; entity types; or a mapping from
            entity types to what each is. A model may carry examples:
            ``ConfigDict(json_schema_extra={"examples": [{"document": …, "answer": …}]})``.
        model: as the endpoint calls it; by default SAFEPASSAGE_MODEL.
        examples: further ones, ``{"document": …, "answer": …}``, where ``answer`` is what the LLM
            should give: JSON of the model, or ``{"entities": [{"entity_type", "value",
            "context"}]}`` for entity types.
        client: by default one for OPENAI_BASE_URL and OPENAI_API_KEY.
        settings: of the LLM; by default the environment's.

    Raises:
        SchemaError: ``schema`` cannot be one, or an example is wrong: of another schema, or with a
            context that is not in its document.
        LLMError: the LLM gave no answer, or none that can be read.
        MissingExtra: the extra "llm" has to be installed for it.
    """
    asked = _extract(
        document, schema, model=model, examples=examples, client=client, settings=settings
    )
    # In a notebook a loop runs already.
    with ThreadPoolExecutor(1, thread_name_prefix="extract") as thread:
        return thread.submit(asyncio.run, asked).result()


async def _extract(
    document: str | Document | Path,
    schema: SchemaLike,
    *,
    model: str | None,
    examples: Sequence[Any],
    client: AsyncOpenAI | None,
    settings: LLMSettings | None,
) -> list[Extraction]:
    try:
        from safepassage.agents.extraction.extractor import Extractor  # noqa: PLC0415 - of an extra
        from safepassage.agents.extraction.schema_loading import (  # noqa: PLC0415
            schema_of,
            with_examples,
        )
        from safepassage.llm_calls.client import configured_client  # noqa: PLC0415
        from safepassage.llm_calls.price import configured_price  # noqa: PLC0415
        from safepassage.llm_calls.retrying import RetryPolicy  # noqa: PLC0415
        from safepassage.llm_calls.settings import LLMSettings as Settings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_extra(error, "llm") or error from None
    from .documents import document_of  # noqa: PLC0415

    text = await asyncio.to_thread(document_of, document)
    asked: Any = schema_of(schema)
    if examples:
        asked = with_examples(asked, list(examples))
    said = settings or Settings()
    used = client or configured_client(said)
    extractor = Extractor(
        used,
        model=model or said.model,
        schema=asked,
        max_concurrency=said.llm_concurrency,
        timeout=said.llm_timeout_seconds,
        retries=RetryPolicy(attempts=said.llm_attempts),
        temperature=said.llm_temperature,
        max_tokens=said.llm_max_tokens,
        price=configured_price(said),
    )
    try:
        events = await extractor.extract(text, text.ref())
    finally:
        if client is None:
            await used.close()
    return [Extraction(e.entity_type, e.value, e.context, field=e.field, id=e.id) for e in events]

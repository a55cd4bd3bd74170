"""From a document to what an LLM says is in it."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import structlog
from openai import AsyncOpenAI

from safepassage.llm_calls.caller import Caller, Question
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMError, LLMUnavailable
from safepassage.llm_calls.price import Price
from safepassage.llm_calls.retrying import RetryPolicy, Within
from safepassage.schemas import (
    ChatCompletion,
    Document,
    DocumentRef,
    Extraction,
    ExtractionManifest,
    ExtractorTrail,
    Usage,
    extraction_id,
    stable_id,
)
from safepassage.schemas.extraction import among_one_another
from safepassage.schemas.rivals import with_rivals

from .answers import Answer, ExtractionSchema, Finding, read_answer, schema_digest
from .asking_again import CORRECTION, correction, mended, sifted
from .cache import CachedAnswer, CacheKey, ExtractionCache
from .chunking import Chunk, merge, split_document
from .notation import enforced
from .prompt import Message, messages, prompt_digest


class DocumentTooLong(LLMError):
    """The document is longer than the extractor was set up to take."""

    code = "document_too_long"


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Extracted:
    """All that one document led to.

    ``skipped`` counts by reason what the LLM gave that is no extraction (see `Answer`).
    ``spent`` is what was asked now; None where an answer of before was at hand.
    ``unfilled`` names the fields that the schema requires and nothing filled.
    The usage in ``trail`` is of the whole document, and the same on each of its extractions.
    """

    document: DocumentRef
    extractions: list[Extraction]
    trail: ExtractorTrail
    skipped: Counter[str] = field(default_factory=Counter)
    unfilled: tuple[str, ...] = ()
    spent: Usage | None = field(default=None, compare=False)

    def manifest(self) -> ExtractionManifest:
        """What the report role has to wait for."""
        return ExtractionManifest(
            document=self.document,
            extraction_ids=tuple(extraction.id for extraction in self.extractions),
            extractor=self.trail,
            skipped=dict(self.skipped),
            unfilled=self.unfilled,
            from_cache=self.spent is None,
        )


class Extractor:
    """Asks an LLM for the entities of documents.

    A document succeeds or fails as a whole: a part that got no answer would look like a part
    without findings.

    Args:
        client: from `create_client`, which bounds what it reads. Its own retries are off here.
        model: as the endpoint calls it; it is part of every trail.
        schema: from `load_schema`.
        chunk_characters: longer documents are asked about in parts of at most this length.
        overlap_characters: what neighbouring parts share: the longest quote that is never cut.
        max_document_characters: longer documents are refused.
        max_concurrency: the widest that the adaptive window of calls may become.
        timeout: seconds without a token, after which an attempt is given up.
        retries: for 429, 5xx, timeouts and lost connections.
        temperature: left out of the request unless given, or where the model refuses it.
        max_tokens: the longest answer, likewise.
        price: for the cost in the trail.
        cache: answers of earlier deliveries of the same text.
        within: told how long each token may take (see `Caller`).
        told: hears of each call that is made again.
        ask_again_below: tau; an LLM whose quotes align with a part of the document below it is
            asked about these once more (see `asking_again`). None: it is not.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        schema: ExtractionSchema,
        chunk_characters: int = 24_000,
        overlap_characters: int = 1_500,
        max_document_characters: int = 2_000_000,
        max_concurrency: int = 16,
        timeout: float = 120.0,
        retries: RetryPolicy | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        price: Price | None = None,
        cache: ExtractionCache | None = None,
        within: Within = nullcontext,
        told: Callable[[str], None] | None = None,
        ask_again_below: float | None = None,
    ) -> None:
        self._schema = schema
        self._ask_again_below = ask_again_below
        self._again: tuple[str, ...] = ()
        further: tuple[str, ...] = ()
        if ask_again_below is not None:
            self._again, further = (f"again {ask_again_below!r}",), (CORRECTION,)
        self._sizes = (chunk_characters, overlap_characters)
        self._max_characters = max_document_characters
        self._price = price
        self._cache = cache
        # A digest: an address may hold a secret, and Redis is no place for one.
        self._endpoint = stable_id("endpoint", str(client.base_url))
        self._temperature = temperature
        self._trail = ExtractorTrail(
            model=model,
            prompt_digest=prompt_digest(schema.json_schema, *further, examples=schema.examples),
            schema_digest=schema_digest(schema),
        )
        self._client = client.with_options(max_retries=0)
        given = {"temperature": temperature, "max_tokens": max_tokens}
        self._caller = Caller(
            model=model,
            timeout=timeout,
            retries=retries or RetryPolicy(),
            options={name: value for name, value in given.items() if value is not None},
            within=within,
            told=told,
        )
        self.limit = AdaptiveLimit(max_concurrency, overload=LLMUnavailable)

    @property
    def trail(self) -> ExtractorTrail:
        """Who extracts here, without a usage."""
        return self._trail

    async def extract(self, document: Document, ref: DocumentRef) -> list[Extraction]:
        """The extractions of `examine`."""
        return (await self.examine(document, ref)).extractions

    async def examine(
        self, document: Document, ref: DocumentRef, *, anew: bool = False
    ) -> Extracted:
        """Everything the LLM found in ``document``, each finding once, in reading order. ``anew``
        asks again where the same text was answered before; the same record delivered again gets
        that answer. Raises `LLMError`."""
        if len(document.text) > self._max_characters:
            raise DocumentTooLong(f"more than {self._max_characters} characters")
        answered, spent = await self._answered(document.text, ref, anew)
        trail = self._trail.model_copy(update={"usage": answered.usage})
        answer = answered.answer
        found = [_extraction(finding, ref, trail) for finding in answer.findings]
        extractions = with_rivals(among_one_another(found))
        log.info(
            "extracted", doc_id=ref.id, extractions=len(extractions), skipped=dict(answer.skipped)
        )
        unfilled = self._schema.unfilled(answer.findings)
        return Extracted(ref, extractions, trail, answer.skipped, unfilled, spent)

    async def _answered(
        self, text: str, ref: DocumentRef, anew: bool
    ) -> tuple[CachedAnswer, Usage | None]:
        key = self._cache_key(ref)
        if anew:
            key = key.model_copy(update={"record": str(ref.coordinates)})
        cached = await self._cache.get(key) if self._cache else None
        if cached:
            return cached, None
        answer, usage = await self._ask(text)
        fresh = CachedAnswer.of(key, answer, usage)
        return await self._cache.keep(fresh, ref.id) if self._cache else fresh, usage

    def _cache_key(self, ref: DocumentRef) -> CacheKey:
        return CacheKey(
            document_digest=ref.digest,
            model=self._trail.model,
            prompt_digest=self._trail.prompt_digest,
            schema_digest=self._trail.schema_digest,
            chunking="/".join(map(str, self._sizes + self._again)),
            endpoint=self._endpoint,
            temperature="" if self._temperature is None else repr(self._temperature),
        )

    async def _ask(self, text: str) -> tuple[Answer, Usage]:
        started = time.monotonic()
        chunks = list(split_document(text, *self._sizes)) if text.strip() else []
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask_about(chunk)) for chunk in chunks]
        except ExceptionGroup as errors:
            raise _telling(errors) from None
        answers = [task.result() for task in tasks]
        usage = self._usage([each for _, completions in answers for each in completions], started)
        return merge(chunks, [answer for answer, _ in answers]), usage

    async def complete(self, text: str, then: Sequence[Message] = ()) -> ChatCompletion:
        """The LLM's answer on ``text``, or to what comes ``then`` in that conversation. Raises
        `LLMError`."""
        asked = messages(text, self._schema.json_schema, self._schema.examples)
        question = Question([*asked, *then], self._schema_format())
        # Its text is read when all chunks are there: an error in it is not asked about again.
        return await self._caller.ask(self._client, question, lambda it: it, limit=self.limit)

    def _schema_format(self) -> dict[str, Any]:
        described = {
            "name": self._schema.name,
            "strict": self._schema.strict,
            "schema": enforced(self._schema.json_schema),
        }
        return {"type": "json_schema", "json_schema": described}

    async def _ask_about(self, chunk: Chunk) -> tuple[Answer, list[ChatCompletion]]:
        completion = await self.complete(chunk.text)
        answer = read_answer(self._schema, completion.content)
        if self._ask_again_below is None:
            return answer, [completion]
        tau = self._ask_again_below
        _, wrong = await asyncio.to_thread(sifted, chunk.text, answer.findings, tau)
        if not wrong:
            return answer, [completion]
        try:
            then = correction(completion.content, wrong)
            second = await self.complete(chunk.text, then)
            offered = read_answer(self._schema, second.content).findings
        except LLMError as error:
            # The first answer is kept; what is wrong with it will be stopped as ever.
            log.warning("not_asked_again", error=error.code)
            return answer, [completion]
        standing, _ = await asyncio.to_thread(sifted, chunk.text, offered, tau)
        return mended(answer, wrong, standing), [completion, second]

    def _usage(self, completions: Sequence[ChatCompletion], started: float) -> Usage:
        tokens_in = sum(completion.input_tokens for completion in completions)
        tokens_out = sum(completion.output_tokens for completion in completions)
        return Usage(
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_usd=self._price.of(tokens_in, tokens_out) if self._price else None,
            milliseconds=(time.monotonic() - started) * 1000,
        )


def _extraction(finding: Finding, ref: DocumentRef, trail: ExtractorTrail) -> Extraction:
    return Extraction(
        id=extraction_id(ref, finding.entity_type, finding.value, finding.context, finding.place),
        doc_id=ref.id,
        entity_type=finding.entity_type,
        value=finding.value,
        context=finding.context,
        document=ref,
        extractor=trail,
        field=finding.schema_field,
        attempt=finding.attempt,
    )


def _telling(errors: ExceptionGroup[Exception]) -> Exception:
    """The one error that says most: a defect of ours, else one that no retry would mend."""
    unknown = [error for error in errors.exceptions if not isinstance(error, LLMError)]
    if unknown:
        return errors
    return min(errors.exceptions, key=lambda error: getattr(error, "retryable", False))

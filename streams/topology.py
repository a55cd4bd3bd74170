"""The whole flow, in one file.

::

    documents ─▶ extract ─▶ extractions ─▶ align ─▶ alignments ─▶ score ─▶ accepted
    responses ─▶ extract ─▶ claims ──────▶ align                    │
                                            │ not found             │
                                            └──────────────────────▶└────▶ quarantine
    extract ─▶ manifests ─┐
    accepted, quarantine ─┴▶ report ─▶ reports        anything unreadable ─▶ dead-letters
    extract ─▶ versions ──┐ (a new version that asks for no LLM)
    accepted, quarantine ─┴▶ realign ─▶ extractions, manifests, realignments

Each function below makes one role: the topics it reads, and a step from a batch of events to
the events they lead to. What happens around a step (decoding, publishing, dead letters,
commits) is `safepassage.streams.delivery`'s; what happens inside is the `agents`' and the
`scoring_worker`'s.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from safepassage.agents.aligner import Aligner
from safepassage.agents.claims import (
    ground_claims,
    sentences_so_far,
    sentences_without_claim,
    split_claims,
)
from safepassage.agents.document_store import DocumentMismatch, DocumentMissing, DocumentStore
from safepassage.llm_calls.errors import LLMError
from safepassage.schemas import (
    AlignedExtraction,
    Assessment,
    Claim,
    Document,
    DocumentRef,
    DocumentVersion,
    Extraction,
    ExtractionManifest,
    Reason,
    Response,
    Usage,
    Verdict,
    undetermined,
)

from .delivery.record_outcomes import Failed, Outcome, Role
from .kafka.records import Outgoing, Received
from .runtime import metrics
from .topics import (
    ACCEPTED,
    ALIGNMENTS,
    CLAIMS,
    EXTRACTIONS,
    MANIFESTS,
    QUARANTINE,
    READ_BY,
    VERSIONS,
)

if TYPE_CHECKING:
    from safepassage.agents.extraction.extractor import Extracted, Extractor
    from safepassage.scoring_worker import Pair

Assess = Callable[[Sequence["Pair"]], Awaitable[Sequence[Assessment]]]

ALIGN_BATCH = 256
ALIGN_LANES = 2


def extract_role(
    extractor: Extractor, store: DocumentStore, *, max_characters: int, lanes: int
) -> Role:
    """``documents`` to ``extractions`` and a manifest, or to ``versions`` where no LLM is to be
    asked; ``responses`` to ``claims``, and a manifest once the answer is complete."""

    async def on_document(received: Received[Document]) -> Outcome:
        document = received.event
        ref = document.ref(received.record.coordinates)
        if refusal := _refuse_text(document.text, max_characters):
            return refusal
        await store.put(ref, document.text)
        if document.realign:
            return [Outgoing(VERSIONS, ref.id, DocumentVersion(document=ref))]
        try:
            extracted = await extractor.examine(document, ref, anew=received.record.anew)
        except LLMError as error:
            return Failed(error.code, str(error), fault=error.retryable)
        _count_llm(extracted)
        return [
            *(Outgoing(EXTRACTIONS, ref.id, extraction) for extraction in extracted.extractions),
            Outgoing(MANIFESTS, ref.id, extracted.manifest()),
        ]

    async def on_response(received: Received[Response]) -> Outcome:
        response = received.event
        ref = response.ref(received.record.coordinates)
        if refusal := _refuse_text(response.text, max_characters):
            return refusal
        await store.put(ref, response.text)
        claims = await asyncio.to_thread(split_claims, response, ref)
        outgoing = [Outgoing(CLAIMS, ref.id, claim) for claim in claims]
        if not response.complete:
            return outgoing
        every = await asyncio.to_thread(sentences_so_far, response, ref)
        idle = await asyncio.to_thread(sentences_without_claim, response)
        manifest = ExtractionManifest(
            document=ref,
            extraction_ids=tuple([c.id for c in every]),
            skipped={"no_claim": idle} if idle else {},
        )
        return [*outgoing, Outgoing(MANIFESTS, ref.id, manifest)]

    async def step(batch: Sequence[Received[Any]]) -> list[Outcome]:
        return [
            await (on_document(r) if isinstance(r.event, Document) else on_response(r))
            for r in batch
        ]

    return Role("extract", "extract", READ_BY["extract"], step, lanes=lanes)


def _count_llm(extracted: Extracted) -> None:
    spent = extracted.spent
    metrics.CACHE.labels("extractions", "miss" if spent else "hit").inc()
    if spent:
        _count_usage("extract", spent)


def _count_scorers_llm(made: Sequence[Verdict]) -> None:
    """What scorers such as `llm` and `cascade` asked an LLM for."""
    for verdict in made:
        for trail in verdict.scorers:
            if trail.usage:
                _count_usage("score", trail.usage)


def _count_usage(role: str, spent: Usage) -> None:
    metrics.LLM_TOKENS.labels(role, "input").inc(spent.input_tokens)
    metrics.LLM_TOKENS.labels(role, "output").inc(spent.output_tokens)
    metrics.LLM_SECONDS.labels(role).observe(spent.milliseconds / 1000)
    metrics.LLM_COST.labels(role).inc(spent.cost_usd or 0)


Settle = Callable[[Verdict], Verdict]
"""A judgement to what is published of it: a person may have decided the case before."""


def as_judged(verdict: Verdict) -> Verdict:
    """Publish what was judged: nobody decided anything, as in a replay."""
    return verdict


def align_role(aligner: Aligner, store: DocumentStore, *, settle: Settle = as_judged) -> Role:
    """``extractions`` and ``claims`` to ``alignments``; what is not found to ``quarantine``, or
    where a person's decision puts it (``settle``)."""

    def publish(result: AlignedExtraction | Verdict) -> list[Outgoing]:
        if isinstance(result, Verdict):
            return [route(settle(result))]
        return [Outgoing(ALIGNMENTS, result.extraction.doc_id, result)]

    async def align_document(
        ref: DocumentRef, events: Sequence[Extraction | Claim]
    ) -> list[AlignedExtraction | Verdict]:
        try:
            text = await store.get(ref)
        except (DocumentMissing, DocumentMismatch) as error:
            return [_without_text(event, error, ref) for event in events]
        extractions = [event for event in events if isinstance(event, Extraction)]
        aligned = iter(await aligner.align(text, ref, extractions))
        claims = [event for event in events if isinstance(event, Claim)]
        grounded = iter(await asyncio.to_thread(ground_claims, claims, text) if claims else ())
        return [next(aligned if isinstance(e, Extraction) else grounded) for e in events]

    async def step(batch: Sequence[Received[Extraction | Claim]]) -> list[Outcome]:
        # The extractions of a document are aligned together, in any order.
        outcomes: dict[int, Outcome] = {}
        # A document that was submitted twice is two: each alignment names its own record.
        by_document: dict[DocumentRef, list[int]] = defaultdict(list)
        for position, received in enumerate(batch):
            if ref := received.event.document:
                by_document[ref].append(position)
            else:
                outcomes[position] = publish(_without_reference(received.event))
        for ref, positions in by_document.items():
            events = [batch[position].event for position in positions]
            for position, result in zip(positions, await align_document(ref, events), strict=True):
                outcomes[position] = publish(result)
        return [outcomes[position] for position in range(len(batch))]

    return Role("align", "align", READ_BY["align"], step, lanes=ALIGN_LANES, batch=ALIGN_BATCH)


def score_role(
    assess: Assess,
    *,
    batch: int,
    observe: Callable[[Sequence[AlignedExtraction]], None] = lambda _: None,
    settle: Settle = as_judged,
) -> Role:
    """``alignments`` to ``accepted`` or ``quarantine``; ``observe`` is told of what was scored.

    ``observe`` neither waits nor raises: it hands over to what judges beside, for `shadow`.
    """
    # torch: seconds, and only this role's
    from safepassage.scoring_worker.weighing.judged_batch import pairs_of, verdicts  # noqa: PLC0415

    async def step(received: Sequence[Received[AlignedExtraction]]) -> list[Outcome]:
        aligned = [entry.event for entry in received]
        assessments = await assess(pairs_of(aligned))
        observe(aligned)
        made = verdicts(aligned, assessments)
        _count_scorers_llm(made)
        return [[route(settle(verdict))] for verdict in made]

    return Role("score", "score", READ_BY["score"], step, batch=batch)


def route(verdict: Verdict) -> Outgoing:
    """Accepted verdicts go to ``accepted``, all others to ``quarantine``."""
    topic = ACCEPTED if verdict.decision == "accepted" else QUARANTINE
    return Outgoing(topic, verdict.doc_id, verdict)


def _refuse_text(text: str, max_characters: int) -> Failed | None:
    if not text.strip():
        return Failed("EmptyDocument", "the text is empty", fault=False)
    if len(text) > max_characters:
        detail = f"{len(text)} characters, more than SAFEPASSAGE_MAX_DOCUMENT_CHARACTERS"
        return Failed("DocumentTooLong", f"{detail} = {max_characters}", fault=False)
    return None


def _without_text(
    event: Extraction | Claim, error: DocumentMissing | DocumentMismatch, ref: DocumentRef
) -> Verdict:
    mismatch = isinstance(error, DocumentMismatch)
    reason: Reason = "document_mismatch" if mismatch else "document_missing"
    extraction = event if isinstance(event, Extraction) else event.extraction("")
    return undetermined(extraction, reason, ref, str(error))


def _without_reference(event: Extraction | Claim) -> Verdict:
    extraction = event if isinstance(event, Extraction) else event.extraction("")
    return undetermined(extraction, "document_missing", None, "the event names no document")

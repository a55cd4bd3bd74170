"""Verdicts for the console's tests: plain ones, hostile ones, and those of the bundled corpus."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.aligner import Aligner
from schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Coordinates,
    Document,
    Extraction,
    ExtractorTrail,
    Finding,
    Review,
    ScorerTrail,
    Span,
    Verdict,
    judge,
    stable_id,
)
from streams.demo import corpus

THRESHOLD = 0.5
MODELS = ("gpt-4.1-mini", "llama-3.3-70b", "mistral-small-3")
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> "
    "\u202egnp.exe\u202c \x07\x1b[31m {{ 7*7 }}"
)


def verdict(number: int, *, score: float | None = 0.4, **changes: Any) -> Verdict:
    """Verdict ``number``: quarantined below the threshold, accepted from it on. ``changes`` may
    be fields of the extraction (``entity_type``, ``value``, ``context``, ``model``, ``doc_id``)
    or ``text``, the document; without a ``score`` it is undetermined."""
    text = changes.get(
        "text", f"On the day {number} the panel sat. The judge was Ann Lee {number}."
    )
    context = changes.get("context", text[:40])
    document = Document(id=changes.get("doc_id", f"doc-{number}"), text=text)
    ref = document.ref(Coordinates(topic="documents", partition=0, offset=number))
    model = changes.get("model", MODELS[number % 3])
    extraction = Extraction(
        id=changes.get("extraction_id", f"extraction-{number}"),
        doc_id=document.id,
        entity_type=changes.get("entity_type", ("Judge", "Hearing Date")[number % 2]),
        value=changes.get("value", f"Ann Lee {number}"),
        context=context,
        document=ref,
        extractor=ExtractorTrail(
            model=model, prompt_digest=f"prompt-of-{model}", schema_digest="s"
        ),
    )
    passage = changes.get("passage", text[: len(context)])
    alignment = Alignment(
        score=1.0,
        matches=len(passage),
        length=len(passage),
        unaligned=0,
        threshold=0.6,
        spans=(Span(start=0, end=len(passage), text=passage),),
        occurrences=1,
        route="verbatim",
    )
    aligned = AlignedExtraction(extraction=extraction, document=ref, alignment=alignment)
    return judge(aligned, _assessment(score, changes.get("revision", "scorer-1")))


def review(
    of: Verdict,
    decision: str = "supports",
    *,
    by: str = "Ana",
    minute: int = 0,
    value: object = None,
    supersedes: str | None = None,
    seconds: float = 12,
) -> Review:
    """A review made ``minute`` minutes after nine."""
    at = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(minutes=minute)
    return Review.model_validate(
        {
            "id": stable_id("review", of.id, by, decision, str(minute)),
            "verdict": of,
            "decision": decision,
            "value": value,
            "reviewer": by,
            "decided_at": at,
            "seconds": seconds,
            "sampled": of.decision == "accepted",
            "supersedes": supersedes,
        }
    )


def of_the_corpus(documents: Sequence[Document], places: Iterable[Coordinates]) -> list[Verdict]:
    """The bundled extractions, really aligned, with scores drawn around what the labels say."""
    draw = random.Random(7)
    refs = {d.id: d.ref(place) for d, place in zip(documents, places, strict=True)}
    texts = {d.id: d.text for d in documents}
    aligner = Aligner()
    verdicts: list[Verdict] = []
    for row in corpus.extractions():
        model = draw.choice(MODELS)
        trail = ExtractorTrail(
            model=model,
            prompt_digest=stable_id("prompt", model),
            schema_digest=stable_id("schema", "demo"),
        )
        fields = row.model_dump(exclude={"label", "kind", "why", "document", "extractor"})
        extraction = Extraction(**fields, document=refs[row.doc_id], extractor=trail)
        aligned = asyncio.run(aligner.align(texts[row.doc_id], refs[row.doc_id], [extraction]))[0]
        if isinstance(aligned, Verdict):
            verdicts.append(aligned)
            continue
        score = min(0.99, max(0.01, draw.gauss(0.8 if row.label else 0.3, 0.2)))
        verdicts.append(judge(aligned, _assessment(score, "minilm-2f6a")))
    aligner.close()
    return verdicts


def _assessment(score: float | None, revision: str) -> Assessment:
    if score is None:
        return Assessment(scorer="default", revision=revision, failure="scorer_failed")
    below = score < THRESHOLD
    return Assessment(
        scorer="default",
        revision=revision,
        score=score,
        threshold=THRESHOLD,
        findings=(Finding(code="value_differs", detail="the passage says otherwise"),) * below,
        trail=(ScorerTrail(scorer="default", revision=revision, score=score, threshold=THRESHOLD),),
    )

"""Verdicts for the console's tests: plain ones and hostile ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Conflict,
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


def conflicting(*values: str) -> list[Verdict]:
    """Verdicts on one document for a field with room for one value, each in conflict with all
    the others."""
    alone = [
        verdict(n, score=0.9, value=value, doc_id="doc", extraction_id=f"rival-{n}", text="a text")
        for n, value in enumerate(values)
    ]
    named = [Conflict(extraction_id=v.extraction_id, value=v.value) for v in alone]
    return [
        v.model_copy(
            update={
                "id": stable_id("conflicting", str(n)),
                "decision": "quarantined",
                "reasons": ("conflicting",),
                "conflicts": tuple(c for c in named if c.extraction_id != v.extraction_id),
                "document": alone[0].document,
            }
        )
        for n, v in enumerate(alone)
    ]


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

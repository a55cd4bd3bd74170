"""Gives the evaluation what it may not import: the aligner and the splitter of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agents.aligner import Aligner
from agents.claims import PassageIndex, ground_claim, split_claims
from schemas import (
    AlignedExtraction,
    Claim,
    Document,
    DocumentRef,
    Extraction,
    Response,
    Verdict,
    claim_id,
)

Results = Sequence[AlignedExtraction | Verdict]


def align_with(aligner: Aligner, document: Document, extractions: Sequence[Extraction]) -> Results:
    """The pipeline's alignment of ``extractions``, for a caller without an event loop."""
    return asyncio.run(aligner.align(document.text, document.ref(), extractions))


def ground(response: Response, whole: bool) -> Results:
    """The passage of each sentence of an answer, or of the answer as one claim (``whole``)."""
    ref = response.ref()
    claims = _one_claim(response, ref) if whole else split_claims(response, ref)
    passages = PassageIndex(response.text)
    return [ground_claim(claim, passages) for claim in claims]


def _one_claim(response: Response, ref: DocumentRef) -> list[Claim]:
    text = response.response
    if not text.strip():
        return []
    return [
        Claim(
            id=claim_id(ref, 0, text),
            response_id=response.id,
            ordinal=0,
            start=0,
            end=len(text),
            text=text,
            document=ref,
        )
    ]

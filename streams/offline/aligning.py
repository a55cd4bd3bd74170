"""Gives the evaluation what it may not import: the aligner and the splitter of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agents.aligner import Aligner
from agents.claims import ground_claims, split_claims, whole_claim
from schemas import (
    AlignedExtraction,
    Document,
    Extraction,
    Response,
    Verdict,
)

Results = Sequence[AlignedExtraction | Verdict]


def align_with(aligner: Aligner, document: Document, extractions: Sequence[Extraction]) -> Results:
    """The pipeline's alignment of ``extractions``, for a caller without an event loop."""
    return asyncio.run(aligner.align(document.text, document.ref(), extractions))


def ground(response: Response, whole: bool) -> Results:
    """The passage of each sentence of an answer, or of the answer as one claim (``whole``)."""
    ref = response.ref()
    claims = whole_claim(response, ref) if whole else split_claims(response, ref)
    return ground_claims(claims, response.text)

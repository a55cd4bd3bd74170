"""Free-text answers: into sentences, and each sentence to the text that may bear it out.

A quote is not at hand here, so the passage is retrieved: the sentences of the retrieved text
that together cover the claim best, wherever they stand. One passage that supports a claim is
enough; that others do not is no objection to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from passages.retrieval import Retrieved, Retriever
from passages.sentences import sentences
from schemas import (
    AlignedExtraction,
    AlignedRival,
    Alignment,
    Claim,
    DocumentRef,
    Response,
    Rival,
    Span,
    Verdict,
    claim_id,
    reject,
    render_value,
)
from schemas.claim import PASSAGE_SEPARATOR
from schemas.evidence import ConsultedPassage
from schemas.extraction import MAX_RIVALS

from .alignment import ALIGNER_VERSION
from .negation import denials
from .surroundings import DocumentLayout, with_surroundings


def split_claims(response: Response, ref: DocumentRef) -> list[Claim]:
    """The sentences that ``response`` brings, each with its place: ``response[start:end] == text``.

    ``ref`` names the retrieved text. What has neither a letter nor a digit is no sentence. A
    sentence that denies earlier ones has these as its rivals. Of a part of an answer, the
    sentences that no earlier part had to its end. So whatever follows, and in whatever parts it
    comes, each sentence is brought once, with the same id and the same rivals.
    """
    claims = sentences_so_far(response, ref)
    if response.part:
        earlier = response.response[: response.part.since]
        return claims[sum(1 for _ in sentences(earlier, complete=False)) :]
    return claims


def sentences_so_far(response: Response, ref: DocumentRef) -> list[Claim]:
    """`split_claims` of this part of an answer and of all before it: where it is the last one,
    all sentences of the answer."""
    claims = [
        Claim(
            id=claim_id(ref, ordinal, response.response[start:end]),
            response_id=response.id,
            ordinal=ordinal,
            start=start,
            end=end,
            text=response.response[start:end],
            document=ref,
            passages=response.passage_starts,
        )
        for ordinal, (start, end) in enumerate(
            sentences(response.response, complete=response.complete)
        )
    ]
    denied = denials([claim.text for claim in claims])
    return [
        claim.model_copy(update={"rivals": _rivals(claims[:at], positions)}) if positions else claim
        for at, (claim, positions) in enumerate(zip(claims, denied, strict=True))
    ]


def ground_claim(
    claim: Claim, passages: PassageIndex, *, threshold: float = 0.6
) -> AlignedExtraction | Verdict:
    """What the scorer has to judge of ``claim``; a verdict where nothing speaks of it at all."""
    alignment = passages.retrieve(claim.text, threshold=threshold)
    extraction = claim.extraction(alignment.passage)
    if not alignment.found:
        return reject(extraction, "not_found", claim.document, alignment)
    retrieved = (
        (rival.id, passages.retrieve(render_value(rival.value), threshold=threshold))
        for rival in claim.rivals
    )
    rivals = tuple([AlignedRival(id=i, alignment=a) for i, a in retrieved if a.found])
    return AlignedExtraction(
        extraction=extraction, document=claim.document, alignment=alignment, rivals=rivals
    )


def whole_claim(response: Response, ref: DocumentRef) -> list[Claim]:
    """The answer as one claim; none where there is nothing in it."""
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
            passages=response.passage_starts,
        )
    ]


def ground_claims(claims: Sequence[Claim], text: str) -> list[AlignedExtraction | Verdict]:
    """`ground_claim` for all claims on one text, in order."""
    indexes = {starts: PassageIndex(text, starts) for starts in {c.passages for c in claims}}
    return [ground_claim(claim, indexes[claim.passages]) for claim in claims]


def _rivals(before: Sequence[Claim], positions: Sequence[int]) -> tuple[Rival, ...]:
    found = [before[at] for at in positions if at < len(before)][:MAX_RIVALS]
    return tuple([Rival(id=claim.id, value=claim.text, context="") for claim in found])


def retrieve_passages(claim: Claim, text: str, *, threshold: float = 0.6) -> Alignment:
    """`PassageIndex.retrieve` for a single claim on ``text``."""
    return PassageIndex(text, claim.passages).retrieve(claim.text, threshold=threshold)


class PassageIndex:
    """A retrieved text, split and counted once for all claims on it.

    ``starts`` are where its passages begin, in order and 0 first; without them it is one passage.
    """

    def __init__(self, text: str, starts: Sequence[int] = ()) -> None:
        self._text = text
        self._layout = DocumentLayout(text)
        self._starts = tuple(starts) or (0,)
        edges = pairwise((*self._starts, len(text) + len(PASSAGE_SEPARATOR)))
        self._retriever = Retriever([text[a : b - len(PASSAGE_SEPARATOR)] for a, b in edges])

    def retrieve(self, claim: str, *, threshold: float = 0.6) -> Alignment:
        """The sentences that share most with ``claim``, in document order.

        What is shared counts by its rarity in the text. The score is 1.0, as every span is
        copied from the text, and 0.0 without spans where nothing is shared. M and L are the
        characters of the spans; ``consulted`` says of which passage each of them is.
        """
        found = self._retriever.retrieve(claim)
        spans = [self._span(one) for one in found]
        characters = sum(len(span.text) for span in spans)
        alignment = Alignment(
            score=1.0 if spans else 0.0,
            matches=characters,
            length=characters,
            unaligned=0,
            threshold=threshold,
            spans=tuple(spans),
            occurrences=1 if spans else 0,
            route="retrieved",
            aligner=ALIGNER_VERSION,
            consulted=tuple([_consulted(one) for one in found]),
        )
        return with_surroundings(alignment, self._layout) if spans else alignment

    def _span(self, found: Retrieved) -> Span:
        start, end = (self._starts[found.passage] + at for at in (found.start, found.end))
        return Span(start=start, end=end, text=self._text[start:end])


def _consulted(found: Retrieved) -> ConsultedPassage:
    share = round(found.share, 4)
    return ConsultedPassage(passage=found.passage, start=found.start, end=found.end, score=share)

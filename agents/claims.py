"""Free-text answers: into sentences, and each sentence to the text that may support it.

A quote is not at hand here, so the passage is retrieved: the sentences of the retrieved text
that together cover the claim best, wherever they are. One passage that supports a claim is
enough; that others do not is no objection to it.
"""

from collections.abc import Sequence

from safepassage.passages.index import PassageIndex
from safepassage.passages.pleasantries import claims_nothing
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import (
    AlignedExtraction,
    AlignedRival,
    Claim,
    DocumentRef,
    Response,
    Rival,
    Verdict,
    claim_id,
    reject,
    render_value,
)
from safepassage.schemas.extraction import MAX_RIVALS

from .contradicting_sentences import denials


def split_claims(response: Response, ref: DocumentRef) -> list[Claim]:
    """The sentences that ``response`` brings, each with its place: ``response[start:end] == text``.

    ``ref`` names the retrieved text. What has neither a letter nor a digit is no sentence, and a
    sentence that claims nothing ("I hope this helps!") is no claim: `sentences_without_claim`
    counts them. A sentence that denies earlier ones has these as its rivals. Of a part of an
    answer, the sentences that no earlier part had to its end. So each sentence is brought once,
    with the same id and the same rivals.
    """
    claims = sentences_so_far(response, ref)
    if response.part:
        earlier = response.response[: response.part.since]
        known = sum(1 for _ in sentences(earlier, complete=False))
        return [claim for claim in claims if claim.ordinal >= known]
    return claims


def sentences_so_far(response: Response, ref: DocumentRef) -> list[Claim]:
    """`split_claims` of this part of an answer and of all before it: where it is the last one,
    all sentences of the answer."""
    places = enumerate(sentences(response.response, complete=response.complete))
    claims = [
        _claim(response, ref, ordinal, start, end)
        for ordinal, (start, end) in places
        if not claims_nothing(response.response[start:end])
    ]
    denied = denials([claim.text for claim in claims])
    return [
        claim.model_copy(update={"rivals": _rivals(claims[:at], positions)}) if positions else claim
        for at, (claim, positions) in enumerate(zip(claims, denied, strict=True))
    ]


def sentences_without_claim(response: Response) -> int:
    """How many sentences of this part of an answer and of all before it claim nothing."""
    text = response.response
    places = sentences(text, complete=response.complete)
    return sum(claims_nothing(text[start:end]) for start, end in places)


def ground_claim(claim: Claim, passages: PassageIndex) -> AlignedExtraction | Verdict:
    """What the scorer has to judge of ``claim``; a verdict where nothing speaks of it at all."""
    alignment = passages.retrieve(claim.text)
    extraction = claim.extraction(alignment.passage)
    if not alignment.found:
        return reject(extraction, "not_found", claim.document, alignment)
    retrieved = ((rival.id, passages.retrieve(render_value(rival.value))) for rival in claim.rivals)
    rivals = tuple([AlignedRival(id=i, alignment=a) for i, a in retrieved if a.found])
    return AlignedExtraction(
        extraction=extraction, document=claim.document, alignment=alignment, rivals=rivals
    )


def whole_claim(response: Response, ref: DocumentRef) -> list[Claim]:
    """The answer as one claim; none where there is nothing in it."""
    text = response.response
    return [_claim(response, ref, 0, 0, len(text))] if text.strip() else []


def ground_claims(claims: Sequence[Claim], text: str) -> list[AlignedExtraction | Verdict]:
    """`ground_claim` for all claims on one text, in order."""
    indexes = {starts: PassageIndex(text, starts) for starts in {c.passages for c in claims}}
    return [ground_claim(claim, indexes[claim.passages]) for claim in claims]


def _claim(response: Response, ref: DocumentRef, ordinal: int, start: int, end: int) -> Claim:
    text = response.response[start:end]
    return Claim(
        id=claim_id(ref, ordinal, text),
        response_id=response.id,
        ordinal=ordinal,
        start=start,
        end=end,
        text=text,
        document=ref,
        passages=response.passage_starts,
    )


def _rivals(before: Sequence[Claim], positions: Sequence[int]) -> tuple[Rival, ...]:
    found = [before[at] for at in positions if at < len(before)][:MAX_RIVALS]
    return tuple([Rival(id=claim.id, value=claim.text, context="") for claim in found])

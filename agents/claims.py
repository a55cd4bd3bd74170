"""Free-text answers: into sentences, and each sentence to the text that may bear it out.

A quote is not at hand here, so the passage is retrieved: the sentences of the retrieved text
that together cover the claim best, wherever they stand. One passage that supports a claim is
enough; that others do not is no objection to it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passages.function_words import FUNCTION_WORDS
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
from schemas.extraction import MAX_RIVALS

from .alignment import ALIGNER_VERSION
from .negation import denials
from .surroundings import DocumentLayout, with_surroundings

MAX_SENTENCES = 4
MAX_PASSAGE_CHARACTERS = 1_200
"""About what an encoder of 512 tokens reads beside a claim."""

MAX_PIECE_CHARACTERS = 600

MIN_GAIN = 0.04
"""Share of the claim's weight that a further sentence has to add."""

_STEM_CHARACTERS = 6
"""Words are compared by their first letters: "dismissed" and "dismissal" are one."""

_WORD = re.compile(r"\w+")


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
        )
    ]


def ground_claims(claims: Sequence[Claim], text: str) -> list[AlignedExtraction | Verdict]:
    """`ground_claim` for all claims on one text, in order."""
    passages = PassageIndex(text)
    return [ground_claim(claim, passages) for claim in claims]


def _rivals(before: Sequence[Claim], positions: Sequence[int]) -> tuple[Rival, ...]:
    found = [before[at] for at in positions if at < len(before)][:MAX_RIVALS]
    return tuple([Rival(id=claim.id, value=claim.text, context="") for claim in found])


def retrieve_passages(claim: Claim, text: str, *, threshold: float = 0.6) -> Alignment:
    """`PassageIndex.retrieve` for a single claim on ``text``."""
    return PassageIndex(text).retrieve(claim.text, threshold=threshold)


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    stems: frozenset[str]


class PassageIndex:
    """A retrieved text, split and counted once for all claims on it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._layout = DocumentLayout(text)
        self._sentences = [
            _Sentence(start, end, _stems(text[start:end]))
            for sentence in sentences(text)
            for start, end in _pieces(text, *sentence)
        ]
        self._occurrences = Counter(stem for sentence in self._sentences for stem in sentence.stems)

    def retrieve(self, claim: str, *, threshold: float = 0.6) -> Alignment:
        """The sentences that share most with ``claim``, in document order.

        What is shared counts by its rarity in the text. The score is 1.0, as every span is
        copied from the text, and 0.0 without spans where nothing is shared. M and L are the
        characters of the spans.
        """
        spans = self._spans(sorted(self._best(_stems(claim)), key=lambda found: found.start))
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
        )
        return with_surroundings(alignment, self._layout) if spans else alignment

    def _best(self, wanted: frozenset[str]) -> Iterator[_Sentence]:
        """Sentences, each the one that adds most to what those before it cover."""
        missing = {stem: self._rarity(stem) for stem in wanted}
        least = MIN_GAIN * sum(missing.values())
        room = MAX_PASSAGE_CHARACTERS
        candidates = [sentence for sentence in self._sentences if sentence.stems & wanted]
        for _ in range(MAX_SENTENCES):
            best = max(candidates, key=lambda found: _gain(found, missing), default=None)
            if best is None or _gain(best, missing) <= least:
                return
            yield best
            room -= best.end - best.start
            candidates = [found for found in candidates if found.end - found.start <= room]
            missing = {stem: gain for stem, gain in missing.items() if stem not in best.stems}

    def _rarity(self, stem: str) -> float:
        return math.log(1 + (1 + len(self._sentences)) / (1 + self._occurrences[stem]))

    def _spans(self, sentences: list[_Sentence]) -> list[Span]:
        """Neighbours as one span, so that the scorer reads them as they stand."""
        edges: list[tuple[int, int]] = []
        for sentence in sentences:
            if edges and not self._text[edges[-1][1] : sentence.start].strip():
                edges[-1] = (edges[-1][0], sentence.end)
            else:
                edges.append((sentence.start, sentence.end))
        return [Span(start=start, end=end, text=self._text[start:end]) for start, end in edges]


def _gain(sentence: _Sentence, missing: dict[str, float]) -> float:
    return sum(missing[stem] for stem in sentence.stems & missing.keys())


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(word[:_STEM_CHARACTERS] for word in words if word not in FUNCTION_WORDS)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in parts that fit a passage: tables and OCR have "sentences" of any length."""
    while end - start > MAX_PIECE_CHARACTERS:
        blank = text.rfind(" ", start + 1, start + MAX_PIECE_CHARACTERS)
        cut = blank if blank >= 0 else start + MAX_PIECE_CHARACTERS
        yield start, cut
        start = cut
    yield start, end

"""Biopython's full Smith-Waterman: the definition of what is right, and fast where it is small.

It holds the interpreter lock all the while, and two bytes a cell for the traceback.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple, Self

from Bio.Align import PairwiseAligner

from .normalisation import Codes
from .scoring_scheme import GAP_EXTEND, GAP_OPEN, MATCH, MISMATCH

BIOPYTHON_WIDTH = 600
"""Up to so many document characters Biopython is faster than rows of numpy operations."""

SCALE = 2
"""The scores of the scheme are halves: ours are doubled and so integers."""


class LocalAlignment(NamedTuple):
    """The first of the best local alignments of a context with a document, both normalised.

    It covers the document's characters ``start`` to ``end`` and ``aligned`` characters of the
    context, in ``length`` columns of which ``matches`` are equal characters. ``score`` is
    doubled.
    """

    score: int
    start: int
    end: int
    aligned: int
    matches: int
    length: int

    def shifted(self, offset: int) -> Self:
        """The same alignment where the document begins ``offset`` characters earlier."""
        return self._replace(start=self.start + offset, end=self.end + offset)


@cache
def biopython_aligner() -> PairwiseAligner:
    """The aligner with all four scores set. Setting them takes longer than a short alignment."""
    aligner = PairwiseAligner()  # type: ignore[no-untyped-call]
    aligner.mode = "local"
    aligner.match_score = MATCH
    aligner.mismatch_score = MISMATCH
    aligner.open_gap_score = GAP_OPEN
    aligner.extend_gap_score = GAP_EXTEND
    return aligner


def biopython_score(document: Codes, context: Codes) -> int:
    """The doubled score of the best local alignment of two texts that are not empty."""
    return int(SCALE * biopython_aligner().score(document, context))  # type: ignore[no-untyped-call]


def biopython_first(document: Codes, context: Codes) -> LocalAlignment | None:
    """The first best local alignment, None where no character matches."""
    if not len(document):
        return None
    # Never len(alignments): it counts all co-optimal ones, in seconds or an OverflowError.
    alignments = biopython_aligner().align(document, context)  # type: ignore[no-untyped-call]
    try:
        in_document, in_context = alignments[0].coordinates.tolist()
    except IndexError:
        return None
    matches = length = 0
    for (start, end), (other, last) in zip(
        pairwise(in_document), pairwise(in_context), strict=True
    ):
        length += max(end - start, last - other)
        if end - start == last - other:
            matches += int((document[start:end] == context[other:last]).sum())
    return LocalAlignment(
        score=int(SCALE * alignments.score),
        start=in_document[0],
        end=in_document[-1],
        aligned=in_context[-1] - in_context[0],
        matches=matches,
        length=length,
    )

"""The best local alignment itself, by Biopython's full Smith-Waterman."""

from __future__ import annotations

from typing import NamedTuple

from .scheme import biopython_aligner


class LocalAlignment(NamedTuple):
    """The first of the best local alignments of a context with a document, both normalised.

    It covers the document's characters ``start`` to ``end`` and ``aligned`` characters of the
    context, in ``length`` columns of which ``matches`` are equal characters.
    """

    start: int
    end: int
    aligned: int
    matches: int
    length: int


def trace(document: str, context: str) -> LocalAlignment | None:
    """Biopython's first alignment of two non-empty texts; None where no character matches.

    Biopython holds the interpreter lock and two bytes a cell meanwhile.
    """
    # Never len(alignments): it counts all co-optimal ones, in seconds or an OverflowError.
    alignments = biopython_aligner().align(document, context)  # type: ignore[no-untyped-call]
    try:
        alignment = alignments[0]
    except IndexError:
        return None
    pairs, covered = 0, 0
    for (first, last), (other, _) in zip(*alignment.aligned.tolist(), strict=True):
        covered += last - first
        pairs += sum(map(str.__eq__, document[first:last], context[other : other + last - first]))
    (start, context_start), (end, context_end) = alignment.coordinates.T[[0, -1]].tolist()
    aligned = context_end - context_start
    return LocalAlignment(start, end, aligned, pairs, end - start + aligned - covered)

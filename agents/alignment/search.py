"""The first best local alignment of a context with a document, by the cheapest exact way."""

from functools import cached_property

from .anchors import Anchors, Interval
from .bound import Bound
from .normalisation import Codes
from .reference import BIOPYTHON_WIDTH, LocalAlignment, biopython_first, biopython_score
from .sweep import SweptText
from .traceback import trace_back

# A sweep over the whole document costs a sixth of the time that Biopython's score takes for a
# cell, or less.
_HELPS = 6
# Where no more than one in so many of a context's 4-grams are together, its best alignment is
# hardly ever good enough for a certificate.
_PROMISING = 5


class SearchedText:
    """A normalised document, searched for contexts that are not in it exactly. Its methods raise
    `AlignmentTimeoutError` where the deadline (of `time.monotonic`) passed."""

    def __init__(self, document: Codes) -> None:
        self._document = document

    @cached_property
    def _swept(self) -> SweptText:
        return SweptText(self._document)

    @cached_property
    def _anchors(self) -> Anchors:
        return Anchors(self._document)

    def in_windows(self, context: Codes, deadline: float | None = None) -> LocalAlignment | None:
        """Biopython's first alignment, if it is good enough to be certified; else None."""
        score, windows = self._windows(context, deadline)
        if len(windows) > 1:  # a score takes a fourth of the time of an alignment
            parts = ((window, self._document[slice(*window)]) for window in windows)
            windows = [w for w, part in parts if _score(part, context, deadline) >= score]
        found = [self._first_best(window, context, deadline) for window in windows]
        # max keeps the first of equal scores, which is the leftmost: so does Biopython.
        return max(found, key=lambda alignment: alignment.score, default=None)

    def anywhere(self, context: Codes, deadline: float | None = None) -> LocalAlignment | None:
        """Biopython's first alignment; None where no character matches."""
        if len(self._document) <= BIOPYTHON_WIDTH:
            return biopython_first(self._document, context)
        end = self._swept.best_endpoint(context, deadline)
        return end and trace_back(self._document, context, end, deadline)

    def refuted(
        self, context: Codes, threshold: float, deadline: float | None = None
    ) -> float | None:
        """An upper bound on D that is below ``threshold``, None where none was proven."""
        return self._bound.below(context, threshold, deadline)

    @cached_property
    def _bound(self) -> Bound:
        return Bound(self._document)

    def _windows(self, context: Codes, deadline: float | None) -> tuple[int, list[Interval]]:
        """A doubled score that is reached, and intervals that hold every alignment reaching it.

        No intervals where they would be no help.
        """
        if len(self._document) <= BIOPYTHON_WIDTH:
            return 0, []
        hits = self._anchors.hits(context)
        if not len(hits):
            return 0, []
        densest, most = self._anchors.densest(hits, len(context))
        if _PROMISING * most < len(context):
            return 0, []
        score = _score(self._document[slice(*densest)], context, deadline)
        windows = self._anchors.certified(hits, len(context), score)
        helps = _HELPS * sum(end - start for start, end in windows) <= len(self._document)
        return score, windows if helps else []

    def _first_best(
        self, window: Interval, context: Codes, deadline: float | None
    ) -> LocalAlignment:
        """The first best alignment in ``window``, which holds one, in the document's offsets."""
        found = SearchedText(self._document[slice(*window)]).anywhere(context, deadline)
        if found is None:
            raise AssertionError("a certified window has 4-grams of the context")
        return found.shifted(window.start)


def _score(document: Codes, context: Codes, deadline: float | None) -> int:
    """The doubled score of the best alignment."""
    if len(document) <= BIOPYTHON_WIDTH:
        return biopython_score(document, context)
    end = SweptText(document).best_endpoint(context, deadline)
    return end.score if end else 0

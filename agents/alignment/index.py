"""`DocumentIndex`: one document, prepared for the alignment of many contexts."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from safepassage.agents.alignment_thresholds import DEFAULT_THRESHOLD
from safepassage.schemas import Alignment, Route

from .normalisation import NormalisedText, code_points, joins, normalise, normalised_context
from .outcome import PlacedPart, exactly, nothing, outcome
from .reference import LocalAlignment
from .search import SearchedText

MIN_PART_CHARACTERS = 8
"""A shorter part says too little about where it comes from, so the quote stays whole."""

ELLIPSIS = "..."  # as normalised

# Normalisation has turned "…" into "...". Four dots are a full stop and an ellipsis, a longer
# row is a leader of a form ("Name ........ Smith") and no elision.
_ELISION = re.compile(r" ?(?:\[ ?\.{3} ?\]|\( ?\.{3} ?\)|(?<!\.)\.{3,4}(?!\.)) ?")


def elided_parts(context: str) -> tuple[str, ...]:
    """The parts of a normalised context between ellipses; the context itself where one would be
    shorter than `MIN_PART_CHARACTERS`."""
    parts = tuple(_ELISION.split(context))
    if all(len(part) >= MIN_PART_CHARACTERS for part in parts):
        return parts
    return (context,)


MAX_ALTERNATIVES = 16
"""Other places listed of a context that is in the document more than once."""


def align(
    context: str, text: str, *, threshold: float = DEFAULT_THRESHOLD, exact: bool = True
) -> Alignment:
    """The best local alignment of ``context`` with ``text``; see `DocumentIndex.align`."""
    return DocumentIndex(text).align(context, threshold=threshold, exact=exact)


class _Question(NamedTuple):
    threshold: float
    exact: bool
    deadline: float | None


class DocumentIndex:
    """A document's text, and what is computed of it on first need. Threads may share it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def align(
        self,
        context: str,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        exact: bool = True,
        deadline: float | None = None,
    ) -> Alignment:
        """Find where ``context`` is in the document.

        Score D, counts and spans are those of full Smith-Waterman on the normalised texts:
        Biopython's first alignment with match 2, mismatch -2 and gaps of -1.5 and -0.5. Only
        an exact hit of the context as it is is preferred to an earlier one in other case.

        Args:
            context: what was quoted. Blank, or without a character in common with the
                document, it aligns nowhere: score 0, no spans.
            threshold: tau in [0, 1], below which the context does not count as found.
            exact: False to stop, without spans, as soon as D < threshold is proven: about twice
                as fast on a context that is nowhere in the document.
            deadline: of `time.monotonic`, in seconds; then `AlignmentTimeoutError` is raised.
        """
        needle = normalised_context(context)
        if not needle:
            return nothing(threshold)
        question = _Question(threshold, exact, deadline)
        whole = self._verbatim(context.strip(), len(needle)) or self._standing(needle)
        parts = [whole] if whole else self._parts(elided_parts(needle), question)
        return outcome(self.text, self._or_whole(parts, needle, question), threshold)

    @cached_property
    def _document(self) -> NormalisedText:
        return normalise(self.text)

    @cached_property
    def _searched(self) -> SearchedText:
        return SearchedText(self._document.codes)

    def _verbatim(self, context: str, characters: int) -> PlacedPart | None:
        """The context exactly as it is, ``characters`` normalised characters."""
        start = self.text.find(context)
        end = start + len(context)
        # Where a character joins what precedes it the normalised texts may differ: "e" is no
        # hit in a decomposed "é".
        if start < 0 or joins(context[0]) or joins(self.text[end : end + 1]):
            return None
        starts = islice(_occurrences(self.text, context, end), MAX_ALTERNATIVES)
        others = [(other, other + len(context)) for other in starts]
        count = self.text.count(context) if others else 1
        return exactly(characters, (start, end), "verbatim", others, count)

    def _standing(self, needle: str, after: int = 0) -> PlacedPart | None:
        """The normalised context exactly, preferably from original code point ``after`` on."""
        document, size = self._document, len(needle)
        start = document.text.find(needle, document.position(after)) if after else -1
        start = start if start >= 0 else document.text.find(needle)
        if start < 0:
            return None
        starts = islice(_occurrences(document.text, needle, start + size), MAX_ALTERNATIVES)
        others = [document.original(other, other + size) for other in starts]
        place = document.original(start, start + size)
        return exactly(size, place, "normalised", others, document.text.count(needle))

    def _parts(self, needles: tuple[str, ...], question: _Question) -> list[PlacedPart]:
        """Each part where it is; an exact one preferably after the part before it."""
        if len(needles) == 1:
            return [self._best(needles[0], question)]
        parts: list[PlacedPart] = []
        for needle in needles:
            after = parts[-1].end if parts else 0
            parts.append(self._standing(needle, after) or self._best(needle, question))
        return parts

    def _or_whole(
        self, parts: list[PlacedPart], needle: str, question: _Question
    ) -> list[PlacedPart]:
        """``parts``, or the whole context where that is better: a document has ellipses of its
        own, and a quote of one is no elided quote."""
        score = min(part.score for part in parts)
        if len(parts) == 1 or score == 1.0 or ELLIPSIS not in self._document.text:
            return parts
        whole = self._best(needle, question)
        return [whole] if whole.bound is None and whole.score > score else parts

    def _best(self, needle: str, question: _Question) -> PlacedPart:
        context, deadline = code_points(needle), question.deadline
        certified = self._searched.in_windows(context, deadline)
        if certified:
            return self._part(needle, certified, "window")
        if not question.exact:
            bound = self._searched.refuted(context, question.threshold, deadline)
            if bound is not None:
                return PlacedPart(len(needle), route="bound", bound=bound)
        best = self._searched.anywhere(context, deadline)
        return self._part(needle, best, "full") if best else PlacedPart(len(needle))

    def _part(self, needle: str, found: LocalAlignment, route: Route) -> PlacedPart:
        return PlacedPart(
            len(needle),
            *self._document.original(found.start, found.end),
            matches=found.matches,
            length=found.length,
            aligned=found.aligned,
            route=route,
        )


def _occurrences(text: str, needle: str, start: int) -> Iterator[int]:
    while (start := text.find(needle, start)) >= 0:
        yield start
        start += len(needle)

"""`DocumentIndex`: one document, prepared for the alignment of many contexts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from schemas import Alignment

from .elision import elided_parts
from .normalisation import NormalisedText, code_points, normalise, normalised_context
from .outcome import Part, nothing, nowhere, outcome
from .scheme import DEFAULT_THRESHOLD
from .search import SearchedText

MAX_ALTERNATIVES = 16
"""Other places listed of a context that stands in the document more than once."""

# Characters below U+0300 neither compose with what precedes them nor are reordered against it,
# so a hit that starts with one and is followed by one is a hit in the normalised texts too.
_FIRST_JOINING = "\u0300"


def align(context: str, text: str, *, threshold: float = DEFAULT_THRESHOLD) -> Alignment:
    """The best local alignment of ``context`` with ``text``; see `DocumentIndex.align`."""
    return DocumentIndex(text).align(context, threshold=threshold)


class DocumentIndex:
    """A document's text, and what is computed of it on first need for all its contexts.

    Safe to share between threads: what two of them compute at once is equal.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def align(self, context: str, *, threshold: float = DEFAULT_THRESHOLD) -> Alignment:
        """Find where ``context`` stands in the document.

        Score D, counts and spans are those of full Smith-Waterman on the normalised texts:
        Biopython's first alignment with match 2, mismatch -2 and gaps of -1.5 and -0.5. Only
        an exact hit of the context as it stands is preferred to an earlier one in other case.

        Args:
            context: what was quoted. Blank, or without a character in common with the
                document, it aligns nowhere: score 0, no spans.
            threshold: tau in [0, 1], below which the context does not count as found.
        """
        needle = normalised_context(context)
        if not needle:
            return nothing(threshold)
        whole = self._verbatim(context.strip(), len(needle)) or self._exact(needle)
        parts = [whole] if whole else self._parts(elided_parts(needle))
        return outcome(self.text, parts, threshold)

    @cached_property
    def _document(self) -> NormalisedText:
        return normalise(self.text)

    @cached_property
    def _searched(self) -> SearchedText:
        return SearchedText(self._document.codes)

    def _verbatim(self, context: str, characters: int) -> Part | None:
        """The context exactly as it stands."""
        start = self.text.find(context)
        end = start + len(context)
        if start < 0 or max(context[0], self.text[end : end + 1]) >= _FIRST_JOINING:
            return None
        others = [(place, place + len(context)) for place in self._others(self.text, context, end)]
        return Part(
            characters,
            start,
            end,
            matches=characters,
            length=characters,
            aligned=characters,
            route="verbatim",
            occurrences=self.text.count(context),
            others=tuple(others),
        )

    def _parts(self, needles: tuple[str, ...]) -> list[Part]:
        """Each part where it stands; an exact one preferably after the part before it."""
        parts: list[Part] = []
        for needle in needles:
            after = parts[-1].end if parts else 0
            parts.append(self._exact(needle, after) or self._best(needle))
        return parts

    def _exact(self, needle: str, after: int = 0) -> Part | None:
        """The normalised context exactly, preferably from original code point ``after`` on."""
        document = self._document
        start = document.text.find(needle, document.position(after)) if after else -1
        start = start if start >= 0 else document.text.find(needle)
        if start < 0:
            return None
        size = len(needle)
        places = self._others(document.text, needle, start + size)
        return Part(
            size,
            *document.original(start, start + size),
            matches=size,
            length=size,
            aligned=size,
            route="normalised",
            occurrences=document.text.count(needle),
            others=tuple(document.original(place, place + size) for place in places),
        )

    def _others(self, text: str, needle: str, start: int) -> list[int]:
        return list(islice(_occurrences(text, needle, start), MAX_ALTERNATIVES))

    def _best(self, needle: str) -> Part:
        found = self._searched.best(code_points(needle))
        if found is None:
            return nowhere(len(needle))
        best = found.alignment
        return Part(
            len(needle),
            *self._document.original(best.start, best.end),
            matches=best.matches,
            length=best.length,
            aligned=best.aligned,
            route=found.route,
        )


def _occurrences(text: str, needle: str, start: int) -> Iterator[int]:
    while (start := text.find(needle, start)) >= 0:
        yield start
        start += len(needle)

"""Where a quoted context stands in the document."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Contract, Event, Probability
from .document import DocumentRef
from .extraction import Extraction

Route = Literal["verbatim", "normalised", "window", "full", "bound", "retrieved", "none"]
"""Which step decided: found as it stands; found after normalisation; aligned inside a certified
window; aligned over the whole document; rejected by proof; retrieved for a claim; nothing to
align."""


class Span(Contract):
    """Code points ``start`` to ``end`` (exclusive) of the original text, and that slice of it."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(repr=False)

    @model_validator(mode="after")
    def _is_a_slice(self) -> Self:
        if self.end - self.start != len(self.text):
            raise ValueError("a span's text is not as long as its offsets say")
        return self


class Occurrence(Contract):
    """Another place where the context stands just as well."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Alignment(Contract):
    """The best local alignment of a context with a document.

    ``score`` is D = M / (L + unaligned context characters), in [0, 1]: the paper's M / L
    (section 3.2), made robust against tiny perfect substrings; the two are equal where the
    whole context is aligned. Counts are of normalised characters, spans of original ones. For
    an elided context ``score`` is the minimum over its parts and the counts are sums.
    ``scored`` is False where D is only known to lie below ``threshold`` (route "bound"); then
    ``score`` is an upper bound.

    ``spans`` are exactly what was aligned. ``passages`` are the same places widened to the edges
    of the tokens they cut: the best alignment of a wrong date ends before its last digit, and
    the scorer has to see that digit.
    """

    score: Probability
    matches: int = Field(ge=0)
    length: int = Field(ge=0)
    unaligned: int = Field(ge=0)
    threshold: Probability
    spans: tuple[Span, ...] = ()
    passages: tuple[Span, ...] = ()
    in_order: bool = True
    occurrences: int = Field(default=0, ge=0)
    alternatives: tuple[Occurrence, ...] = ()
    low_evidence: bool = False
    scored: bool = True
    route: Route

    @property
    def found(self) -> bool:
        """Whether the context may be kept: D >= tau, with at least one span to show."""
        return self.scored and self.score >= self.threshold and bool(self.spans)

    @property
    def passage(self) -> str:
        """The aligned text: the scorer's premise. Parts of an elided quote are joined by " … "."""
        return " … ".join(span.text for span in self.passages or self.spans)


class AlignedExtraction(Event):
    """Topic ``alignments``: an extraction whose context was found in its document."""

    extraction: Extraction
    document: DocumentRef
    alignment: Alignment

"""Where a quoted context is in the document."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Contract, Event, EventId, Probability, is_empty, is_none
from .document import DocumentRef
from .evidence import MAX_CONSULTED, ConsultedPassage, Stretch
from .extraction import MAX_RIVALS, Extraction, Rival

PASSAGE_JOINT = " … "
HEADING_JOINT = " | "

Route = Literal["verbatim", "normalised", "window", "full", "bound", "retrieved", "none"]
"""Which step decided: found as it is; found after normalisation; aligned inside a certified
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


MAX_SIDE = 400
MAX_LABEL = 60
MAX_COLUMN = 60
MAX_HEADING = 80
"""Characters of what is around a passage; the three that name it are 200 together."""


MAX_ELIDED = 2_000
"""Characters that an ellipsis may represent: about a page."""

Scatter = Literal["parts_out_of_order", "parts_far_apart"]


class Surroundings(Contract):
    """What is around one passage of the document, apart from it, as slices of the text.

    ``before`` ends where the passage begins and ``after`` begins where it ends: the rest of the
    sentence, line or table row that holds it. ``label`` is the label of the row or line,
    ``column`` the head of the column, ``heading`` the nearest heading above. None if it is
    missing. A value that is only here is not quoted.
    """

    before: Span | None = Field(default=None, exclude_if=is_none)
    after: Span | None = Field(default=None, exclude_if=is_none)
    label: Span | None = Field(default=None, exclude_if=is_none)
    column: Span | None = Field(default=None, exclude_if=is_none)
    heading: Span | None = Field(default=None, exclude_if=is_none)

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        bounds = (MAX_SIDE, MAX_SIDE, MAX_LABEL, MAX_COLUMN, MAX_HEADING)
        parts = zip(self.slices, bounds, strict=True)
        if any(span and len(span.text) > most for span, most in parts):
            raise ValueError("what is around a passage is longer than allowed")
        return self

    @property
    def slices(self) -> tuple[Span | None, ...]:
        """The five, in the order of their declaration."""
        return self.before, self.after, self.label, self.column, self.heading


class Occurrence(Contract):
    """Another place where the context is just as well."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


MAX_ABSENT = 200
LANGUAGE_PATTERN = r"^[a-z]{2,3}$"


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

    ``aligner`` is the version of the aligner, and with tau part of a verdict's id.
    ``surroundings`` has one entry for each passage (for each span where there are no passages),
    and is None on records written before there were any. ``language`` (ISO 639-1) and
    ``day_first`` are the document's, None where unknown. ``consulted`` says for what was
    retrieved of which passage of the context each span is; ``absent`` are the first
    `MAX_ABSENT` words of the claim that are nowhere in the context in any form, None on records
    written before they were looked for.
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
    surroundings: tuple[Surroundings, ...] | None = Field(default=None, exclude_if=is_none)
    aligner: str | None = Field(default=None, exclude_if=is_none, max_length=40)
    language: str | None = Field(default=None, exclude_if=is_none, pattern=LANGUAGE_PATTERN)
    day_first: bool | None = Field(default=None, exclude_if=is_none)
    consulted: tuple[ConsultedPassage, ...] = Field(
        default=(), max_length=MAX_CONSULTED, exclude_if=is_empty
    )
    absent: tuple[Stretch, ...] | None = Field(
        default=None, max_length=MAX_ABSENT, exclude_if=is_none
    )

    @property
    def found(self) -> bool:
        """Whether the context may be kept: D >= tau, with at least one span to show."""
        return self.scored and self.score >= self.threshold and bool(self.spans)

    @property
    def is_evidence(self) -> bool:
        """Whether something could be accepted on it: found, enough of it, and in one place."""
        return self.found and not self.low_evidence and self.scatter is None

    @property
    def scatter(self) -> Scatter | None:
        """Why the parts of an elided quote are no one passage; None where they are, and for what
        was retrieved. Parts of other sentences far away, joined, say what nobody wrote."""
        if self.route == "retrieved":
            return None
        # Inexact parts of neighbours may share a character, so `in_order` is too strict here.
        if any(after.start < before.start for before, after in pairwise(self.spans)):
            return "parts_out_of_order"
        gaps = (after.start - before.end for before, after in pairwise(self.spans))
        return "parts_far_apart" if max(gaps, default=0) > MAX_ELIDED else None

    @property
    def passage(self) -> str:
        """The aligned text: the scorer's premise. Parts of an elided quote are joined by " … "."""
        return PASSAGE_JOINT.join(span.text for span in self.quoted)

    @property
    def quoted(self) -> tuple[Span, ...]:
        """The places that are the scorer's premise."""
        return self.passages or self.spans

    @property
    def before(self) -> str:
        """What completes the sentence, line or row before the first passage."""
        return _text(self.surroundings[0].before) if self.surroundings else ""

    @property
    def after(self) -> str:
        """What completes the sentence, line or row after the last passage."""
        return _text(self.surroundings[-1].after) if self.surroundings else ""

    @property
    def heading(self) -> str:
        """Headings, heads of columns and labels of the passages, from the general to the
        special, each once."""
        names = [(s.heading, s.column, s.label) for s in self.surroundings or ()]
        texts = [_text(span) for kind in zip(*names, strict=True) for span in kind]
        return HEADING_JOINT.join(dict.fromkeys(filter(None, texts)))

    @property
    def row_head(self) -> str:
        """The label of the row or line of the passage; "" where it has several parts."""
        return self._of_one_part("label")

    @property
    def column_head(self) -> str:
        """The heads of the columns that the passage covers, as the document parts them; "" where
        it has several parts."""
        return self._of_one_part("column")

    def _of_one_part(self, name: Literal["label", "column"]) -> str:
        around = self.surroundings or ()
        return _text(getattr(around[0], name)) if len(around) == 1 else ""

    @property
    def between(self) -> tuple[str, ...]:
        """For each joint of an elided quote what its sentences say there and it leaves out."""
        inner = pairwise(self.surroundings or ())
        return tuple([_left_out(one.after, other.before) for one, other in inner])


def _left_out(after: Span | None, before: Span | None) -> str:
    if after and before and after.start <= before.start <= after.end:
        return after.text + before.text[max(0, after.end - before.start) :]
    return PASSAGE_JOINT.join(span.text for span in (after, before) if span)


def _text(span: Span | None) -> str:
    return span.text if span else ""


class AlignedRival(Contract):
    """Where the quote of one of the extraction's rivals is."""

    id: EventId
    alignment: Alignment


class AlignedExtraction(Event):
    """Topic ``alignments``: an extraction whose context was found in its document.

    ``rivals`` are those of the extraction's rivals whose quotes are evidence too.
    """

    extraction: Extraction
    document: DocumentRef
    alignment: Alignment
    rivals: tuple[AlignedRival, ...] = Field(default=(), max_length=MAX_RIVALS, exclude_if=is_empty)

    @model_validator(mode="after")
    def _knows_its_rivals(self) -> Self:
        known = {rival.id for rival in self.extraction.rivals}
        if any(rival.id not in known for rival in self.rivals):
            raise ValueError("an aligned rival is not one of the extraction's")
        return self

    @property
    def contenders(self) -> tuple[AlignedExtraction, ...]:
        """The rivals as what a scorer is asked about, without rivals of their own."""
        known = {rival.id: rival for rival in self.extraction.rivals}
        return tuple([self._contender(known[r.id], r.alignment) for r in self.rivals])

    def _contender(self, rival: Rival, alignment: Alignment) -> AlignedExtraction:
        said = {"id": rival.id, "value": rival.value, "context": rival.context, "rivals": ()}
        extraction = self.extraction.model_copy(update=said)
        return AlignedExtraction(extraction=extraction, document=self.document, alignment=alignment)

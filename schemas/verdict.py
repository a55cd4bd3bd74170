"""The decision on one extraction, with its whole trail."""

from typing import Literal, Self

from pydantic import Field, model_validator

from .alignment import Alignment
from .base import (
    Contract,
    EntityType,
    Event,
    EventId,
    Json,
    Probability,
    Text,
    is_empty,
    is_first,
    is_none,
)
from .document import DocumentRef
from .error_type import ErrorTyping
from .evidence import Evidence
from .extraction import MAX_ATTEMPTS, ExtractorTrail, Usage
from .finding import Finding
from .former import FormerVerdict
from .memory import MemoryTrail
from .reason import Reason
from .schema_field import SchemaField

Decision = Literal["accepted", "quarantined", "undetermined"]


class ScorerTrail(Contract):
    """One scorer's part in the verdict. ``score`` is p(passage entails h(y)); None if it failed."""

    scorer: str
    revision: str
    score: Probability | None
    threshold: Probability | None
    failure: str | None = None
    usage: Usage | None = None


class ReviewTrail(Contract):
    """The person who decided in place of the scorer. Of the verdicts on one extraction, those
    with a review in force outrank those without."""

    review_id: EventId
    reviewer: str
    corrects: Json = None
    """The value as extracted, where the reviewer replaced it."""
    retracts: EventId | None = None
    """The id of the accepted verdict that this one takes back."""
    judged: EventId | None = None
    """The id of the scorer's verdict that the decision was applied to."""
    stands: bool = True
    """False where the decision was taken back: the next scorer's verdict counts again."""
    in_place: bool = False
    """Whether the decision was in force before and withheld that verdict: this one then is the
    only verdict of its judgement."""


class Conflict(Contract):
    """An extraction of the same document that contradicts the verdict's."""

    extraction_id: EventId
    value: Json


class Verdict(Event):
    """Topics ``accepted``, ``quarantine`` and ``shadow``: what was decided of an extraction.

    No `Verdict` with decision "accepted" can be built without its evidence (promise P2): a found
    alignment and a finite score at or above its threshold, or a named reviewer. Raises
    `pydantic.ValidationError` where an accepted verdict lacks evidence, or another lacks a reason.
    """

    id: EventId
    doc_id: EventId
    extraction_id: EventId
    entity_type: EntityType
    value: Json
    context: Text = Field(repr=False)
    hypothesis: Text = Field(repr=False)
    decision: Decision
    reasons: tuple[Reason, ...] = ()
    findings: tuple[Finding, ...] = ()
    alignment: Alignment | None
    score: Probability | None
    threshold: Probability | None
    scorer: str | None
    scorer_revision: str | None
    scorers: tuple[ScorerTrail, ...] = ()
    document: DocumentRef | None = None
    extractor: ExtractorTrail | None = None
    review: ReviewTrail | None = None
    field: SchemaField | None = Field(default=None, exclude_if=is_none)
    conflicts: tuple[Conflict, ...] = Field(default=(), exclude_if=is_empty)
    """The extractions that contradict this one and would be accepted as well."""
    evidence: Evidence | None = Field(default=None, exclude_if=is_none)
    """Of a claim: its words that nothing supports, triples, and the passages consulted."""
    error_types: ErrorTyping | None = Field(default=None, exclude_if=is_none)
    """Of a claim that was stopped: what kind of error it makes, as far as anybody typed it."""
    memory: MemoryTrail | None = Field(default=None, exclude_if=is_none)
    """What people decided on values like this one, where that had part in the score."""
    attempt: int = Field(default=1, ge=1, le=MAX_ATTEMPTS, exclude_if=is_first)
    """The extraction's: 2 where its LLM was asked again."""
    former: FormerVerdict | None = Field(default=None, exclude_if=is_none)
    """The verdict on the same value in an earlier version of the document, where it comes from
    there."""

    @property
    def passage(self) -> str:
        """What was judged, of the document; "" where the quote was not found."""
        return self.alignment.passage if self.alignment else ""

    @model_validator(mode="after")
    def _rests_on_evidence(self) -> Self:
        if self.decision == "accepted":
            if not (self.review or self._was_measured_safe()):
                raise ValueError("an accepted verdict needs its evidence or a reviewer")
        elif not self.reasons:
            raise ValueError("a verdict that stops an extraction names a reason")
        return self

    def _was_measured_safe(self) -> bool:
        return (
            self.alignment is not None
            and self.alignment.found
            and not self.alignment.low_evidence
            and self.score is not None
            and self.threshold is not None
            and self.score >= self.threshold
        )

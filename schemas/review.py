"""What a person decided about a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Event, EventId, Json, Text
from .verdict import Verdict

Judgement = Literal["supports", "insufficient", "corrected"]
ReviewDecision = Literal["supports", "insufficient", "corrected", "skipped", "undone"]


class Review(Event):
    """Topic ``reviews``: one decision of one reviewer, with the verdict it was made on.

    Reviews are never changed: an undo is another review that ``supersedes`` the first. The
    latest decision of a reviewer on an extraction wins. ``seconds`` is the time the case was
    open, from which the labelling effort is estimated. ``sampled`` marks an accepted verdict
    that was mixed in to estimate leakage.
    """

    id: EventId
    verdict: Verdict
    decision: ReviewDecision
    value: Json = None
    reviewer: Text = Field(min_length=1, max_length=200)
    decided_at: datetime
    seconds: float = Field(default=0, ge=0)
    sampled: bool = False
    supersedes: EventId | None = None

    @model_validator(mode="after")
    def _correction_has_a_value(self) -> Self:
        if (self.decision == "corrected") != (self.value is not None):
            raise ValueError("a correction carries the corrected value, nothing else does")
        return self


class StandingDecision(Event):
    """Topic ``decisions`` (compacted by ``case_id``): what people's reviews of a case came to.

    It is written once the effect of a decision is out, so that nobody has to publish that effect
    again when the verdicts have passed their retention, and so that what is judged later can be
    held to it. ``decision`` is None where it was taken back. ``review_id`` names the review that
    made it so, ``judged`` the scorer's verdict that it was applied to.
    """

    case_id: EventId
    doc_id: EventId
    decision: Judgement | None
    value: Json = None
    reviewer: Text = Field(min_length=1, max_length=200)
    review_id: EventId
    judged: EventId

    @model_validator(mode="after")
    def _correction_has_a_value(self) -> Self:
        if (self.decision == "corrected") != (self.value is not None):
            raise ValueError("a correction carries the corrected value, nothing else does")
        return self

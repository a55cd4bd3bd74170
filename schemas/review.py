"""What a person decided about a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Contract, Event, EventId, Json, Probability, Text, is_none
from .verdict import Verdict

Judgement = Literal["supports", "insufficient", "corrected"]
ReviewDecision = Literal["supports", "insufficient", "corrected", "skipped", "undone"]


class Draw(Contract):
    """How a case came to be asked, where chance decided: it was drawn with ``probability`` out of
    ``among`` open cases, after ``before`` other draws of the same scorer's verdicts. ``rate`` is
    the share of such verdicts that were ever open to a draw: of accepted ones the sample of spot
    checks."""

    probability: Probability = Field(gt=0)
    among: int = Field(ge=1)
    before: int = Field(default=0, ge=0)
    rate: Probability = Field(default=1.0, gt=0)

    @property
    def weight(self) -> float:
        """How many open cases it stands for, relative to a uniform draw."""
        return 1.0 / (self.probability * self.among)

    @property
    def population(self) -> int:
        """The open cases and those drawn before."""
        return self.among + self.before


class Review(Event):
    """Topic ``reviews``: one decision of one reviewer, with the verdict it was made on.

    Reviews are never changed: an undo is another review that ``supersedes`` the first. The
    latest decision of a reviewer on an extraction wins. ``seconds`` is the time the case was
    open, from which the labelling effort is estimated. ``sampled`` marks an accepted verdict
    that was mixed in to estimate leakage. ``draw`` is None where a person chose the case, and on
    reviews from before draws were recorded.
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
    draw: Draw | None = Field(default=None, exclude_if=is_none)

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

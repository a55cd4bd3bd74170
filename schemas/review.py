"""What a person decided about a verdict."""

from datetime import datetime
from typing import Final, Literal, Self

from pydantic import Field, model_validator

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
from .hypothesis import CLAIM_TYPE
from .memory import MAX_VOTES, ReviewerVote
from .schema_field import MAX_DESCRIPTION, SchemaField
from .verdict import Verdict

Judgement = Literal["supports", "insufficient", "corrected"]
ReviewDecision = Literal["supports", "insufficient", "corrected", "skipped", "undone"]
DecisionReason = Literal["wrong_field", "other_person", "denied", "wrong_value", "not_in_text"]
DECISION_REASONS: Final[dict[DecisionReason, str]] = {
    "wrong_field": "The value belongs to another field",
    "other_person": "The value is somebody else's",
    "denied": "The text denies it",
    "wrong_value": "The text gives another value",
    "not_in_text": "The text does not say it",
}
"""Why a value is refused or corrected, in a sentence for people."""
MAX_COMMENT = 2_000
MAX_SUBJECT = 255
"""As OpenID Connect Core bounds it (section 2)."""
MAX_ISSUER = 2_000
MAX_APPROVALS = 5


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
        """How many open cases it represents, relative to a uniform draw."""
        return 1.0 / (self.probability * self.among)

    @property
    def population(self) -> int:
        """The open cases and those drawn before."""
        return self.among + self.before


class ReviewerLogin(Contract):
    """How the console knew who decides. ``subject`` is what the identity provider ``issuer`` calls
    the person ("oidc"), or what a trusted proxy does ("proxy"). With "shared_token" it is the name
    that somebody who knew the token typed: it is claimed, and nothing proves it."""

    way: Literal["shared_token", "proxy", "oidc"]
    subject: Text = Field(min_length=1, max_length=MAX_SUBJECT)
    issuer: Text = Field(default="", max_length=MAX_ISSUER, exclude_if=is_empty)

    @property
    def proven(self) -> bool:
        """Whether more than a claim says who it is."""
        return self.way != "shared_token"


def person(reviewer: str, login: ReviewerLogin | None) -> str:
    """What tells one person from another: of a proven login its subject, else the claimed name.
    No name that the console takes begins with a space."""
    if login is None or not login.proven:
        return reviewer
    return f" {login.way} {login.issuer} {login.subject}"


class Review(Event):
    """Topic ``reviews``: one decision of one reviewer, with the verdict it was made on.

    Reviews are never changed: an undo is another review that ``supersedes`` the first. The
    latest decision of a reviewer on an extraction wins. ``seconds`` is the time the case was
    open, from which the labelling effort is estimated. ``sampled`` marks an accepted verdict
    that was mixed in to estimate leakage. ``draw`` is None where a person chose the case, and on
    reviews from before draws were recorded. ``reason`` and ``comment`` say why, where the reviewer
    did. ``login`` says how the reviewer is known; reviews from before it have a claimed name.
    ``description`` is what the reviewer would have the schema say of the field; the schema is the
    one that the verdict's ``extractor.schema_digest`` names.

    ``approvals`` is the rule in force when it was made: so many different people have to decide the
    same before a value passes that no scorer let pass. ``double_blind`` is the probability with
    which the case was drawn for two reviewers who do not see each other's decision, on the reviews
    that were made so.
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
    reason: DecisionReason | None = Field(default=None, exclude_if=is_none)
    comment: Text = Field(default="", max_length=MAX_COMMENT, exclude_if=is_empty, repr=False)
    description: Text = Field(
        default="", max_length=MAX_DESCRIPTION, exclude_if=is_empty, repr=False
    )
    login: ReviewerLogin | None = Field(default=None, exclude_if=is_none)
    approvals: int = Field(default=1, ge=1, le=MAX_APPROVALS, exclude_if=is_first)
    double_blind: Probability | None = Field(default=None, gt=0, exclude_if=is_none)

    @property
    def person(self) -> str:
        """Who decided (see `person`)."""
        return person(self.reviewer, self.login)

    @model_validator(mode="after")
    def _correction_has_a_value(self) -> Self:
        if (self.decision == "corrected") != (self.value is not None):
            raise ValueError("a correction carries the corrected value, nothing else does")
        if self.reason and self.decision not in ("insufficient", "corrected"):
            raise ValueError("only a refusal or a correction has a reason")
        return self


class JudgedValue(Contract):
    """A value and what it was judged by, as scorers are asked (see `scoring_worker.Pair`)."""

    entity_type: EntityType
    value: Json
    passage: Text = Field(repr=False)
    before: Text = Field(default="", repr=False)
    after: Text = Field(default="", repr=False)
    between: tuple[Text, ...] = Field(default=(), repr=False)
    heading: Text = Field(default="", repr=False)
    column_head: Text = Field(default="", repr=False, exclude_if=is_empty)
    row_head: Text = Field(default="", repr=False, exclude_if=is_empty)
    language: str | None = None
    day_first: bool | None = None
    field: SchemaField | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Self | None:
        """What ``verdict`` was made on. None for a claim, which has no type to be remembered by,
        and where the quote was not found."""
        alignment = verdict.alignment
        if verdict.entity_type == CLAIM_TYPE or alignment is None or not alignment.found:
            return None
        shared = {name: getattr(alignment, name) for name in _OF_ALIGNMENT}
        said = {"entity_type": verdict.entity_type, "value": verdict.value, "field": verdict.field}
        return cls.model_validate(said | shared)


_OF_ALIGNMENT = JudgedValue.model_fields.keys() - {"entity_type", "value", "field"}


class StandingDecision(Event):
    """Topic ``decisions`` (compacted by ``case_id``): what people's reviews of a case came to.

    It is written once the effect of a decision is out, so that nobody has to publish that effect
    again when the verdicts have passed their retention, and so that what is judged later can be
    held to it. ``decision`` is None where it was taken back. ``review_id`` names the review that
    made it so, ``judged`` the scorer's verdict that it was applied to.

    ``asked``, ``votes`` (what each reviewer says of the value as extracted) and ``decided_at`` are
    for the scorers' memory: it holds what is in force here and nothing else, so that an undo or a
    tombstone takes a case out of both. They are absent in records of before, and where the decision
    was taken back.

    ``approvals`` people had to decide the same before a value passes that no scorer let pass, and
    ``approvers`` did (see `Review`). So a later scorer's stop of a value that one person confirmed
    while it passed anyway waits for the second.
    """

    case_id: EventId
    doc_id: EventId
    decision: Judgement | None
    value: Json = None
    reviewer: Text = Field(min_length=1, max_length=200)
    review_id: EventId
    judged: EventId
    asked: JudgedValue | None = Field(default=None, exclude_if=is_none)
    votes: tuple[ReviewerVote, ...] = Field(default=(), max_length=MAX_VOTES, exclude_if=is_empty)
    decided_at: datetime | None = Field(default=None, exclude_if=is_none)
    approvals: int = Field(default=1, ge=1, le=MAX_APPROVALS, exclude_if=is_first)
    approvers: int = Field(default=1, ge=0, exclude_if=is_first)

    @model_validator(mode="after")
    def _correction_has_a_value(self) -> Self:
        if (self.decision == "corrected") != (self.value is not None):
            raise ValueError("a correction carries the corrected value, nothing else does")
        return self

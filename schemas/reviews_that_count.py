"""Which decision stands: the one reading of the topic ``reviews``, for everyone who reads it.

A reviewer's latest decision on a case replaces his earlier ones; an undo takes back the decision
that it names, and only while that is the reviewer's latest. Of several reviewers' decisions the
latest stands. A skip is a decision to have no opinion.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from .base import Json
from .ids import canonical_json, stable_id
from .review import Review
from .verdict import Verdict

JUDGED = frozenset(("supports", "insufficient", "corrected"))
"""The decisions that say something about the claim."""


def case_id(verdict: Verdict) -> str:
    """One extraction with one value in one version of a document's text is one case, whoever
    scored it: what was decided on a case holds until its text or its value changes."""
    corrected = verdict.review.corrects if verdict.review else None
    return _case(verdict, verdict.extraction_id, verdict.value if corrected is None else corrected)


def rival_cases(verdict: Verdict) -> tuple[str, ...]:
    """The cases that ``verdict`` is in conflict with."""
    return tuple([_case(verdict, c.extraction_id, c.value) for c in verdict.conflicts])


def _case(verdict: Verdict, extraction_id: str, value: Json) -> str:
    digest = verdict.document.digest if verdict.document else ""
    return stable_id("case", verdict.doc_id, digest, extraction_id, canonical_json(value))


def moment(when: datetime) -> datetime:
    """Foreign producers may leave out the time zone; ours is always UTC."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def in_order(reviews: Iterable[Review]) -> list[Review]:
    """``reviews`` as they were made."""
    return sorted(reviews, key=lambda review: (moment(review.decided_at), review.id))


def opinions(reviews: Iterable[Review]) -> dict[str, Review]:
    """The decision in force of each reviewer of one case, in the order they were made."""
    in_force: dict[str, Review] = {}
    for review in in_order(reviews):
        current = in_force.pop(review.reviewer, None)
        if review.decision != "undone":
            in_force[review.reviewer] = review
        elif current and current.id != review.supersedes:
            in_force[review.reviewer] = current
    return in_force


def standing(reviews: Iterable[Review]) -> Review | None:
    """The decision on one case that stands, or None while nobody judged it."""
    judged = [review for review in opinions(reviews).values() if review.decision in JUDGED]
    return in_order(judged)[-1] if judged else None

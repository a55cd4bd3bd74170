"""Which decision holds: the one reading of the topic ``reviews``, for everyone who reads it.

A reviewer's latest decision on a case replaces his earlier ones; an undo takes back the decision
that it names, and only while that is its reviewer's latest: one's own, or as a lead another's. Of
several reviewers' decisions the latest counts. A skip is a decision to have no opinion.

Four eyes: where a review says that several people have to approve, a value that the scorer stopped
passes only once so many decided the same, and a corrected value too. A refusal needs nobody else.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from .base import Json
from .ids import canonical_json, stable_id
from .review import Review, ReviewDecision
from .verdict import Decision, Verdict

JUDGED = frozenset(("supports", "insufficient", "corrected"))
"""The decisions that say something about the claim."""


def case_id(verdict: Verdict) -> str:
    """One extraction with one value in one version of a document's text is one case, no matter who
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
    """The decision in force of each person (`Review.person`) on one case, in the order they were
    made."""
    in_force: dict[str, Review] = {}
    for review in in_order(reviews):
        if review.decision != "undone":
            in_force.pop(review.person, None)
            in_force[review.person] = review
            continue
        for name, current in list(in_force.items()):
            if current.id == review.supersedes:
                del in_force[name]
    return in_force


def standing(reviews: Iterable[Review], scorer_says: Decision | None = None) -> Review | None:
    """The decision in force on one case, or None while nobody judged it, or while it waits for
    another person. ``scorer_says`` is what the scorer decided that it is applied to; None: what
    each review was made on. A correction that waits counts as a refusal."""
    said = list(judged_by(reviews).values())
    counted = [_as_far_as_approved(one, said, scorer_says) for one in said]
    standing_ones = in_order(one for one in counted if one)
    return standing_ones[-1] if standing_ones else None


def unapproved(reviews: Iterable[Review], scorer_says: Decision | None = None) -> Review | None:
    """The last decision on a case, where it waits for another person to decide the same."""
    said = list(judged_by(reviews).values())
    if not said:
        return None
    last = in_order(said)[-1]
    return None if _as_far_as_approved(last, said, scorer_says) is last else last


def waits(reviews: Iterable[Review], scorer_says: Decision | None = None) -> bool:
    """Whether a case that somebody judged waits for another person: to approve, or to review it
    without seeing the first decision."""
    reviews = list(reviews)
    said = judged_by(reviews)
    alone = len(said) == 1 and all(one.double_blind is not None for one in said.values())
    return alone or unapproved(reviews, scorer_says) is not None


def _as_far_as_approved(
    one: Review, said: Sequence[Review], scorer_says: Decision | None
) -> Review | None:
    enough = one.approvals <= approvers(one, said)
    if enough or not lets_pass(one.decision, scorer_says or one.verdict.decision):
        return one
    if one.decision == "corrected":
        return one.model_copy(update={"decision": "insufficient", "value": None, "approvals": 1})
    return None


def judged_by(reviews: Iterable[Review]) -> dict[str, Review]:
    """`opinions`, without those who skipped the case."""
    return {name: one for name, one in opinions(reviews).items() if one.decision in JUDGED}


def lets_pass(decision: ReviewDecision | None, scorer_says: Decision) -> bool:
    """Whether a person's ``decision`` puts a value onto ``accepted`` that the scorer did not."""
    return decision == "corrected" or (decision == "supports" and scorer_says != "accepted")


def approvers(review: Review, said: Iterable[Review]) -> int:
    """How many people decided what ``review`` does, of those in force that are ``said``. Where more
    than one has to, a name that is only claimed is nobody."""
    alike = {one.person: one for one in said if _same(one, review)}
    if review.approvals > 1:
        return sum(one.login is not None and one.login.proven for one in alike.values())
    return len(alike)


def _same(one: Review, other: Review) -> bool:
    values = canonical_json(one.value), canonical_json(other.value)
    return one.decision == other.decision and values[0] == values[1]

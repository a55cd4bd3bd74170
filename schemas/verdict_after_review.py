"""What a decision means downstream: the verdict that it leads to, if any.

Pure, and a function of what the topics hold, so that a restart comes to the same answer.
"""

from collections.abc import Sequence

from .base import Json
from .hypothesis import hypothesis
from .ids import canonical_json, stable_id
from .memory import MAX_VOTES, ReviewerVote
from .realignment import asked_digest
from .reason import Reason
from .review import JudgedValue, Review, StandingDecision
from .reviews_that_count import (
    JUDGED,
    approvers,
    case_id,
    in_order,
    lets_pass,
    moment,
    opinions,
    standing,
)
from .verdict import Decision, ReviewTrail, Verdict


def decision_on(judged: Verdict, reviews: Sequence[Review]) -> StandingDecision | None:
    """What the ``reviews`` of a case come to, applied to a scorer's verdict on it.

    None where nobody ever decided: skips leave everything as it was.
    """
    causes = in_order(review for review in reviews if review.decision != "skipped")
    if not causes:
        return None
    stands = standing(reviews, judged.decision)
    decision: dict[str, object] = {
        "case_id": case_id(judged),
        "doc_id": judged.doc_id,
        "decision": stands.decision if stands else None,
        "value": stands.value if stands else None,
        "reviewer": (stands or causes[-1]).reviewer,
        "review_id": causes[-1].id,
        "judged": judged.id,
    }
    if stands:
        decision |= {
            "asked": JudgedValue.of(judged),
            "votes": _votes(reviews),
            "decided_at": moment(stands.decided_at),
        }
    if stands and stands.approvals > 1:
        said = opinions(reviews).values()
        decision |= {"approvals": stands.approvals, "approvers": approvers(stands, said)}
    return StandingDecision.model_validate(decision)


def _votes(reviews: Sequence[Review]) -> tuple[ReviewerVote, ...]:
    """What each reviewer says of the value as extracted, the latest last."""
    said = [one for one in opinions(reviews).values() if one.decision in JUDGED]
    return tuple(
        [
            ReviewerVote(reviewer=one.reviewer, supported=one.decision == "supports")
            for one in said[-MAX_VOTES:]
        ]
    )


def next_verdict(
    judged: Verdict, standing: Review | None, cause: Review, published: Verdict | None
) -> Verdict | None:
    """The verdict to publish, or None where downstream already knows.

    Args:
        judged: the scorer's verdict that the decision is applied to.
        standing: the decision in force (see `safepassage.schemas.reviews_that_count`).
        cause: the review that put it into force: the last one on the case.
        published: the latest verdict that a review of this case led to before.
    """
    wanted = _wanted(judged, standing)
    current = published or judged
    if _says(current) == _compared(wanted):
        return None
    trail = ReviewTrail(
        review_id=cause.id,
        reviewer=cause.reviewer,
        corrects=judged.value if _corrects(standing) else None,
        retracts=current.id if current.decision == "accepted" else None,
        judged=judged.id,
        stands=standing is not None,
    )
    # What corrects a worker's late word is another verdict than the one before that word.
    late = [current.id] if current.review and current.review.in_place else []
    name = stable_id("reviewed-verdict", judged.id, cause.id, *late)
    return _reviewed(judged, wanted, name, trail)


def verdict_in_place(judged: Verdict, decision: StandingDecision) -> Verdict | None:
    """What to publish instead of a scorer's new verdict on a case that a person decided before,
    or None where the two agree (a person's decision in force outranks every later scorer's), and
    where the decision waits for another person to let this verdict pass."""
    if decision.approvers < decision.approvals and lets_pass(decision.decision, judged.decision):
        return None
    wanted = _wanted(judged, decision)
    if _says(judged) == _compared(wanted):
        return None
    trail = ReviewTrail(
        review_id=decision.review_id,
        reviewer=decision.reviewer,
        corrects=judged.value if _corrects(decision) else None,
        judged=judged.id,
        in_place=True,
    )
    name = stable_id("verdict-in-place", judged.id, decision.review_id)
    return _reviewed(judged, wanted, name, trail)


def decision_taken_over(judged: Verdict) -> StandingDecision | None:
    """What a person decided of the value in an earlier version of the document, where it holds for
    a scorer's verdict in this one: everything that was judged is equal, byte for byte. None where
    nobody decided or something differs."""
    former = judged.former
    if former is None or former.decision is None or former.decision.decision is None:
        return None
    if former.asked is None or former.asked != asked_digest(judged):
        return None
    return StandingDecision(
        case_id=case_id(judged),
        doc_id=judged.doc_id,
        decision=former.decision.decision,
        value=former.decision.value,
        reviewer=former.decision.reviewer,
        review_id=former.decision.review_id,
        judged=judged.id,
    )


def verdict_taken_back(judged: Verdict) -> Verdict | None:
    """A scorer's verdict where the decision on the earlier version was taken back since: it counts
    again, and says so to anyone who holds the person's. None where nobody took anything back."""
    former = judged.former
    if former is None or former.decision is None or former.decision.decision is not None:
        return None
    trail = ReviewTrail(
        review_id=former.decision.review_id,
        reviewer=former.decision.reviewer,
        judged=judged.id,
        stands=False,
        in_place=True,
    )
    name = stable_id("verdict-in-place", judged.id, former.decision.review_id)
    return _reviewed(judged, _wanted(judged, None), name, trail)


_Wanted = tuple[Decision, Json, tuple[Reason, ...]]


def _reviewed(judged: Verdict, wanted: _Wanted, name: str, trail: ReviewTrail) -> Verdict:
    decision, value, reasons = wanted
    corrected = trail.corrects is not None
    fields = dict(judged)
    fields |= {
        "id": name,
        "decision": decision,
        "value": value,
        "hypothesis": hypothesis(judged.entity_type, value) if corrected else judged.hypothesis,
        "reasons": reasons,
        "review": trail,
    }
    return Verdict.model_validate(fields)


def _wanted(judged: Verdict, stands: Review | StandingDecision | None) -> _Wanted:
    machine = judged.decision, judged.value, judged.reasons
    if stands is None:
        return machine
    if stands.decision == "corrected":
        return "accepted", stands.value, ("review_corrected",)
    accepted = judged.decision == "accepted"
    if stands.decision == "supports" and not accepted:
        return "accepted", judged.value, ("review_confirmed",)
    if stands.decision == "insufficient" and accepted:
        return "quarantined", judged.value, ("review_rejected",)
    return machine


def _corrects(stands: Review | StandingDecision | None) -> bool:
    return stands is not None and stands.decision == "corrected"


def _says(verdict: Verdict) -> tuple[Decision, str]:
    return verdict.decision, canonical_json(verdict.value)


def _compared(wanted: _Wanted) -> tuple[Decision, str]:
    return wanted[0], canonical_json(wanted[1])

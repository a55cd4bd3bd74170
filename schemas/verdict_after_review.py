"""What a decision means downstream: the verdict that it leads to, if any.

Pure, and a function of what the topics hold, so that a restart comes to the same answer.
"""

from __future__ import annotations

from .base import Json
from .hypothesis import hypothesis
from .ids import canonical_json, stable_id
from .review import Review
from .verdict import Decision, Reason, ReviewTrail, Verdict


def next_verdict(
    judged: Verdict, standing: Review | None, cause: Review, published: Verdict | None
) -> Verdict | None:
    """The verdict to publish, or None where downstream already knows.

    Args:
        judged: the scorer's verdict that the reviewers saw.
        standing: the decision that stands (see `schemas.reviews_that_count`).
        cause: the review that made it stand: the last one on the case.
        published: the latest verdict that a review of this case led to before.
    """
    decision, value, reasons = _wanted(judged, standing)
    current = published or judged
    if (decision, canonical_json(value)) == (current.decision, canonical_json(current.value)):
        return None
    corrected = standing is not None and standing.decision == "corrected"
    fields = dict(judged)
    fields |= {
        "id": stable_id("reviewed-verdict", judged.id, cause.id),
        "decision": decision,
        "value": value,
        "hypothesis": hypothesis(judged.entity_type, value) if corrected else judged.hypothesis,
        "reasons": reasons,
        "review": ReviewTrail(
            review_id=cause.id,
            reviewer=cause.reviewer,
            corrects=judged.value if corrected else None,
            retracts=current.id if current.decision == "accepted" else None,
        ),
    }
    return Verdict.model_validate(fields)


def _wanted(judged: Verdict, standing: Review | None) -> tuple[Decision, Json, tuple[Reason, ...]]:
    machine = judged.decision, judged.value, judged.reasons
    if standing is None:
        return machine
    if standing.decision == "corrected":
        return "accepted", standing.value, ("review_corrected",)
    accepted = judged.decision == "accepted"
    if standing.decision == "supports" and not accepted:
        return "accepted", judged.value, ("review_confirmed",)
    if standing.decision == "insufficient" and accepted:
        return "quarantined", judged.value, ("review_rejected",)
    return machine

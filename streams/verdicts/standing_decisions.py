"""What people decided, held against what scorers say later: the topic ``decisions``, followed.

A person's standing decision outranks every later scorer's verdict. So every judge reads all
decisions before it judges anything, follows the topic from then on, and publishes the person's
verdict in place of a scorer's that differs. A decision that is made while an extraction is being
judged comes too late for that; the console sees such verdicts and corrects them.
"""

import structlog

from safepassage.schemas import StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import (
    decision_taken_over,
    verdict_in_place,
    verdict_taken_back,
)

from ..kafka.topic_table import TopicTable
from ..topics import DECISIONS

log = structlog.get_logger(__name__)


class StandingDecisions(TopicTable[StandingDecision]):
    """The latest decision on each case."""

    topic = DECISIONS
    model = StandingDecision

    def key_of(self, event: StandingDecision) -> str:
        return event.case_id

    def put(self, event: StandingDecision) -> None:
        """Replace the decision on a case; one that was taken back takes it out."""
        if event.decision is None:
            self.forget(event.case_id)
        else:
            super().put(event)

    def settle(self, verdict: Verdict) -> Verdict:
        """A scorer's verdict, or the one that a person's decision puts in its place."""
        decision = self.get(case_id(verdict)) or decision_taken_over(verdict)
        instead = verdict_in_place(verdict, decision) if decision else verdict_taken_back(verdict)
        if instead is None:
            return verdict
        log.info("decided_before", verdict_id=instead.id, review_id=instead.review.review_id)  # type: ignore[union-attr]
        return instead

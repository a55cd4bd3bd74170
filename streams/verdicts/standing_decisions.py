"""What people decided, held against what scorers say later: the topic ``decisions``, followed.

A person's standing decision outranks every later scorer's verdict. So every judge reads all
decisions before it judges anything, follows the topic from then on, and publishes the person's
verdict in place of a scorer's that differs. A decision that is made while an extraction is being
judged comes too late for that; the console sees such verdicts and corrects them.

The table is a temporary database: its memory is bounded, however many decisions there are, and a
look-up takes some microseconds.
"""

from collections.abc import Callable

import structlog
from aiokafka import TopicPartition

from safepassage.schemas import StandingDecision, Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import (
    decision_taken_over,
    verdict_in_place,
    verdict_taken_back,
)
from safepassage.streams.kafka.reading import follow_topics, read_topics
from safepassage.streams.kafka.records import Record, UnreadableRecord, decode
from safepassage.streams.runtime.local_database import TemporaryDatabase
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DECISIONS

log = structlog.get_logger(__name__)

_SCHEMA = "CREATE TABLE decisions (case_id TEXT PRIMARY KEY, decision BLOB NOT NULL) WITHOUT ROWID"


class StandingDecisions(TemporaryDatabase):
    """The latest decision on each case. For one thread."""

    def __init__(self) -> None:
        self.next_offset = 0
        self.on_change: Callable[[str], None] = lambda _: None
        """Told the case of every decision that is noted."""
        super().__init__(_SCHEMA)

    def note(self, record: Record) -> None:
        """Count one record of the topic. What is no decision is left out; a tombstone takes the
        decision on its case out."""
        self.next_offset = record.offset + 1
        if record.value is None:
            self._forget((record.key or b"").decode("utf-8", "replace"))
            return
        try:
            decision = decode(record, StandingDecision).event
        except UnreadableRecord as error:
            log.warning("not_a_decision", problem=str(error), offset=record.offset)
            return
        if decision.decision is None:
            self._forget(decision.case_id)
            return
        self.connection.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?, ?)", (decision.case_id, decision.to_json())
        )
        self.on_change(decision.case_id)

    def decision(self, case_id: str) -> StandingDecision | None:
        """What is on a case; None where nothing does."""
        row = self.one("SELECT decision FROM decisions WHERE case_id = ?", case_id)
        return StandingDecision.model_validate_json(row[0]) if row else None

    def cases(self) -> list[str]:
        """Every case on which a decision holds."""
        return [row[0] for row in self.connection.execute("SELECT case_id FROM decisions")]

    def _forget(self, case_id: str) -> None:
        self.connection.execute("DELETE FROM decisions WHERE case_id = ?", (case_id,))
        self.on_change(case_id)

    def settle(self, verdict: Verdict) -> Verdict:
        """A scorer's verdict, or the one that a person's decision puts in its place."""
        decision = self.decision(case_id(verdict)) or decision_taken_over(verdict)
        instead = verdict_in_place(verdict, decision) if decision else verdict_taken_back(verdict)
        if instead is None:
            return verdict
        log.info("decided_before", verdict_id=instead.id, review_id=instead.review.review_id)  # type: ignore[union-attr]
        return instead


async def decisions_in_force(settings: Settings) -> StandingDecisions:
    """Every decision in force now.

    Raises:
        UnknownTopic: the topic is missing.
    """
    held = StandingDecisions()
    async for record in read_topics(settings, [DECISIONS]):
        held.note(record)
    return held


async def follow_decisions(settings: Settings, held: StandingDecisions) -> None:
    """Keep ``held`` up to date, without end."""
    start = {TopicPartition(settings.topic(DECISIONS.name), 0): held.next_offset}
    async for record in follow_topics(settings, [DECISIONS], start=start):
        held.note(record)

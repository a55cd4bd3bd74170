"""The drift role: raises warnings on the topic ``warnings`` when verdicts drift.

What was counted is kept in memory only: after a restart the reference is learnt anew from what
comes then. With several processes each watches its own partitions. A backlog is not counted: of
two topics that are caught up with, one runs ahead, and a window would hold too much of it.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog

from safepassage.schemas import DriftWarning, Verdict, stable_id
from safepassage.streams.delivery.record_outcomes import Outcome, Role
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.topics import READ_BY, WARNINGS

from .detector import DriftDetector, Shift

log = structlog.get_logger(__name__)

BATCH_RECORDS = 1_000
BACKLOG_SECONDS = 120.0


def drift_role(detector: DriftDetector, clock: Callable[[], float] = time.time) -> Role:
    """``accepted`` and ``quarantine`` to ``warnings``."""

    def outcome(received: Received[Verdict], oldest: float) -> list[Outgoing]:
        when = received.record.timestamp / 1000
        if when < oldest:
            return []
        shifts = detector.see(received.event, when)
        return [_warning(shift, received.record) for shift in shifts]

    async def step(batch: Sequence[Received[Verdict]]) -> list[Outcome]:
        oldest = clock() - BACKLOG_SECONDS
        in_time = sorted(range(len(batch)), key=lambda position: batch[position].record.timestamp)
        outcomes = {position: outcome(batch[position], oldest) for position in in_time}
        return [outcomes[position] for position in range(len(batch))]

    return Role("drift", "report", READ_BY["drift"], step, batch=BATCH_RECORDS)


def _warning(shift: Shift, record: Record) -> Outgoing:
    where = record.coordinates
    log.warning("drift", measure=shift.measure, entity_type=shift.entity_type, detail=shift.detail)
    warning = DriftWarning(
        id=stable_id(
            "warning",
            shift.measure,
            shift.entity_type or "",
            shift.revision or "",
            *(where.topic, str(where.partition), str(where.offset)),
        ),
        measure=shift.measure,
        entity_type=shift.entity_type,
        scorer_revision=shift.revision,
        observed=shift.observed,
        expected=shift.expected,
        limit=shift.limit,
        detail=shift.detail,
        # The record's time, not the clock's: delivered again, it is the same warning.
        raised_at=datetime.fromtimestamp(record.timestamp / 1000, UTC),
    )
    return Outgoing(WARNINGS, shift.measure, warning)

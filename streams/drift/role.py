"""The drift role: raises warnings on the topic ``warnings`` when verdicts drift.

Three measures, each over all types and for each entity type by itself: the distribution of the
scores, the share that is stopped, and the share of found quotes that are not letter by letter in
the document. The first verdicts of a scorer's revision are the reference; every following window is
held against it. Both are kept in memory only.

A backlog is not counted: of two topics that are caught up with, one runs ahead, and a window would
hold too much of it.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal

import structlog

from safepassage.schemas import DriftWarning, Verdict, stable_id
from safepassage.scoring_worker.evaluation.distributions import (
    BINS,
    bin_of,
    ks_distance,
    ks_limit,
    population_stability,
)

from ..delivery.record_outcomes import Outcome, Role
from ..kafka.records import Outgoing, Received, Record
from ..topics import READ_BY, WARNINGS

Measure = Literal["score_distribution", "quarantine_rate", "mistranscription_rate"]


@dataclass(frozen=True, slots=True)
class DriftLimits:
    """Sizes in verdicts, and what counts as drift.

    The reference and a window also span at least ``span`` seconds: accepted and stopped verdicts
    come from two topics, of which one may be a little ahead.

    ``psi`` is a population stability index, ``rate`` a difference of shares. ``z`` is how many
    standard errors a difference of shares must be, and ``alpha`` the probability with which
    the Kolmogorov–Smirnov test may err on scores. At most ``series`` measures of types are kept.
    """

    reference: int = 1_000
    window: int = 500
    span: float = 30.0
    psi: float = 0.25
    rate: float = 0.1
    z: float = 4.0
    alpha: float = 0.001
    series: int = 600


@dataclass(frozen=True, slots=True)
class Shift:
    """A window that differs from the reference: PSI for scores, else a share in [0, 1]."""

    measure: Measure
    entity_type: str | None
    scorer_revision: str | None
    observed: float
    expected: float
    limit: float
    detail: str


@dataclass(slots=True)
class _Series:
    reference: list[int]
    window: list[int]
    begun: float
    learning: bool = True
    drifted: bool = False


_Key = tuple[Measure, str | None, str | None]


@dataclass(slots=True)
class DriftDetector:
    """Counts verdicts and tells when they drift. Its memory is bounded by ``limits.series``."""

    limits: DriftLimits = field(default_factory=DriftLimits)
    _series: OrderedDict[_Key, _Series] = field(default_factory=OrderedDict)

    def see(self, verdict: Verdict, when: float) -> list[Shift]:
        """Count ``verdict``, written at ``when`` (in seconds); returns what began to drift.

        A drift that goes on is told once; it is told again after a window within the limits.
        A person's decisions are not counted.
        """
        if verdict.review:
            return []
        shifts = []
        for measure, place, bins in _measured(verdict):
            # Mistranscriptions are the extractor's: another scorer is no new reference for them.
            revision = None if measure == "mistranscription_rate" else verdict.scorer_revision
            for entity_type in (None, verdict.entity_type):
                shift = self._count((measure, entity_type, revision), place, bins, when)
                if shift:
                    shifts.append(shift)
        return shifts

    def _count(self, key: _Key, place: int, bins: int, when: float) -> Shift | None:
        series = self._series.setdefault(key, _Series([0] * bins, [0] * bins, when))
        self._series.move_to_end(key)
        if len(self._series) > self.limits.series:
            self._series.popitem(last=False)
        series.window[place] += 1
        wanted = self.limits.reference if series.learning else self.limits.window
        if sum(series.window) < wanted or when - series.begun < self.limits.span:
            return None
        window, series.window, series.begun = series.window, [0] * bins, when
        if series.learning:
            series.reference, series.learning = window, False
            return None
        compare = _compare_scores if key[0] == "score_distribution" else _compare_rates
        shift = compare(key, series.reference, window, self.limits)
        told, series.drifted = series.drifted, shift is not None
        return None if told else shift


def _measured(verdict: Verdict) -> Iterator[tuple[Measure, int, int]]:
    """Each measure that ``verdict`` counts for: the bin it falls into, of how many."""
    if verdict.score is not None:
        yield "score_distribution", bin_of(verdict.score), BINS
    yield "quarantine_rate", int(verdict.decision != "accepted"), 2
    alignment = verdict.alignment
    if alignment and alignment.found and alignment.route != "retrieved":
        yield "mistranscription_rate", int(alignment.score < 1.0), 2


def _compare_scores(
    key: _Key, reference: list[int], window: list[int], limits: DriftLimits
) -> Shift | None:
    psi, distance = population_stability(reference, window), ks_distance(reference, window)
    if psi <= limits.psi or distance <= ks_limit(sum(reference), sum(window), limits.alpha):
        return None
    detail = f"PSI {psi:.2f}, largest difference of the cumulated shares {distance:.2f}"
    return Shift(*key, observed=psi, expected=0.0, limit=limits.psi, detail=detail)


def _compare_rates(
    key: _Key, reference: list[int], window: list[int], limits: DriftLimits
) -> Shift | None:
    n, m = sum(reference), sum(window)
    expected, observed = reference[1] / n, window[1] / m
    pooled = (reference[1] + window[1]) / (n + m)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    difference = abs(observed - expected)
    if difference <= limits.rate or difference <= limits.z * error:
        return None
    detail = f"{observed:.1%} of the last {m}, {expected:.1%} of the first {n}"
    return Shift(*key, observed=observed, expected=expected, limit=limits.rate, detail=detail)


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
            shift.scorer_revision or "",
            *(where.topic, str(where.partition), str(where.offset)),
        ),
        **asdict(shift),
        # The record's time, not the clock's: delivered again, it is the same warning.
        raised_at=datetime.fromtimestamp(record.timestamp / 1000, UTC),
    )
    return Outgoing(WARNINGS, shift.measure, warning)

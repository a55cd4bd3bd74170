"""The report on a replay, as it is written to JSON; terminal and page are made of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from safepassage.schemas import Decision, Reason
from safepassage.schemas.base import Contract
from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.risk.accepted import AcceptedRisk

from .plan import ReplayState


class Flip(Contract):
    """How many decisions changed one way, in one group (a type, a model, a reason)."""

    group: str
    before: Decision
    after: Decision
    count: int = Field(ge=1)


class Example(Contract):
    """One extraction whose decision changed. It quotes a document: treat it as such."""

    extraction_id: str
    doc_id: str
    entity_type: str
    hypothesis: str
    passage: str
    before: Decision
    after: Decision
    reasons_before: tuple[Reason, ...]
    reasons_after: tuple[Reason, ...]
    score_before: float | None
    score_after: float | None
    reviewed: Literal["supports", "insufficient"] | None


class Rate(Contract):
    """A proportion with Wilson's 95% interval; ``share`` is None without any trial."""

    successes: int
    total: int
    share: float | None
    low: float
    high: float

    @classmethod
    def of(cls, successes: int, total: int) -> Rate:
        proportion = Proportion(successes, total)
        low, high = proportion.interval
        return cls(successes=successes, total=total, share=proportion.share, low=low, high=high)

    def __str__(self) -> str:
        if self.share is None:
            return "no reviews"
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}] of {self.total}"


class LabelAgreement(Contract):
    """Decisions against people's: ``recall`` of the unsupported, ``precision`` of stops."""

    accepted_supported: int
    accepted_unsupported: int
    stopped_supported: int
    stopped_unsupported: int
    agreeing: Rate
    recall: Rate
    precision: Rate


class Cost(Contract):
    """What the scorers of one side took, where they say: LLMs in dollars, all in milliseconds."""

    usd: float | None
    mean_milliseconds: float | None


class Side(Contract):
    """One side's verdicts on what both judged; ``passed`` is what passes without a person."""

    revisions: dict[str, int]
    decisions: dict[str, int]
    reasons: dict[str, int]
    cost: Cost
    passed: Rate


class ScoreChange(Contract):
    """Scores in 20 equal bins of [0, 1] on both sides, and how far apart they lie."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    population_stability: float
    ks_distance: float


class Measured(Contract):
    """The run itself: records read, verdicts made, time, and the latency of a batch."""

    records: int
    verdicts: int
    skipped: int
    seconds: float
    records_per_second: float | None
    batch_milliseconds_p50: float | None
    batch_milliseconds_p99: float | None


def measured(state: ReplayState) -> Measured:
    batches = sorted(state.batch_milliseconds)
    p50, p99 = (batches[int(part * len(batches))] if batches else None for part in (0.5, 0.99))
    return Measured(
        records=state.verdicts + state.skipped,
        verdicts=state.verdicts,
        skipped=state.skipped,
        seconds=state.seconds,
        records_per_second=state.verdicts / state.seconds if state.seconds else None,
        batch_milliseconds_p50=p50,
        batch_milliseconds_p99=p99,
    )


class ReplayReport(Contract):
    """What changed, why, and who was right.

    ``unmatched`` counts extractions that only the replay judged. ``flips_by_reason`` groups by
    the reasons that came, or that went where an extraction is now accepted. ``risk_before`` and
    ``risk_after`` are of what passes without a person.
    """

    subject: str
    compared: int
    unmatched: int
    before: Side
    after: Side
    flips: tuple[Flip, ...]
    flips_by_type: tuple[Flip, ...]
    flips_by_model: tuple[Flip, ...]
    flips_by_reason: tuple[Flip, ...]
    examples: tuple[Example, ...]
    scores: ScoreChange
    agreement_before: LabelAgreement
    agreement_after: LabelAgreement
    risk_before: AcceptedRisk | None = None
    risk_after: AcceptedRisk | None = None
    run: Measured | None = None

    @property
    def flipped(self) -> int:
        return sum(flip.count for flip in self.flips)

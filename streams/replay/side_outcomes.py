"""What one set of verdicts says of each extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safepassage.schemas import Decision, Reason, Verdict

UNKNOWN_MODEL = "(not recorded)"


@dataclass(frozen=True, slots=True)
class SideOutcome:
    """What one side said of an extraction."""

    decision: Decision
    reasons: tuple[Reason, ...]
    score: float | None
    entity_type: str
    model: str
    revision: str | None
    usd: float | None
    milliseconds: float | None

    @classmethod
    def of(cls, verdict: Verdict) -> SideOutcome:
        usages = [trail.usage for trail in verdict.scorers if trail.usage]
        prices = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return cls(
            decision=verdict.decision,
            reasons=verdict.reasons,
            score=verdict.score,
            entity_type=verdict.entity_type,
            model=verdict.extractor.model if verdict.extractor else UNKNOWN_MODEL,
            revision=verdict.scorer_revision,
            usd=sum(prices) if prices else None,
            milliseconds=sum(usage.milliseconds for usage in usages) if usages else None,
        )


OneSide = Mapping[str, SideOutcome]

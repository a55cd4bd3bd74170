"""Keeps the promise live: where spot checks show that it broke, less passes without a person.

The operator asks for it (SAFEPASSAGE_RISK). Whether it broke is a test by betting, which may be
looked at as often as one likes. What follows is a release of the scorer in force with higher
thresholds (`scorers.raised`): the workers obey it as any other, it survives restarts, `rollback`
and `promote` end it, and a warning says why.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from safepassage.schemas import DriftWarning, ScorerRelease, stable_id
from safepassage.schemas.decision_rule import in_mode
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..kafka.publisher import Publisher
from ..kafka.records import Outgoing
from ..release.releases import InForce, ReleaseLost, releases_in_force
from ..runtime import metrics
from ..settings import Settings
from ..topics import SCORERS, WARNINGS
from .index.measures import LiveRisk, live_risk, stricter_threshold
from .index.store import CaseStore

log = structlog.get_logger(__name__)

BY = "safepassage"


@dataclass(frozen=True, slots=True)
class Promise:
    store: CaseStore
    publisher: Publisher
    settings: Settings

    def risks(self, revision: str | None = None) -> list[LiveRisk]:
        asked, confidence = self.settings.risk, self.settings.risk_confidence
        return live_risk(self.store, revision or self.store.latest[1], asked, confidence)

    async def watch(self, *, acts: bool = True) -> ScorerRelease | None:
        """Measure; where the promise broke and this console ``acts``, release stricter routing."""
        held = await releases_in_force(self.settings) if self.settings.risk else InForce()
        try:
            live = held.live
        except ReleaseLost as error:
            log.warning("promise_not_watched", detail=str(error))
            return None
        revision = (live.revision if live else None) or self.store.latest[1]
        revision = in_mode(revision, strict=self.settings.strict)  # as its verdicts name it
        risks = self.risks(revision)
        every = risks[0]
        metrics.set_estimate(metrics.RISK, every.wrong.share or 0.0, every.bounds)
        passed = every.passed
        metrics.set_estimate(metrics.ACCEPTED_SHARE, passed.share or 0.0, passed.interval)
        metrics.PROMISE_CERTIFIED.set(float(every.certified))
        broken = [risk for risk in risks if risk.broken]
        if not acts or not broken or self.settings.risk is None:
            return None
        # The types that broke it, or all where no type differs.
        parts = [risk for risk in broken if risk.entity_type] or broken
        return await self._tighten(live, revision, parts)

    async def _tighten(
        self, live: ScorerRelease | None, revision: str, parts: list[LiveRisk]
    ) -> ScorerRelease:
        asked, confidence = self.settings.risk or 0.0, self.settings.risk_confidence
        limits = {
            part.entity_type.casefold(): stricter_threshold(
                self.store, revision, part.entity_type, asked, confidence
            )
            for part in parts
        }
        named = ", ".join(part.entity_type or "all types" for part in parts[:10])
        released = in_mode(revision, strict=False)
        before = (live and live.scorer) or self.settings.judge
        spec = ScorerSpec.parse(before).with_limits(limits)
        now = datetime.now(UTC)
        release = ScorerRelease(
            slot="live",
            scorer=str(spec),
            revision=spec.raised(released),
            previous=(live.previous or live.scorer) if live else before,
            previous_revision=(live.previous_revision if live and live.previous else released),
            released_at=now,
            released_by=BY,
            reason=f"spot checks show more than {asked:.1%} wrong: {named}",
        )
        warnings = [self._warning(part, revision, limits, now) for part in parts]
        refused = await self.publisher.publish(
            [
                *(Outgoing(WARNINGS, warning.measure, warning) for warning in warnings),
                Outgoing(SCORERS, release.slot, release),
            ]
        )
        if refused:
            log.error("stricter_routing_refused", error=next(iter(refused.values())))
        metrics.PROMISES_BROKEN.inc(len(parts))
        log.warning("promise_broken", scorer=str(spec), types=len(parts))
        return release

    def _warning(
        self, part: LiveRisk, revision: str, limits: dict[str, float], now: datetime
    ) -> DriftWarning:
        asked, limit = self.settings.risk or 0.0, limits[part.entity_type.casefold()]
        follows = "nothing passes without a person" if limit >= 1 else f"threshold {limit:.4f}"
        return DriftWarning(
            id=stable_id("warning", "risk", part.entity_type, revision),
            measure="risk",
            entity_type=part.entity_type or None,
            scorer_revision=revision,
            observed=part.wrong.share or 0.0,
            expected=asked,
            limit=asked,
            detail=f"{part.wrong.successes} of {part.wrong.total} spot checks wrong; {follows}",
            raised_at=now,
        )

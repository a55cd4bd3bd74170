"""The risk of what passes, live: how much of it is wrong, by the spot checks of one scorer."""

from dataclasses import dataclass

import numpy as np

from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.risk.bounds import (
    capital,
    clopper_pearson,
    labels_needed,
    least_share_to_people,
)
from safepassage.scoring_worker.risk.certificate import CertifiedThreshold, Stratum, certify
from safepassage.scoring_worker.risk.groups import NOTHING_PASSES

from .store import CaseStore

MAX_PARTS = 50


@dataclass(frozen=True, slots=True)
class LiveRisk:
    """Of what one scorer accepted, all of it ("") or of one entity type.

    ``wrong`` of the spot checks that were judged; ``bounds`` are Clopper and Pearson's, each at the
    confidence asked for; ``passed`` is how much of everything was accepted without a person.
    ``wanted`` more checks, as good as these, would certify ``asked``; None where none would, 0
    where it is certified. ``broken``: the checks show, whenever one looks, that more is wrong.
    """

    entity_type: str
    wrong: Proportion
    bounds: tuple[float, float]
    passed: Proportion
    asked: float | None
    wanted: int | None
    to_people: float
    broken: bool

    @property
    def certified(self) -> bool:
        """Whether the promise can be made now."""
        return self.asked is not None and self.bounds[1] <= self.asked


def live_risk(
    store: CaseStore, revision: str, asked: float | None, confidence: float
) -> list[LiveRisk]:
    """The risk of all that the scorer of ``revision`` accepted, then by type, most checks first."""
    checks: dict[str, list[bool]] = {"": []}
    for entity_type, wrong in store.connection.execute(
        "SELECT entity_type, wrong FROM labelled WHERE revision = ? AND accepted "
        "AND drawn IS NOT NULL",
        (revision,),
    ):
        checks[""].append(bool(wrong))
        checks.setdefault(entity_type, []).append(bool(wrong))
    passed = _passed(store, revision)
    named = sorted(checks, key=lambda name: (name != "", -len(checks[name]), name))[:MAX_PARTS]
    # A false alarm of any of them counts, so each has its share of the error.
    error = (1 - confidence) / len(named)
    return [
        _risk(
            name,
            checks[name],
            passed.get(name, Proportion(0, 0)),
            asked,
            confidence=confidence,
            error=error,
        )
        for name in named
    ]


def stricter_threshold(
    store: CaseStore, revision: str, part: str, risk: float, confidence: float
) -> float:
    """The loosest threshold at or above those in force that keeps ``risk`` on the spot checks of
    ``part``; 1, where nothing passes, if none does."""
    rows = store.connection.execute(
        "SELECT score, wrong, threshold FROM labelled WHERE revision = ? AND accepted "
        "AND drawn IS NOT NULL AND score IS NOT NULL AND (? IN ('', entity_type))",
        (revision, part),
    ).fetchall()
    sample = Stratum.of([row[0] for row in rows], [row[1] for row in rows])
    least = max((row[2] or 0.0 for row in rows), default=0.0)
    found = certify([sample], risk, confidence, least=least)
    return found.value if isinstance(found, CertifiedThreshold) else NOTHING_PASSES


def _passed(store: CaseStore, revision: str) -> dict[str, Proportion]:
    counts: dict[str, list[int]] = {"": [0, 0]}
    for entity_type, decision, count in store.connection.execute(
        "SELECT entity_type, decision, count(*) FROM cases WHERE revision = ? "
        "GROUP BY entity_type, decision",
        (revision,),
    ):
        for name in ("", entity_type):
            own = counts.setdefault(name, [0, 0])
            own[0] += count * (decision == "accepted")
            own[1] += count
    return {name: Proportion(accepted, total) for name, (accepted, total) in counts.items()}


def _risk(
    name: str,
    checks: list[bool],
    passed: Proportion,
    asked: float | None,
    *,
    confidence: float,
    error: float,
) -> LiveRisk:
    wrong = Proportion(sum(checks), len(checks))
    bounds = clopper_pearson(wrong.successes, wrong.total, confidence)
    observed = wrong.share or 0.0
    wanted: int | None = None
    if asked is not None and (needed := labels_needed(asked, confidence, observed)) is not None:
        wanted = 0 if bounds[1] <= asked else max(1, needed - wrong.total)
    return LiveRisk(
        entity_type=name,
        wrong=wrong,
        bounds=bounds,
        passed=passed,
        asked=asked,
        wanted=wanted,
        to_people=least_share_to_people(observed, asked) if asked is not None else 0.0,
        broken=asked is not None
        and bool(checks)
        and capital(asked - np.array(checks, dtype=np.float64), asked) >= 1 / error,
    )

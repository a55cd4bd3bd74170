"""Streams of scores whose risk is known at every threshold."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from safepassage.scoring_worker.risk.bounds import Floats
from safepassage.scoring_worker.risk.certificate import Stratum
from safepassage.scoring_worker.risk.draws import FLOOR, draw


@dataclass(frozen=True)
class NormalStream:
    """Scores whose log-odds are normal: ``apart`` is how far right values lie above wrong ones.

    With ``apart`` 0 the risk is ``base`` at every threshold, so that every promise of less breaks.
    """

    base: float
    apart: float

    def sample(self, n: int, chance: np.random.Generator) -> tuple[Floats, np.ndarray]:
        wrong = chance.random(n) < self.base
        odds = 3.0 + 2.0 * chance.normal(np.where(wrong, -self.apart / 2, self.apart / 2))
        return 1.0 / (1.0 + np.exp(-odds)), wrong

    def risk(self, threshold: float) -> float:
        at = (np.log(threshold / (1 - threshold)) - 3.0) / 2.0
        wrong = self.base * norm.sf(at + self.apart / 2)
        right = (1 - self.base) * norm.sf(at - self.apart / 2)
        return float(wrong / (wrong + right))


def reviewed(
    scores: Floats, wrong: np.ndarray, live: float, labels: int, chance: random.Random
) -> list[Stratum]:
    """Labels as the console draws them of a stream: of what is accepted at ``live`` by lot, of the
    rest the uncertain ones more often."""
    accepted, stopped = np.flatnonzero(scores >= live), np.flatnonzero(scores < live)
    checks = chance.sample(list(accepted), min(labels // 2, len(accepted)))
    still = sorted(stopped, key=lambda at: live - scores[at])
    rows, weights = [], []
    for _ in range(min(labels // 2, len(still))):
        drawn = draw(range(min(20, len(still))), len(still), chance)
        rows.append(still.pop(drawn.position))
        weights.append(drawn.weight)
    share = len(accepted) / len(scores)
    return [
        Stratum.of(scores[checks], wrong[checks], share=share),
        Stratum.of(
            scores[rows],
            wrong[rows],
            weights,
            share=1 - share,
            highest=1 / FLOOR,
            population=[len(stopped)] * len(rows),
        ),
    ]

"""How well scores rank, without a threshold: areas under the ROC and the precision-recall curve.

The cases are sorted once, so that a bootstrap with new weights costs a few sums.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .intervals import Weights

Floats = NDArray[np.float64]


class Ranking:
    """Cases ranked by doubt, the most doubtful first; equal doubts share a rank.

    Args:
        positive: whether each case is of the class to find.
        doubt: any finite numbers; a case without a score has one above all others.
    """

    def __init__(self, positive: Sequence[bool] | NDArray[Any], doubt: Sequence[float]) -> None:
        doubts = np.asarray(doubt, dtype=np.float64)
        self._order = np.argsort(-doubts, kind="stable")
        self._positive = np.asarray(positive, dtype=bool)[self._order]
        ranked = doubts[self._order]
        self._starts = np.flatnonzero(np.diff(ranked, prepend=np.inf))

    def auroc(self, weights: Weights) -> float | None:
        """In [0, 1], ties counting half; None unless both classes have weight."""
        hits, alarms = self._per_rank(weights)
        if not hits.sum() or not alarms.sum():
            return None
        above = np.cumsum(alarms) - alarms
        beaten = alarms.sum() - above - alarms / 2
        return float(hits @ beaten / (hits.sum() * alarms.sum()))

    def auprc(self, weights: Weights) -> float | None:
        """Average precision in [0, 1]; None unless both classes have weight."""
        hits, alarms = self._per_rank(weights)
        if not hits.sum() or not alarms.sum():
            return None
        found, flagged = np.cumsum(hits), np.cumsum(hits + alarms)
        precision = np.divide(found, flagged, out=np.ones_like(found), where=flagged > 0)
        return float(hits @ precision / hits.sum())

    def _per_rank(self, weights: Weights) -> tuple[Floats, Floats]:
        """The weight of positive and of negative cases of each rank."""
        sorted_weights = np.asarray(weights, dtype=np.float64)[self._order]
        hits = np.add.reduceat(sorted_weights * self._positive, self._starts)
        alarms = np.add.reduceat(sorted_weights * ~self._positive, self._starts)
        return hits, alarms

"""How well scores part right rows from wrong ones: what trials and benchmarks print.

Scores are of any scale, higher for what is more likely right. Figures take a weight for each row,
so that a bootstrap over documents costs a few sums. They are None where they are not defined.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safepassage.scoring_worker.evaluation.intervals import Interval, bootstrap
from safepassage.scoring_worker.evaluation.ranking import Ranking

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Figure = Callable[[Floats | None], float | None]

RIGHT_STOPPED = 0.12
"""Share of right rows that may be stopped where the share of wrong rows stopped is told."""


@dataclass(frozen=True)
class RowScores:
    """Labelled rows and their scores, all in one order.

    ``groups`` are the documents. Rows of one ``same`` are a right and a wrong reading of the same
    words: one value at one place, or two sentences that differ in a word; None is like no other.
    """

    labels: Sequence[int]
    scores: Sequence[float]
    groups: Sequence[str]
    same: Sequence[Hashable]
    kinds: Sequence[str]

    def auroc(self, weights: Floats | None = None) -> float | None:
        """Of right rows above wrong ones, ties counting half."""
        every = np.ones(len(self._right)) if weights is None else weights
        return self._ranking.auroc(every) if len(every) else None

    def caught(self, weights: Floats | None = None) -> float | None:
        """`caught_at` `RIGHT_STOPPED`."""
        return caught_at(self._scores, self._right, RIGHT_STOPPED, weights)

    def pairs(self, weights: Floats | None = None) -> float | None:
        """Share of the pairs of a right and a wrong row of one ``same`` that are ranked right, ties
        counting half."""
        right, wrong = self._pairs
        own = np.ones(len(right)) if weights is None else weights[right]
        if not own.sum():
            return None
        above, below = self._scores[right], self._scores[wrong]
        return float(own @ ((above > below) + (above == below) / 2) / own.sum())

    @property
    def count_of_pairs(self) -> int:
        """How many pairs `pairs` is of."""
        return len(self._pairs[0])

    def interval(self, figure: Figure) -> Interval | None:
        """95% by a bootstrap over ``groups``, of one of the figures above."""
        return bootstrap(figure, self.groups)

    def where(self, kept: Sequence[bool]) -> "RowScores":
        """Some of the rows."""
        at = [number for number, one in enumerate(kept) if one]
        columns = self.labels, self.scores, self.groups, self.same, self.kinds
        return RowScores(*([column[n] for n in at] for column in columns))  # type: ignore[arg-type]

    def of_kind(self, kind: str) -> "RowScores":
        """The rows of ``kind`` beside all rows with the other label."""
        labels = {label for label, own in zip(self.labels, self.kinds, strict=True) if own == kind}
        return self.where(
            [
                own == kind or label not in labels
                for label, own in zip(self.labels, self.kinds, strict=True)
            ]
        )

    @cached_property
    def _right(self) -> Bools:
        return np.array(self.labels, dtype=bool)

    @cached_property
    def _scores(self) -> Floats:
        return np.array(self.scores, dtype=np.float64)

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(~self._right, -self._scores)  # type: ignore[arg-type]

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the right and of the wrong row of every pair."""
        found: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for at, (same, label) in enumerate(zip(self.same, self.labels, strict=True)):
            if same is not None:
                found[same][label].append(at)
        paired = [(r, w) for wrong, right in found.values() for r in right for w in wrong]
        right, wrong = zip(*paired, strict=True) if paired else ((), ())
        return np.array(right, dtype=np.int64), np.array(wrong, dtype=np.int64)


def caught_at(
    scores: Floats, right: Bools, alarms: float, weights: Floats | None = None
) -> float | None:
    """The most wrong rows that a threshold stops which stops at most ``alarms`` of the right ones.

    A row is stopped where its score is below the threshold. A share in [0, 1]; None unless both
    labels have weight.
    """
    own = np.ones(len(scores)) if weights is None else weights
    of_right, of_wrong = own * right, own * ~right
    if not of_right.sum() or not of_wrong.sum():
        return None
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=-np.inf))
    stopped = np.append(0.0, np.cumsum(np.add.reduceat(of_right[order], starts)))
    caught = np.append(0.0, np.cumsum(np.add.reduceat(of_wrong[order], starts)))
    allowed = stopped <= alarms * stopped[-1] * (1 + 1e-12)  # sums of floats
    return float(caught[allowed].max() / caught[-1])

"""Distributions of scores as counts in equal bins of [0, 1], and how far two lie apart."""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate

BINS = 20
# A bin that one side leaves empty would make the index infinite.
EMPTY_SHARE = 0.5


def histogram(scores: Iterable[float], bins: int = BINS) -> list[int]:
    """How many ``scores`` fall into each of ``bins``; 1.0 belongs to the last."""
    counts = [0] * bins
    for score in scores:
        counts[bin_of(score, bins)] += 1
    return counts


def bin_of(score: float, bins: int = BINS) -> int:
    """The bin of a score in [0, 1]."""
    return min(bins - 1, int(score * bins))


def population_stability(expected: Sequence[int], observed: Sequence[int]) -> float:
    """The population stability index, in [0, ∞): above .25 is usually called a shift.

    It is the symmetrised Kullback–Leibler divergence of the two (N. Siddiqi, Credit Risk
    Scorecards, 2006). An empty bin counts as half a score. 0 where one side has no scores.
    """
    if not sum(expected) or not sum(observed):
        return 0.0
    before, after = _shares(expected), _shares(observed)
    return sum((a - b) * math.log(a / b) for b, a in zip(before, after, strict=True))


def ks_distance(expected: Sequence[int], observed: Sequence[int]) -> float:
    """The largest difference of the cumulated shares, in [0, 1] (Kolmogorov–Smirnov's D)."""
    n, m = sum(expected), sum(observed)
    if not n or not m:
        return 0.0
    pairs = zip(accumulate(expected), accumulate(observed), strict=True)
    return max(abs(a / n - b / m) for a, b in pairs)


def ks_limit(n: int, m: int, alpha: float = 0.001) -> float:
    """The D that two samples of ``n`` and ``m`` from one distribution exceed with probability
    ``alpha`` (asymptotic; in bins it is conservative)."""
    return math.sqrt(-math.log(alpha / 2) / 2 * (n + m) / (n * m)) if n and m else 1.0


def _shares(counts: Sequence[int]) -> list[float]:
    filled = [max(count, EMPTY_SHARE) for count in counts]
    total = sum(filled)
    return [count / total for count in filled]

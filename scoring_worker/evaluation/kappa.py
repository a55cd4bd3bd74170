"""How far reviewers agree beyond chance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

Ratings = Sequence[Mapping[str, int]]
"""For each case, what each of its raters said."""
CHI_SQUARE_95 = 3.841458820694124
"""The 95% point of the chi-square distribution with one degree of freedom."""


def cohens_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa of two raters, in [-1, 1] (Cohen 1960, Educational and Psychological
    Measurement 20). None where it is not defined: no case, or both always said the same."""
    n = len(pairs)
    if not n:
        return None
    observed = sum(a == b for a, b in pairs) / n
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def exchangeable_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa of two raters where it does not matter who was the first: each pair counts in
    both orders. In [-1, 1]; None where it is not defined."""
    return cohens_kappa([*pairs, *((b, a) for a, b in pairs)])


def kappa_interval(pairs: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """Bounds of `exchangeable_kappa` for labels 0 and 1: the kappas that a goodness-of-fit test
    does not reject (Donner and Eliasziw 1992, Statistics in Medicine 11). They hold for a few dozen
    cases, and for raters who always agreed, where large-sample errors are zero. None where kappa is
    not defined."""
    n = len(pairs)
    ones = sum(a + b for a, b in pairs) / (2 * n) if n else 0.0
    if not 0 < ones < 1:
        return None
    both = np.array([sum(a + b == k for a, b in pairs) for k in (2, 1, 0)], dtype=np.float64)
    least = -min(ones / (1 - ones), (1 - ones) / ones)
    kappa = np.linspace(least, 1, 4_001)[:, None]
    spread = ones * (1 - ones)
    chance = np.array([ones**2, 2 * spread, (1 - ones) ** 2])
    expected = n * np.maximum(chance + kappa * spread * np.array([1, -2, 1]), 1e-12)
    kept = kappa[((both - expected) ** 2 / expected).sum(axis=1) <= CHI_SQUARE_95]
    return float(kept.min()), float(kept.max())


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Fleiss' kappa (Fleiss 1971, Psychological Bulletin 76) for any number of raters, which may
    differ between cases: each case's agreement is over its own pairs of raters. Cases with one
    rater are left out. None where it is not defined."""
    rated = [Counter(case.values()) for case in ratings if len(case) > 1]
    if not rated:
        return None
    observed = sum(map(_agreeing_pairs, rated)) / len(rated)
    totals = sum(rated, Counter())
    expected = sum((count / totals.total()) ** 2 for count in totals.values())
    return None if expected == 1 else (observed - expected) / (1 - expected)


def pairwise_kappas(ratings: Ratings) -> dict[tuple[str, str], tuple[int, float | None]]:
    """For each two raters with cases in common: how many, and Cohen's kappa over them."""
    shared: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for case in ratings:
        for pair in combinations(sorted(case), 2):
            shared.setdefault(pair, []).append((case[pair[0]], case[pair[1]]))
    return {pair: (len(both), cohens_kappa(both)) for pair, both in sorted(shared.items())}


def _agreeing_pairs(counts: Counter[int]) -> float:
    raters = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (raters * (raters - 1))

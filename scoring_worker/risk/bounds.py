"""Finite-sample bounds on a share: exact for plain samples, by betting for weighted ones.

- Clopper–Pearson (C. J. Clopper, E. S. Pearson, Biometrika 26, 1934): exact for a binomial count,
  and conservative for draws without replacement (W. Hoeffding, JASA 58, 1963, theorem 4).
- Betting (I. Waudby-Smith, A. Ramdas, JRSS B 86, 2024): a capital that wagers against "the mean is
  not below zero" grows past 1/δ with probability at most δ. The wagers are fixed and the capital is
  divided among them (their dKelly), so the answer does not depend on the order of the labels.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv

Floats = NDArray[np.float64]

_WAGERS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03])
"""Shares of the largest wager that cannot ruin."""
_STAKES = np.array([0.5, *([0.5 / 9] * 9)])
"""How the capital is divided. Half is on the largest wager, which wins most while nothing is
wrong: the case in which few labels have to suffice."""


MOST_LABELS = 100_000
"""Nobody labels more."""


def clopper_pearson(wrong: int, n: int, confidence: float) -> tuple[float, float]:
    """Bounds on the probability behind ``wrong`` of ``n``, each one-sided at ``confidence``.

    Together they hold with 2 · ``confidence`` − 1. (0, 1) without any trial. Raises `ValueError`
    where ``wrong`` is not within 0 and ``n``, or ``confidence`` not within 0 and 1."""
    if not 0 <= wrong <= n or not 0 < confidence < 1:
        raise ValueError(f"no bounds for {wrong} of {n} at {confidence}")
    low = 0.0 if wrong == 0 else float(betaincinv(wrong, n - wrong + 1, 1 - confidence))
    high = 1.0 if wrong == n else float(betaincinv(wrong + 1, n - wrong, confidence))
    return low, high


def refutes(wrong: int, n: int, risk: float, error: float) -> bool:
    """Whether ``wrong`` of ``n`` show that the probability is below ``risk``, wrongly so with at
    most ``error``: whether the upper bound of Clopper and Pearson is not above it."""
    return n > 0 and float(bdtr(wrong, n, risk)) <= error


def capital(terms: Floats, highest: float) -> float:
    """What one unit becomes by betting that the mean of ``terms`` [draws] is below zero.

    Each term is at most ``highest`` > 0, which must be known before the draws. If the mean is not
    below zero, the capital exceeds 1/δ with probability at most δ (Ville's inequality). The same
    holds for a total over a fixed population of which each unit was drawn by itself.
    """
    wagers = _WAGERS / highest
    # Rounding must not make a ruin of exactly 0 a negative capital.
    growth = np.log(np.maximum(1.0 - wagers[:, None] * terms[None, :], 0.0) + 1e-300)
    worth = growth.sum(axis=1) + np.log(_STAKES)
    return float(np.exp(min(700.0, np.logaddexp.reduce(worth))))


def weighted_bounds(
    wrong: Floats, weights: Floats, highest: float, confidence: float
) -> tuple[float, float]:
    """Betting bounds on Σ weight·wrong / Σ weight in the population, each at ``confidence``.

    Args:
        wrong: [draws], 0 or 1.
        weights: [draws], relative inverse probabilities of the draws, at most ``highest``.
    """
    if not len(wrong):
        return 0.0, 1.0
    goal = 1.0 / (1.0 - confidence)

    def below(share: float) -> bool:  # is "the share is at least this" refuted?
        return capital(weights * (wrong - share), highest * (1.0 - share)) >= goal

    def above(share: float) -> bool:
        return capital(weights * (share - wrong), highest * share) >= goal

    return _edge(above, rising=False), _edge(below, rising=True)


def _edge(refuted: Callable[[float], bool], *, rising: bool) -> float:
    """Where refutation begins, by bisection: shares further out are refuted too."""
    kept, out = (0.0, 1.0) if rising else (1.0, 0.0)
    for _ in range(40):
        middle = (kept + out) / 2
        if 0 < middle < 1 and refuted(middle):
            out = middle
        else:
            kept = middle
    return out


def labels_needed(risk: float, confidence: float, observed: float = 0.0) -> int | None:
    """How many plain labels certify ``risk`` if ``observed`` is the share of wrong ones among them.

    None where no number up to `MOST_LABELS` does: what is observed is hardly better than what is
    asked, or worse.
    """
    n = math.ceil(math.log(1 - confidence) / math.log(1 - risk))
    while n < MOST_LABELS and observed < risk:
        if refutes(math.ceil(observed * n), n, risk, 1 - confidence):
            return n
        n = math.ceil(n * 1.05)
    return None


def least_share_to_people(base: float, risk: float) -> float:
    """The least share that people must judge so that at most ``risk`` of the rest is wrong.

    ``base`` is the share of wrong values among all. No scorer can do with less (arXiv 2606.29054):
    even one that sends people nothing but wrong values must send (base − risk) / (1 − risk).
    """
    return max(0.0, (base - risk) / (1 - risk)) if risk < 1 else 0.0

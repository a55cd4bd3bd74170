"""Thresholds with a promise: of what is accepted, at most a set share is wrong.

The thresholds that may be chosen are fixed before any label is seen and tested one after the other,
from strict to loose, each at the level that the one before hands on (fallback procedure: B. L.
Wiens, Pharmaceutical Statistics 2, 2003; a fixed sequence that may start at several places). So
the chance that the threshold chosen breaks the promise is at most 1 − confidence, however many are
tested. Whether a threshold keeps it is tested by Clopper–Pearson where all draws are alike, else
by betting (see `bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safepassage.schemas.base import Contract, Probability
from safepassage.schemas.proportion import wilson

from .bounds import (
    Floats,
    capital,
    clopper_pearson,
    labels_needed,
    least_share_to_people,
    refutes,
    weighted_bounds,
)

GRID: Floats = 1.0 / (1.0 + np.exp(-np.arange(110, -61, -1) / 10.0))
"""The thresholds that may be chosen, strict to loose: steps of .1 in log-odds, .99998 to .002."""
MAX_STARTS = 4
"""More starts let a lucky threshold be found further down, and cost each of them certainty."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Labels drawn from one part of the population, such as what is accepted today.

    Args:
        scores: [draws] in [0, 1], of the scorer to be certified.
        wrong: [draws], whether the value is wrong.
        weights: [draws], inverse probabilities relative to a uniform draw; 1 for those.
        share: of the population that the stratum is, in (0, 1].
        highest: the most that a weight could have been, known before the draws.
        population: [draws] for draws without replacement that are not alike: the cases of the
            stratum at that time, open or labelled. None where draws are alike or independent.
    """

    scores: Floats
    wrong: NDArray[np.bool_]
    weights: Floats
    share: float = 1.0
    highest: float = 1.0
    population: Floats | None = None

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        wrong: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        share: float = 1.0,
        highest: float | None = None,
        population: ArrayLike | None = None,
    ) -> Stratum:
        """The stratum of these columns; ``highest`` is else the largest weight. Raises `ValueError`
        where the columns differ in length, or hold what is no score or weight."""
        values = np.asarray(scores, dtype=np.float64)
        labels = np.asarray(wrong, dtype=bool)
        inverse = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
        sizes = None if population is None else np.asarray(population, dtype=np.float64)
        columns = (values, labels, inverse, inverse if sizes is None else sizes)
        if len(set(map(len, columns))) != 1:
            raise ValueError("scores, labels, weights and population sizes differ in number")
        if not np.isfinite(values).all() or not ((inverse > 0) & np.isfinite(inverse)).all():
            raise ValueError("a score is not finite, or a weight not above 0")
        top = float(inverse.max()) if highest is None and len(inverse) else float(highest or 1.0)
        if len(inverse) and inverse.max() > top * (1 + 1e-9):
            raise ValueError("a weight exceeds the highest that was possible")
        return cls(values, labels, inverse, share, top, sizes)

    @property
    def alike(self) -> bool:
        """Whether every draw had the same chance."""
        return len(self.weights) == 0 or bool(np.ptp(self.weights) <= 1e-9 * self.highest)

    def only(self, rows: NDArray[np.bool_]) -> Stratum:
        """The stratum where all other rows count as never accepted; every draw stays a draw."""
        return replace(self, scores=np.where(rows, self.scores, -1.0))

    def terms(self, threshold: float, risk: float, scale: float) -> Floats:
        """[draws] with the mean scale · (wrong − risk · accepted) per case of the population."""
        excess = np.where(self.scores >= threshold, self.wrong - risk, 0.0)
        if self.population is None:
            return np.asarray(scale * self.weights * excess)
        before = np.arange(len(excess), dtype=np.float64)
        known = np.concatenate([[0.0], np.cumsum(excess)[:-1]])  # what is labelled is no estimate
        still_open = np.maximum(self.population - before, 1.0)
        return np.asarray(scale * (known + still_open * self.weights * excess) / self.population)


class CertifiedThreshold(Contract):
    """A threshold above which at most ``risk`` is wrong, with ``confidence``.

    ``observed`` is the weighted share of wrong ones among ``labels`` accepted labels, with bounds
    that hold for this threshold by itself; ``accepted`` the share of the population at or above
    it, with Wilson's interval.
    """

    value: Probability
    risk: Probability
    confidence: Probability
    method: str
    labels: int
    wrong: int
    observed: Probability
    observed_ci: tuple[float, float]
    accepted: Probability
    accepted_ci: tuple[float, float]


class Shortfall(Contract):
    """Why nothing can be promised.

    ``wanted`` is how many more labels of accepted values would do if they are as good as those
    at the strictest threshold that has any hope; None where no number would. ``to_people`` is the
    least share that people must judge for the promise, regardless of the scorer.
    """

    risk: Probability
    confidence: Probability
    labels: int
    wrong: int
    wanted: int | None
    base: Probability
    to_people: Probability

    def __str__(self) -> str:
        more = (
            "no number of labels would do: too many values are wrong however strict the threshold"
            if self.wanted is None
            else f"at least {self.wanted} more labels of accepted values are wanted"
        )
        people = f"; at least {self.to_people:.1%} must go to people" if self.to_people else ""
        return (
            f"at most {self.risk:.1%} wrong cannot be promised with {self.confidence:.0%} "
            f"confidence on {self.labels} labels ({self.wrong} wrong): {more}{people}"
        )


def certified_threshold(
    scores: ArrayLike,
    wrong: ArrayLike,
    weights: ArrayLike | None,
    risk: float,
    confidence: float = 0.95,
    *,
    highest: float | None = None,
) -> CertifiedThreshold | Shortfall:
    """The loosest threshold that keeps the promise on one sample; see `Stratum` and `certify`."""
    return certify([Stratum.of(scores, wrong, weights, highest=highest)], risk, confidence)


def certify(
    strata: Sequence[Stratum], risk: float, confidence: float = 0.95, *, least: float = 0.0
) -> CertifiedThreshold | Shortfall:
    """The loosest threshold at or above which at most ``risk`` is wrong, with ``confidence``.

    Args:
        strata: samples of the parts of one population; their shares sum to 1.
        least: no looser threshold is tried: nothing below it could have been drawn.

    Raises:
        ValueError: ``risk`` or ``confidence`` is not within 0 and 1.
    """
    if not 0 < risk < 1 or not 0.5 < confidence < 1:
        raise ValueError("risk lies within 0 and 1, confidence within .5 and 1")
    sample = _Sample(strata)
    reach = int(np.sum(least <= GRID))
    starts, level = _starts(sample, risk, 1.0 - confidence, reach)
    best, held = None, 0.0
    for at in range(min(starts, default=reach), reach):
        tested = held + level * (at in starts)
        held = tested if tested and sample.keeps(at, risk, tested) else 0.0
        best = at if held else best
    if best is None:
        return _short(sample, risk, confidence)
    return _certified(sample, best, risk, confidence)


@dataclass(frozen=True, slots=True)
class RiskAt:
    """Of the ``labels`` at or above a threshold ``wrong`` are: the weighted share ``observed``,
    with ``bounds`` on it by ``method``."""

    labels: int
    wrong: int
    observed: float
    bounds: tuple[float, float]
    method: str


def risk_at(strata: Sequence[Stratum], threshold: float, confidence: float) -> RiskAt:
    """The risk at or above one threshold, chosen before any label was seen. The bounds are
    one-sided at ``confidence`` each."""
    return _risk_at(_Sample(strata), _place(threshold), confidence)


def keeps(strata: Sequence[Stratum], threshold: float, risk: float, confidence: float) -> bool:
    """Whether at most ``risk`` is wrong at or above one threshold, chosen before any label was
    seen."""
    return _Sample(strata).keeps(_place(threshold), risk, 1 - confidence)


def _place(threshold: float) -> int:
    """Of the loosest threshold of `GRID` at or above ``threshold``."""
    return int(np.sum(threshold <= GRID)) - 1


class _Sample:
    """Strata together, each draw scaled so that a plain mean is one of the population.

    By place in `GRID`: ``labels`` at or above the threshold, and the ``wrong`` ones among them.
    ``exact``: all draws are alike.
    """

    def __init__(self, strata: Sequence[Stratum]) -> None:
        self.strata = [one for one in strata if len(one.scores)]
        draws = sum(len(one.scores) for one in self.strata)
        self.scales = [one.share * draws / len(one.scores) for one in self.strata]
        nothing = np.zeros(len(GRID), dtype=np.int64)
        self.labels = sum((_above(one.scores) for one in self.strata), nothing)
        self.wrong = sum((_above(one.scores[one.wrong]) for one in self.strata), nothing)
        self.exact = len(self.strata) == 1 and self.strata[0].alike
        weights = [s * one.weights for one, s in zip(self.strata, self.scales, strict=True)]
        self.every = np.concatenate([*weights, np.zeros(0)])

    def keeps(self, at: int, risk: float, level: float) -> bool:
        if self.exact or not self.labels[at]:
            return refutes(int(self.wrong[at]), int(self.labels[at]), risk, level)
        scaled = list(zip(self.strata, self.scales, strict=True))
        terms = np.concatenate([one.terms(float(GRID[at]), risk, scale) for one, scale in scaled])
        highest = max(one.highest * scale for one, scale in scaled) * (1 - risk)
        return capital(terms, highest) >= 1 / level

    def columns(self, at: int) -> tuple[Floats, Floats, float]:
        """Whether wrong, and the weight, of each label at or above a threshold; the most that a
        weight could be."""
        wrong, weights, highest = [np.zeros(0)], [np.zeros(0)], 1.0
        for one, scale in zip(self.strata, self.scales, strict=True):
            rows = one.scores >= GRID[at]
            wrong.append(one.wrong[rows].astype(np.float64))
            weights.append(scale * one.weights[rows])
            highest = max(highest, scale * one.highest)
        return np.concatenate(wrong), np.concatenate(weights), highest

    def least(self, level: float, risk: float) -> float:
        """About how many labels certify a threshold if all are right."""
        plain = math.log(level) / math.log(1 - risk)
        _, weights, highest = self.columns(len(GRID) - 1)
        if self.exact or not len(weights):
            return plain
        return plain * 1.25 * highest / float(weights.mean())


def _above(scores: Floats) -> NDArray[np.int64]:
    """[grid] how many scores are at or above each threshold."""
    return len(scores) - np.searchsorted(np.sort(scores), GRID, side="left")


def _starts(sample: _Sample, risk: float, error: float, reach: int) -> tuple[set[int], float]:
    """Where testing may start, and the level of each start. How many labels there are decides, and
    not what they say."""
    for number in range(MAX_STARTS, 0, -1):
        least = sample.least(error / number, risk)
        counts = sample.labels[:reach]
        found = [np.flatnonzero(counts >= least * 2**step) for step in range(number)]
        if all(len(places) for places in found):
            return {int(places[0]) for places in found}, error / number
    return set(), error


def _risk_at(sample: _Sample, at: int, confidence: float) -> RiskAt:
    labels, wrong = int(sample.labels[at]), int(sample.wrong[at])
    said, weights, highest = sample.columns(at)
    return RiskAt(
        labels,
        wrong,
        float(np.average(said, weights=weights)) if len(said) else 0.0,
        clopper_pearson(wrong, labels, confidence)
        if sample.exact
        else weighted_bounds(said, weights, highest, confidence),
        "Clopper–Pearson" if sample.exact else "betting",
    )


def _certified(sample: _Sample, at: int, risk: float, confidence: float) -> CertifiedThreshold:
    found = _risk_at(sample, at, confidence)
    weights = sample.columns(at)[1]
    effective = float(sample.every.sum() ** 2 / (sample.every**2).sum())  # L. Kish, 1965
    accepted = min(1.0, float(weights.sum() / sample.every.sum()))
    return CertifiedThreshold(
        value=float(GRID[at]),
        risk=risk,
        confidence=confidence,
        method=found.method,
        labels=found.labels,
        wrong=found.wrong,
        observed=found.observed,
        observed_ci=found.bounds,
        accepted=accepted,
        accepted_ci=wilson(accepted * effective, effective),
    )


def _short(sample: _Sample, risk: float, confidence: float) -> Shortfall:
    said, weights, _ = sample.columns(len(GRID) - 1)
    base = float(np.average(said, weights=weights)) if len(said) else 0.0
    seen = {(int(n), int(k)) for n, k in zip(sample.labels, sample.wrong, strict=True) if n}
    rates = {(n, k / n) for n, k in seen} or {(0, 0.0)}
    needed = [(n, labels_needed(risk, confidence, rate)) for n, rate in rates]
    wanted = [max(more - n, 1) for n, more in needed if more is not None]
    return Shortfall(
        risk=risk,
        confidence=confidence,
        labels=len(said),
        wrong=int(said.sum()),
        wanted=min(wanted, default=None),
        base=base,
        to_people=least_share_to_people(base, risk),
    )

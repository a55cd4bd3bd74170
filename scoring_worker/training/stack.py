"""Fits the stack: how much the encoder and each check weigh, per shape of value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from scoring_worker.checks import SHAPES, examine
from scoring_worker.corruption import LabelledPair
from scoring_worker.stacked import ENCODER, ENCODER_ALONE, ShapeWeights, Stack, stack_features

log = structlog.get_logger(__name__)

MIN_PAIRS = 20
"""A shape with fewer pairs, or of one label only, keeps its coefficients, or those of all."""
_PRIOR_SCALE = 10.0
"""The earlier stack's log-odds enter as a feature so large that regularisation spares it: few
labels then move the coefficients only a little away from where they were."""


@dataclass(frozen=True, slots=True)
class StackSettings:
    """``strength`` is scikit-learn's C, ``refit_strength`` the same where an earlier stack is
    refitted. ``humility`` is the standard deviation of the noise put on the encoder's log-odds
    (in units of [-1, 1]) while fitting: on pairs from the generators that trained it the encoder
    looks better than it will be on others."""

    strength: float = 1.0
    refit_strength: float = 0.05
    humility: float = 0.25
    seed: int = 0


def fit_stack(
    pairs: Sequence[LabelledPair],
    probabilities: Sequence[float] | NDArray[np.float64],
    settings: StackSettings | None = None,
    *,
    start: Stack | None = None,
) -> Stack:
    """Coefficients for every shape from labelled pairs and the encoder's probabilities of them.

    Raises:
        ValueError: the pairs are not of both labels, or a probability is not finite.
    """
    labels = np.array([pair.label for pair in pairs])
    if len(set(labels.tolist())) < 2:
        raise ValueError("a stack needs supported and unsupported pairs")
    if not np.isfinite(np.asarray(probabilities, dtype=float)).all():
        raise ValueError("the encoder could not score every pair")
    settings = settings or StackSettings()
    shapes, rows = _design(pairs, probabilities, settings)
    everything = _fit(rows, labels, settings)
    fitted = {}
    for shape in SHAPES:
        prior = start.shapes[shape] if start else None
        mine = [at for at, other in enumerate(shapes) if other == shape]
        if len(mine) < MIN_PAIRS or len(set(labels[mine].tolist())) < 2:
            log.info("shape_too_rare", shape=shape, pairs=len(mine))
            fitted[shape] = prior or everything
        else:
            fitted[shape] = _fit([rows[at] for at in mine], labels[mine], settings, prior)
    return Stack(shapes=fitted)


def stack_scores(
    stack: Stack, pairs: Sequence[LabelledPair], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The stack's probability of support for each pair, in [0, 1]."""
    odds = [
        stack.log_odds(examine(pair.pair), float(probability))
        for pair, probability in zip(pairs, probabilities, strict=True)
    ]
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -60, 60))), dtype=np.float64)


def _design(
    pairs: Sequence[LabelledPair],
    probabilities: Sequence[float] | NDArray[np.float64],
    settings: StackSettings,
) -> tuple[list[str], list[dict[str, float]]]:
    noise = np.random.default_rng(settings.seed).normal(0, settings.humility, len(pairs))
    shapes, rows = [], []
    for pair, probability, slip in zip(pairs, probabilities, noise, strict=True):
        examination = examine(pair.pair)
        shapes.append(examination.shape)
        rows.append(_noisy(stack_features(examination, float(probability)), float(slip)))
    return shapes, rows


def _noisy(features: dict[str, float], noise: float) -> dict[str, float]:
    encoder = min(max(features[ENCODER] + noise, -1.0), 1.0)
    alone = encoder if features.get("role_unknown") else 0.0
    return {**features, ENCODER: encoder, ENCODER_ALONE: alone}


def _fit(
    rows: Sequence[Mapping[str, float]],
    labels: NDArray[np.int_],
    settings: StackSettings,
    prior: ShapeWeights | None = None,
) -> ShapeWeights:
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    strength = settings.strength
    if prior is not None:
        earlier = np.array([[prior.log_odds(row) * _PRIOR_SCALE] for row in rows])
        matrix = np.hstack([matrix, earlier])
        strength = settings.refit_strength
    model = LogisticRegression(C=strength, max_iter=2000).fit(matrix, labels)
    learnt = dict(zip(names, map(float, model.coef_[0]), strict=False))
    bias = float(model.intercept_[0])
    if prior is not None:
        kept = float(model.coef_[0][-1]) * _PRIOR_SCALE
        bias += kept * prior.bias
        for name, weight in prior.weights.items():
            learnt[name] = learnt.get(name, 0.0) + kept * weight
    weights = {name: round(weight, 4) for name, weight in learnt.items() if abs(weight) >= 5e-5}
    return ShapeWeights(bias=round(bias, 4), weights=weights)

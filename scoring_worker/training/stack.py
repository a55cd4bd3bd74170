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
"""A shape with fewer pairs, or of one label only, keeps the coefficients of all shapes."""


@dataclass(frozen=True, slots=True)
class StackSettings:
    """``strength`` is scikit-learn's C. ``humility`` is the standard deviation of the noise put
    on the encoder's log-odds (in units of [-1, 1]) while fitting: on pairs from the generators
    that trained it the encoder looks better than it will be on others."""

    strength: float = 1.0
    humility: float = 0.25
    seed: int = 0


def fit_stack(
    pairs: Sequence[LabelledPair],
    probabilities: Sequence[float] | NDArray[np.float64],
    settings: StackSettings | None = None,
    *,
    weights: Sequence[float] | None = None,
    start: Stack | None = None,
) -> Stack:
    """Coefficients for every shape from labelled pairs and the encoder's probabilities of them.

    Args:
        weights: how much each pair counts; by default all the same.
        start: shapes with too few pairs keep their coefficients from here.

    Raises:
        ValueError: the pairs are not of both labels.
    """
    labels = np.array([pair.label for pair in pairs])
    if len(set(labels.tolist())) < 2:
        raise ValueError("a stack needs supported and unsupported pairs")
    settings = settings or StackSettings()
    noise = np.random.default_rng(settings.seed).normal(0, settings.humility, len(pairs))
    examinations = [examine(pair.pair) for pair in pairs]
    rows = [
        _noisy(stack_features(examination, float(p)), float(n))
        for examination, p, n in zip(examinations, probabilities, noise, strict=True)
    ]
    counts = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=float)
    everything = _fit(rows, labels, counts, settings)
    shapes = {}
    for shape in SHAPES:
        mine = [at for at, examination in enumerate(examinations) if examination.shape == shape]
        if len(mine) < MIN_PAIRS or len(set(labels[mine].tolist())) < 2:
            log.info("shape_too_rare", shape=shape, pairs=len(mine))
            shapes[shape] = start.shapes[shape] if start else everything
        else:
            shapes[shape] = _fit([rows[at] for at in mine], labels[mine], counts[mine], settings)
    return Stack(shapes=shapes)


def _noisy(features: dict[str, float], noise: float) -> dict[str, float]:
    encoder = min(max(features[ENCODER] + noise, -1.0), 1.0)
    alone = encoder if features.get("role_unknown") else 0.0
    return {**features, ENCODER: encoder, ENCODER_ALONE: alone}


def _fit(
    rows: Sequence[Mapping[str, float]],
    labels: NDArray[np.int_],
    counts: NDArray[np.float64],
    settings: StackSettings,
) -> ShapeWeights:
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    model = LogisticRegression(C=settings.strength, max_iter=2000)
    model.fit(matrix, labels, sample_weight=counts)
    weights = {n: round(float(w), 4) for n, w in zip(names, model.coef_[0], strict=True) if w}
    return ShapeWeights(bias=round(float(model.intercept_[0]), 4), weights=weights)

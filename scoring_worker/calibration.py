"""Probabilities that mean what they say: Platt scaling and isotonic regression.

A score of .9 should be right nine times in ten. Platt scaling fits two numbers and needs few
labels; isotonic regression fits any increasing curve and needs some hundreds.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .manifest import Calibration, IsotonicCalibration, PlattCalibration, Thresholds

CalibrationKind = Literal["platt", "isotonic", "auto"]
ISOTONIC_FROM = 500
"""Labels from which "auto" prefers the isotonic curve."""

_EDGE = 1e-6

Floats = NDArray[np.float64]


def apply(calibration: Calibration | None, probabilities: ArrayLike) -> Floats:
    """Calibrated probabilities, in [0, 1] and in the same order. NaN stays NaN."""
    raw = np.asarray(probabilities, dtype=np.float64)
    if calibration is None:
        return raw
    if isinstance(calibration, PlattCalibration):
        return _sigmoid(calibration.a * _logit(raw) + calibration.b)
    return np.where(np.isnan(raw), np.nan, np.interp(raw, calibration.x, calibration.y))


def fit(
    probabilities: Sequence[float] | Floats,
    supported: Sequence[int] | NDArray[Any],
    kind: CalibrationKind = "auto",
) -> PlattCalibration | IsotonicCalibration:
    """The calibration of ``probabilities`` [pairs] to the labels ``supported`` (1 or 0). Raises
    `ValueError` where the labels are of one class only, or a probability is not finite."""
    raw = np.asarray(probabilities, dtype=np.float64)
    labels = np.asarray(supported, dtype=np.float64)
    if not np.isfinite(raw).all():
        raise ValueError("cannot calibrate on pairs that have no score")
    if len(set(labels.tolist())) < 2:
        raise ValueError("calibration needs supported and unsupported labels")
    if kind == "platt" or (kind == "auto" and len(raw) < ISOTONIC_FROM):
        return _fit_platt(raw, labels)
    return _fit_isotonic(raw, labels)


def carried_over(
    thresholds: Thresholds, before: Calibration | None, after: Calibration | None
) -> Thresholds:
    """``thresholds`` on scores calibrated by ``before``, for scores calibrated by ``after``.

    What they stopped, they stop; where ``after`` gives one score to what they stopped and to what
    they passed, both are stopped.
    """

    if before == after:
        return thresholds
    raw = np.linspace(0.0, 1.0, 100_001)
    old, new = apply(before, raw), apply(after, raw)

    def moved(value: float) -> float:
        if value >= 1.0:  # nothing passes
            return value
        first = int(np.searchsorted(old, value))
        above = new[first:]
        if first:
            above = above[above > new[first - 1]]
        return float(above[0]) if len(above) else 1.0

    by = {
        name: {key: one.model_copy(update={"value": moved(one.value)}) for key, one in own.items()}
        for name, own in (("by_type", thresholds.by_type), ("by_group", thresholds.by_group))
    }
    return thresholds.model_copy(update={"default": moved(thresholds.default), **by})


def _fit_platt(raw: Floats, labels: Floats) -> PlattCalibration:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    model = LogisticRegression(C=1e3).fit(_logit(raw)[:, None], labels)
    if model.coef_[0, 0] <= 0:
        raise ValueError("cannot calibrate scores that rank the labels the wrong way round")
    return PlattCalibration(a=float(model.coef_[0, 0]), b=float(model.intercept_[0]))


def _fit_isotonic(raw: Floats, labels: Floats) -> IsotonicCalibration:
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 (slow to import)

    model = IsotonicRegression(y_min=0.0, y_max=1.0).fit(raw, labels)
    x = np.clip(model.X_thresholds_, 0.0, 1.0)
    y = np.clip(model.y_thresholds_, 0.0, 1.0)
    return IsotonicCalibration(x=tuple(map(float, x)), y=tuple(map(float, y)))


def _logit(probabilities: Floats) -> Floats:
    clipped = np.clip(probabilities, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(clipped) - np.log1p(-clipped), dtype=np.float64)


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0))), dtype=np.float64)

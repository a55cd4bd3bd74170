"""Fits the stack: how much the encoder and each check weigh, per shape of value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from scoring_worker.checks import SHAPES, examine
from scoring_worker.checks.record import DATE, FIGURE, NAME
from scoring_worker.corruption import LabelledPair
from scoring_worker.scorers.default import (
    ENCODER,
    ENCODER_ALONE,
    ShapeWeights,
    Stack,
    stack_features,
)

log = structlog.get_logger(__name__)

MIN_PAIRS = 20
"""A shape with fewer pairs, or of one label only, keeps its coefficients, or those of all."""
_PRIOR_SCALE = 10.0
"""The earlier stack's log-odds enter as a feature so large that regularisation spares it: few
labels then move the coefficients only a little away from where they were."""


SUPPORTIVE = frozenset(
    {
        "date_shown", "category_shown", "figures_shown", "covered", "verbatim", "all_words",
        "acronym", "label_agrees", "cue_near", "type_words", "generic_type", "kind_agrees",
        "answer_is_yes", "clause_spoken_of", ENCODER, ENCODER_ALONE,
    }
)  # fmt: skip
"""Features that may only raise a score."""
ADVERSE = frozenset(
    {
        "date_missing", "date_differs", "date_more_precise", "vague", "category_missing",
        "category_differs", "number_missing", "number_differs", "currency_differs",
        "other_number_in_type", "value_missing", "words_missing", "initial_expanded",
        "spelling_differs", "altered_share", "label_differs", "cue_differs", "no_cue",
        "rival_nearer", "kind_differs", "denied", "says_none", "value_is_none", "other_clause",
        "denial_differs", "redacted",
    }
)  # fmt: skip
"""Features that may only lower it: whatever a finding says, it must not read as praise because it
happened to go with supported pairs in what the stack was fitted on."""


_NOT_WITH = (
    (("date_missing", "date_differs", "date_more_precise"), {"date_shown"}),
    (("category_missing", "category_differs"), {"category_shown"}),
    (("number_missing", "number_differs"), {"figures_shown"}),
    (("words_missing", "value_missing", "initial_expanded"), {"all_words", "verbatim"}),
    (("label_differs", "cue_differs", "no_cue"), {"label_agrees", "cue_near"}),
    (("kind_differs", "denied", "other_number_in_type"), {"generic_type", "kind_agrees"}),
)
_DECISIVE = {finding: excluded for findings, excluded in _NOT_WITH for finding in findings}
"""Findings of which any one suffices against a value, with the features that they exclude."""
_OF_ANY_TYPE = frozenset({"label_differs", "kind_differs", "denied", "other_number_in_type"})
"""Decisive for any shape of value that has a place in the passage, whether they occur or not."""
_PLACED = frozenset({DATE, FIGURE, NAME})
_EXAMPLES = 0.03
"""Share of a shape's supported pairs that is repeated, as unsupported, with a decisive finding."""
_MIN_EXAMPLES = 15


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
    if start is None:
        shapes, rows, labels = _with_decisive(shapes, rows, labels, settings.seed)
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


def _with_decisive(
    shapes: list[str], rows: list[dict[str, float]], labels: NDArray[np.int_], seed: int
) -> tuple[list[str], list[dict[str, float]], NDArray[np.int_]]:
    """Add supported pairs that would be unsupported for one finding and nothing else.

    Findings that hardly occur in what the stack is fitted on, or only beside others, would get
    no weight of their own otherwise.
    """
    rng = np.random.default_rng(seed)
    added_shapes: list[str] = []
    added: list[dict[str, float]] = []
    for shape in sorted(set(shapes)):
        mine = [at for at, other in enumerate(shapes) if other == shape]
        supported = [at for at in mine if labels[at] == 1]
        seen = {name for at in mine for name in rows[at]} & _DECISIVE.keys()
        seen |= _OF_ANY_TYPE if shape in _PLACED else set()
        count = min(max(_MIN_EXAMPLES, int(_EXAMPLES * len(supported))), len(supported))
        for finding in sorted(seen):
            for at in rng.choice(supported, count, replace=False) if supported else ():
                kept = {k: v for k, v in rows[at].items() if k not in _DECISIVE[finding]}
                added.append({**kept, finding: 1.0})
                added_shapes.append(shape)
    more = np.zeros(len(added), dtype=labels.dtype)
    return shapes + added_shapes, rows + added, np.concatenate([labels, more])


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
    coefficients, bias = _regress(matrix, labels, strength, names)
    learnt = dict(zip(names, coefficients, strict=False))
    if prior is not None:
        kept = coefficients[-1] * _PRIOR_SCALE
        bias += kept * prior.bias
        for name, weight in prior.weights.items():
            learnt[name] = learnt.get(name, 0.0) + kept * weight
    weights = {name: round(weight, 4) for name, weight in learnt.items() if abs(weight) >= 5e-5}
    return ShapeWeights(bias=round(bias, 4), weights=weights)


def _regress(
    matrix: NDArray[np.float64], labels: NDArray[np.int_], strength: float, names: Sequence[str]
) -> tuple[list[float], float]:
    """Logistic regression: (coefficients, bias).

    Columns are those of ``names`` and perhaps others. A column whose coefficient has the wrong
    sign is left out, at 0, and the rest is fitted again until no sign is wrong.
    """
    kept = np.ones(matrix.shape[1], dtype=bool)
    signs = np.array([_sign(name) for name in names] + [0] * (matrix.shape[1] - len(names)))
    while True:
        model = LogisticRegression(C=strength, max_iter=2000).fit(matrix[:, kept], labels)
        coefficients = np.zeros(matrix.shape[1])
        coefficients[kept] = model.coef_[0]
        wrong = coefficients * signs < 0
        if not wrong.any():
            return [float(weight) for weight in coefficients], float(model.intercept_[0])
        kept &= ~wrong


def _sign(name: str) -> int:
    if name in SUPPORTIVE:
        return 1
    return -1 if name in ADVERSE else 0

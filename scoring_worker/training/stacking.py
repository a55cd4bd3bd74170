"""Fits the stack: how much the reader's opinion and each comparator weigh, per shape of part.

What is fitted on are opinions of readers on sources that they were not trained on, so that the
weights are those of a stranger's schema and not of what the reader knows by heart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from numpy.typing import NDArray
from scipy.optimize import minimize

from safepassage.scoring_worker.weighing.opinion import SHAPES, Opinion
from safepassage.scoring_worker.weighing.stack import ShapeWeights, Stack

log = structlog.get_logger(__name__)

SUPPORTIVE = frozenset(
    {
        "value_mean", "value_least", "lead", "entailed", "founded_least", "borne_out",
        "answer_same", "exact", "lonely", "finding_denied_twice", "finding_denial_asked", "share",
        "clause_mean",
    }
)  # fmt: skip
"""Features that may only raise a score."""
ADVERSE = frozenset(
    {
        "rival", "rivals", "several_places", "short_value", "finding_hypothetical",
        "finding_outside_quote", "finding_someone_else_near", "finding_denial_near",
        "finding_denied_elsewhere", "finding_hypothetical_elsewhere", "finding_words_missing",
        "finding_date_vague", "finding_date_ambiguous", "finding_none_not_said", "finding_other",
        "finding_denial_unread", "finding_acronym_possible",
    }
)  # fmt: skip
"""Features that may only lower it: a doubt must not read as praise because it happened to go with
supported values in what the stack was fitted on. Other features do not count."""
OF_CLAIMS = frozenset({"borne_out"})
"""What counts for a claim: the reader's opinion is inside. Weighing it once more by NLI sets, whose
statements and premises are short, makes claims of long answers worse (AUROC .71 for .81)."""
OF_PACKS = ("legal_", "contracts_")
"""How the names of the packs' features begin; their weights may have either sign."""
MIN_PARTS = 40
"""A shape with fewer parts, or of one label only, gets the coefficients of all."""
MIN_PER_LABEL = 3
"""A stack that is refitted keeps a shape's coefficients with fewer parts of either label."""
LARGEST_OF_TYPE = 2.0
"""The most by which an entity type may move the log-odds of its values."""


@dataclass(frozen=True, slots=True)
class LabelledOpinion:
    """One opinion, whether its value is supported (1 or 0), and where it comes from. ``weight`` is
    how many values it represents."""

    opinion: Opinion
    label: int
    source: str
    entity_type: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class StackSettings:
    """``ridge`` is the weight of the squared distance of the coefficients from zero. A stack that
    is refitted stays the closer to where it was the fewer parts there are: the weight then is
    ``prior`` by their number. ``of_type`` is the same for what an entity type adds."""

    ridge: float = 1e-3
    prior: float = 3.0
    of_type: float = 4.0


def fit_stack(
    labelled: Sequence[LabelledOpinion],
    settings: StackSettings | None = None,
    start: Stack | None = None,
) -> Stack:
    """The stack with the least loss on ``labelled``; every source and label counts the same.

    Decisive opinions are left out: no weight can change what becomes of them. Raises `ValueError`
    where the opinions of all shapes together are of one label only."""
    settings = settings or StackSettings()
    open_ones = [one for one in labelled if not one.opinion.different]
    if {one.label for one in open_ones} != {0, 1}:
        raise ValueError("a stack is fitted on supported and unsupported opinions")
    common = _fitted(open_ones, settings, None)
    shapes = {}
    for shape in SHAPES:
        own = [one for one in open_ones if one.opinion.shape == shape]
        before = start.shapes[shape] if start else None
        rarer = min(sum(one.label == label for one in own) for label in (0, 1))
        fits = rarer >= MIN_PER_LABEL if before else rarer > 0 and len(own) >= MIN_PARTS
        if fits:
            only = OF_CLAIMS if shape == "claim" else None
            shapes[shape] = _fitted(own, settings, before, only)
        else:
            shapes[shape] = before or common
        log.info("stack", shape=shape, opinions=len(own), fitted=fits)
    return Stack(shapes=shapes)


def moved_alike(
    start: Stack, after: Mapping[str, ShapeWeights]
) -> dict[str, dict[str, ShapeWeights]]:
    """The coefficients that ``start`` has with packs, moved as labels moved those without."""
    return {
        names: {
            shape: _moved(own, start.shapes[shape], after[shape]) if shape in start.shapes else own
            for shape, own in shapes.items()
        }
        for names, shapes in start.with_packs.items()
    }


def _moved(own: ShapeWeights, before: ShapeWeights, after: ShapeWeights) -> ShapeWeights:
    weights = dict(own.weights)
    for name in before.weights.keys() | after.weights.keys():
        apart = after.weights.get(name, 0.0) - before.weights.get(name, 0.0)
        low, high = _bounds(name)
        moved = weights.get(name, 0.0) + apart
        moved = max(low, moved) if low is not None else moved
        weights[name] = round(min(high, moved) if high is not None else moved, 4)
    kept = {name: weight for name, weight in sorted(weights.items()) if weight}
    return ShapeWeights(bias=round(own.bias + after.bias - before.bias, 4), weights=kept)


def by_type(
    labelled: Sequence[LabelledOpinion], stack: Stack, settings: StackSettings
) -> dict[str, float]:
    """What each entity type adds to the log-odds of ``stack`` by the labels of its values, and what
    it adds already; within `LARGEST_OF_TYPE`."""
    found = dict(stack.by_type)
    open_ones = [one for one in labelled if not one.opinion.different]
    weights = len(open_ones) * _balanced(open_ones)
    odds = np.array([stack.log_odds(one.opinion, one.entity_type) for one in open_ones])
    signs = np.array([2.0 * one.label - 1.0 for one in open_ones])
    names = np.array([one.entity_type.casefold() for one in open_ones])
    for name in np.unique(names):
        own = names == name
        before = found.get(str(name), 0.0)

        def loss(more: NDArray[np.float64], own: NDArray[np.bool_] = own) -> float:
            margins = signs[own] * (odds[own] + more[0])
            return float(
                weights[own] @ np.logaddexp(0.0, -margins) + settings.of_type * more[0] ** 2
            )

        limits = (-LARGEST_OF_TYPE - before, LARGEST_OF_TYPE - before)
        moved = before + float(minimize(loss, np.zeros(1), bounds=[limits]).x[0])
        if abs(moved) > 5e-3:
            found[str(name)] = round(moved, 4)
    return found


def _fitted(
    labelled: Sequence[LabelledOpinion],
    settings: StackSettings,
    start: ShapeWeights | None,
    only: frozenset[str] | None = None,
) -> ShapeWeights:
    seen = {name for one in labelled for name in one.opinion.features}
    seen |= start.weights.keys() if start is not None else set()
    every = SUPPORTIVE | ADVERSE | {n for n in seen if n.startswith(OF_PACKS)}
    names = sorted(every if only is None else every & only)
    features = np.array([[one.opinion.features.get(n, 0.0) for n in names] for one in labelled])
    signs = np.array([2.0 * one.label - 1.0 for one in labelled])
    weights = _balanced(labelled)
    origin = np.zeros(len(names) + 1)
    if start is not None:
        origin = np.array([*(start.weights.get(name, 0.0) for name in names), start.bias])
    ridge = settings.ridge if start is None else settings.prior / len(labelled)

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (features @ point[:-1] + point[-1])
        apart = point - origin
        value = float(weights @ np.logaddexp(0.0, -margins) + ridge * (apart @ apart))
        pull = -weights * signs / (1.0 + np.exp(np.clip(margins, -500, 500)))
        slope = np.append(features.T @ pull, pull.sum()) + 2 * ridge * apart
        return value, slope

    bounds = [_bounds(name) for name in names]
    found = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)])
    kept = {n: round(float(w), 4) for n, w in zip(names, found.x, strict=False) if abs(w) > 5e-4}
    return ShapeWeights(bias=round(float(found.x[-1]), 4), weights=kept)


def _bounds(name: str) -> tuple[float | None, float | None]:
    if name in SUPPORTIVE:
        return 0.0, None
    return (None, 0.0) if name in ADVERSE else (None, None)


def _balanced(labelled: Sequence[LabelledOpinion]) -> NDArray[np.float64]:
    """Weights [opinions] that sum to 1, the same for every (source, label)."""
    sums: dict[tuple[str, int], float] = {}
    for one in labelled:
        sums[one.source, one.label] = sums.get((one.source, one.label), 0.0) + one.weight
    raw = np.array([one.weight / sums[one.source, one.label] for one in labelled])
    weights: NDArray[np.float64] = raw / raw.sum()
    return weights


def stack_scores(
    stack: Stack, opinions: Sequence[Sequence[Opinion]], types: Sequence[str]
) -> NDArray[np.float64]:
    """Uncalibrated scores [pairs] in [0, 1] of pairs of the entity ``types``: the worst part's, and
    0 where a part differs."""
    return np.array(
        [
            min(_score(stack, part, name) for part in parts)
            for parts, name in zip(opinions, types, strict=True)
        ]
    )


def _score(stack: Stack, opinion: Opinion, entity_type: str) -> float:
    if opinion.different:
        return 0.0
    return 1.0 / (1.0 + float(np.exp(-stack.log_odds(opinion, entity_type))))

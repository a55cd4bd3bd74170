"""Thresholds fitted on labels to a stated target, per entity type where there are enough labels.

The positive class is "unsupported": a pair is flagged where its score is below the threshold. A
higher threshold finds more hallucinations (recall) and stops more of what was fine (precision).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas import CLAIM_TYPE
from safepassage.schemas.base import Contract, Probability
from safepassage.schemas.proportion import wilson

from .manifest import Thresholds, TypeThreshold

MIN_LABELS = 40
MIN_PER_CLASS = 10
"""With fewer labels a type's own threshold is noise, and the global one decides."""

QUARANTINE = frozenset({"review", "correction"})
"""Kinds of labels that come of what was stopped: they say nothing of what passes."""

Floats = NDArray[np.float64]


def labels_missing(
    supported: Sequence[bool], kinds: Sequence[str | None] = (), each: int = MIN_PER_CLASS
) -> str | None:
    """Why no threshold can be fitted to these labels, and what is wanted; None where one can.

    ``kinds`` says how each label came about, as `labels export` writes it; none where everything
    was stopped, so that quarantine is the whole stream. ``each`` is how many of a class are needed.
    """
    counts = {"supported": sum(supported), "unsupported": len(supported) - sum(supported)}
    wanted = [f"{each - count} more {name}" for name, count in counts.items() if count < each]
    if wanted:
        had = " and ".join(f"{count} {name}" for name, count in counts.items())
        return f"of {len(supported)} labels ({had}) {' and '.join(wanted)} ones are wanted"
    if kinds and QUARANTINE.issuperset(kinds):
        return (
            "every label is of a value that was stopped, so none says what passes: judge spot "
            "checks too"
        )
    return None


class Target(Contract):
    """What a threshold has to reach; "f1" has no value, the best is taken. "refused" is the share
    of what is supported that may be stopped; the other two are of what is unsupported."""

    measure: Literal["precision", "recall", "refused", "f1"] = "f1"
    value: Probability = 1.0

    def __str__(self) -> str:
        if self.measure == "f1":
            return "f1"
        return f"{self.measure}{'<=' if self.measure == 'refused' else '>='}{self.value:g}"


class FittedThreshold(Contract):
    """A threshold and what it does on the labels it was fitted on, with Wilson's intervals.

    ``met`` is False where no threshold reaches the target; then it is the one that comes
    closest.
    """

    value: Probability
    n: int
    unsupported: int
    precision: float
    precision_ci: tuple[float, float]
    recall: float
    recall_ci: tuple[float, float]
    met: bool


def fit_threshold(
    scores: Sequence[float] | Floats,
    supported: Sequence[bool],
    target: Target,
    weights: Sequence[float] | Floats | None = None,
) -> FittedThreshold:
    """The threshold for ``target`` on pairs with ``scores`` in [0, 1].

    ``weights`` [pairs] are how many values of the stream each pair represents; None is 1. The
    intervals are of the pairs.

    Of all that reach a recall, the one with the best precision is taken, and the other way round;
    of all that refuse no more than is allowed, the highest. It lies half-way between two scores, so
    that it does not hang on the last digit. Raises `ValueError` where there are no labels, or a
    score is not finite."""
    values = np.asarray(scores, dtype=np.float64)
    unsupported = ~np.asarray(supported, dtype=bool)
    if not len(values) or not np.isfinite(values).all():
        raise ValueError("thresholds are fitted on at least one pair, all with a score")
    distinct = np.unique(values)
    between = (distinct[1:] + distinct[:-1]) / 2
    above = [(distinct[-1] + 1.0) / 2] if distinct[-1] < 1.0 else []
    candidates = np.concatenate([[0.0], between, above])
    standing = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    flagged = _below(values, standing, candidates)
    hits = _below(values[unsupported], standing[unsupported], candidates)
    of_each = float(standing[unsupported].sum()), float(standing[~unsupported].sum())
    best, met = _choose(hits, flagged, *of_each, target)
    stopped = values < candidates[best]
    counts = int((stopped & unsupported).sum()), int(stopped.sum())
    return _fitted(float(candidates[best]), *counts, unsupported, met)


def _below(values: Floats, weights: Floats, candidates: Floats) -> Floats:
    """The weight [candidates] of the values below each candidate."""
    order = np.argsort(values)
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    return np.asarray(sums[np.searchsorted(values[order], candidates)])


def fit_thresholds(
    scores: Sequence[float] | Floats,
    supported: Sequence[bool],
    entity_types: Sequence[str],
    target: Target,
    weights: Sequence[float] | Floats | None = None,
    *,
    known: Thresholds | None = None,
) -> tuple[Thresholds, dict[str, FittedThreshold]]:
    """The global threshold, one for each type with enough labels, and how each was fitted.

    ``known`` are the thresholds so far. A type keeps its own until there are enough labels of it,
    and values keep theirs where all labels are of claims. The second result is by entity type, the
    global one under "".
    """
    values = np.asarray(scores, dtype=np.float64)
    labels = np.asarray(supported, dtype=bool)
    names = np.asarray(entity_types)
    standing = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    fitted = {"": fit_threshold(values, labels.tolist(), target, standing)}
    for name, count in sorted(Counter(entity_types).items()):
        own = names == name
        rarer = min(int(labels[own].sum()), int((~labels[own]).sum()))
        if count >= MIN_LABELS and rarer >= MIN_PER_CLASS:
            fitted[name] = fit_threshold(values[own], labels[own].tolist(), target, standing[own])
    known = known or Thresholds(default=fitted[""].value)
    of_claims = set(entity_types) == {CLAIM_TYPE}
    if of_claims:
        fitted[CLAIM_TYPE] = fitted[""]
    anew = {name.casefold() for name in fitted}
    kept = {name: one for name, one in known.by_type.items() if name.casefold() not in anew}
    own_ones = {
        name: TypeThreshold(value=one.value, n=one.n, target=str(target))
        for name, one in fitted.items()
        if name
    }
    default = known.default if of_claims else fitted[""].value
    return Thresholds(default=default, by_type=kept | own_ones), fitted


def _choose(
    hits: Floats, flagged: Floats, unsupported: float, supported: float, target: Target
) -> tuple[int, bool]:
    if target.measure == "refused":
        refused = (flagged - hits) / (supported or 1.0)
        return int(np.flatnonzero(refused <= target.value)[-1]), True
    precision = np.divide(hits, flagged, out=np.ones(len(hits)), where=flagged > 0)
    recall = hits / (unsupported or 1.0)
    if target.measure == "f1":
        return int(np.argmax(2 * hits / np.maximum(flagged + unsupported, 1e-9))), True
    aimed, other = (precision, recall) if target.measure == "precision" else (recall, precision)
    reached = np.flatnonzero(aimed >= target.value)
    if len(reached):
        return int(reached[np.argmax(other[reached])]), True
    return int(np.argmax(aimed)), False


def _fitted(
    value: float, hits: int, flagged: int, unsupported: NDArray[np.bool_], met: bool
) -> FittedThreshold:
    total = int(unsupported.sum())
    return FittedThreshold(
        value=value,
        n=len(unsupported),
        unsupported=total,
        precision=hits / flagged if flagged else 0.0,
        precision_ci=wilson(hits, flagged),
        recall=hits / total if total else 0.0,
        recall_ci=wilson(hits, total),
        met=met,
    )

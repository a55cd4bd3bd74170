"""Macro precision, recall, F1 and accuracy, at thresholds that no judged answer helped to fit.

The paper (section 6) fits thresholds on its development split. Here every answer is in one of
several folds, whole queries each, and is judged at the threshold that the others give: so all of
them count, and none is judged by itself.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from research.answers.judgement import JudgedSet
from research.answers.sets import LabelledAnswer
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.intervals import Interval, Weights, bootstrap
from safepassage.scoring_worker.evaluation.metrics import Mask, f1_of, recall_of
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.splits import folds

FOLDS = 5
UNDETERMINED = -1.0
"""The score of what could not be judged: below every threshold, never grounded."""


class GroundednessFigures(Contract):
    """One method on one set. Precision, recall and F1 are macro averages over both classes.

    ``thresholds`` of the folds; ``latency_seconds`` and ``cost_usd`` per answer, the latter None
    where a call has no price. ``by_error_type``: of the ungrounded answers of a type, how many
    there are and how many were taken for grounded. Intervals are of a bootstrap over queries.
    """

    dataset: str
    detector: str
    revision: str
    rests_on: str
    n: int
    grounded: int
    undetermined: int
    precision: float
    precision_ci: Interval | None
    recall: float
    recall_ci: Interval | None
    f1: float
    f1_ci: Interval | None
    accuracy: float
    accuracy_ci: Interval | None
    auroc: float | None
    auroc_ci: Interval | None
    thresholds: tuple[float, ...]
    latency_seconds: float
    latency_p95_seconds: float
    cost_usd: float | None
    by_error_type: dict[str, tuple[int, int]] = Field(default_factory=dict)


def figures(
    judged: JudgedSet, *, detector: str, revision: str, rests_on: str
) -> GroundednessFigures:
    """The figures of one method on one set."""
    cases, judgements = judged.cases.cases, judged.judgements
    truth = np.array([case.grounded for case in cases], dtype=bool)
    scores = np.array(
        [UNDETERMINED if one.score is None else one.score for one in judgements], dtype=np.float64
    )
    groups = [case.query_group for case in cases]
    said, thresholds = decided(scores, truth, groups)
    # The class to find is the ungrounded one: doubt grows as the score falls.
    ranking = Ranking(~truth, (-scores).tolist())
    every = np.ones(len(truth))
    measured: dict[str, object] = {}
    for at, name in enumerate(("precision", "recall", "f1", "accuracy")):

        def statistic(weights: Weights, at: int = at) -> float:
            return macro(truth, said, weights)[at]

        measured |= {name: statistic(every), f"{name}_ci": bootstrap(statistic, groups)}
    auroc = ranking.auroc(every)
    costs = [one.cost_usd for one in judgements]
    priced = [cost for cost in costs if cost is not None]
    latencies = np.array([one.latency for one in judgements])
    return GroundednessFigures.model_validate(
        measured
        | {
            "dataset": judged.cases.name,
            "detector": detector,
            "revision": revision,
            "rests_on": rests_on,
            "n": len(truth),
            "grounded": int(truth.sum()),
            "undetermined": sum(one.score is None for one in judgements),
            "auroc": auroc,
            "auroc_ci": bootstrap(ranking.auroc, groups) if auroc is not None else None,
            "thresholds": tuple(thresholds),
            "latency_seconds": round(float(latencies.mean()), 6),
            "latency_p95_seconds": round(float(np.quantile(latencies, 0.95)), 6),
            "cost_usd": sum(priced) / len(priced) if len(priced) == len(costs) else None,
            "by_error_type": _by_error_type(cases, said),
        }
    )


def decided(
    scores: NDArray[np.float64], truth: Mask, groups: Sequence[str]
) -> tuple[Mask, list[float]]:
    """Who is called grounded, each by the threshold of the other folds; and those thresholds."""
    fold_of = folds(groups, min(FOLDS, len(set(groups))), seed=0)
    fold = np.array([fold_of[group] for group in groups])
    said = np.zeros(len(truth), dtype=bool)
    thresholds = []
    for held in sorted(set(fold.tolist())):
        here = fold == held
        # A single query has nothing beside it to fit on.
        others = ~here if (~here).any() else here
        threshold = fitted(scores[others], truth[others])
        said[here] = (scores[here] >= threshold) & (scores[here] >= 0)
        thresholds.append(threshold)
    return said, thresholds


def fitted(scores: NDArray[np.float64], truth: Mask) -> float:
    """The threshold of the best macro F1, in the middle of the scores it lies between.

    Of equally good ones the lowest; never 0, since what is grounded needs evidence.
    """
    known = np.unique(np.clip(scores[scores >= 0], 0, 1))
    between = (known[1:] + known[:-1]) / 2
    candidates = np.unique(np.concatenate([between, known[:1] / 2, (known[-1:] + 1) / 2, [0.5]]))
    candidates = candidates[candidates > 0]
    every = np.ones(len(truth))
    best = max(candidates, key=lambda one: (macro(truth, scores >= one, every)[2], -one))
    return round(float(best), 6)


def macro(truth: Mask, said: Mask, weights: Weights) -> tuple[float, float, float, float]:
    """(precision, recall, F1, accuracy), the first three as means over the two classes; a class
    that nobody named has precision 0, as in the paper's table."""
    classes = ((truth, said), (~truth, ~said))
    precision = sum(recall_of(named, real, weights) for real, named in classes) / 2
    recall = sum(recall_of(real, named, weights) for real, named in classes) / 2
    f1 = sum(f1_of(real, named, weights) for real, named in classes) / 2
    accuracy = float(weights[truth == said].sum() / weights.sum())
    return precision, recall, f1, accuracy


def _by_error_type(cases: Sequence[LabelledAnswer], said: Mask) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for case, grounded in zip(cases, said, strict=True):
        if case.error_type is not None and not case.grounded:
            total, missed = found.get(case.error_type, (0, 0))
            found[case.error_type] = (total + 1, missed + int(grounded))
    return dict(sorted(found.items()))

"""The grids of the paper's Table 5, searched by AUROC on folds that share no document."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.evaluation.splits import folds

LIGHTGBM: Final[Mapping[str, Sequence[Any]]] = {
    "max_depth": (2, 4, -1),
    "n_estimators": (60, 100, 200),
    "num_leaves": (4, 10, 31),
    "subsample": (0.8, 1.0),
}
RANDOM_FOREST: Final[Mapping[str, Sequence[Any]]] = {
    "max_depth": (1, 2, 3, 4, 5),
    "n_estimators": (100, 325, 550, 775, 1000),
}
FOLDS = 3

Floats = NDArray[np.float64]
Fit = Callable[[Floats, NDArray[np.int64], Mapping[str, Any]], Any]


def points(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of a grid."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def search(
    fit: Fit,
    grid: Mapping[str, Sequence[Any]],
    rows: Floats,
    labels: NDArray[np.int64],
    *,
    groups: Sequence[str],
    on_progress: OnProgress,
) -> tuple[dict[str, Any], float]:
    """The best point of ``grid``, the first of equals, and its mean AUROC over the folds.

    Args:
        rows: features [rows, features]; ``labels`` [rows] 1 is out of context.
        groups: the document of each row; no fold tests a document that it trained on.

    Raises:
        ValueError: no fold has rows of both classes on both sides.
    """
    fold_of = folds(groups, FOLDS, seed=0)
    fold = np.array([fold_of[group] for group in groups])
    candidates = points(grid)
    best: tuple[dict[str, Any], float] | None = None
    for number, point in enumerate(candidates):
        on_progress("grid points tried", number, len(candidates))
        scores = [
            area
            for held in range(FOLDS)
            if (area := _area(fit, rows, labels, fold == held, point)) is not None
        ]
        if not scores:
            raise ValueError("too few labelled documents of both classes for folds")
        mean = float(np.mean(scores))
        if best is None or mean > best[1]:
            best = point, mean
    on_progress("grid points tried", len(candidates), len(candidates))
    assert best is not None  # noqa: S101 (a grid has points)
    return best


def threshold_of(
    fit: Fit,
    point: Mapping[str, Any],
    rows: Floats,
    labels: NDArray[np.int64],
    *,
    groups: Sequence[str],
) -> float:
    """P(out of context) in [0, 1] from which on a row counts as out of context: where F1 of that
    class is best on rows that were held out of the fit, in folds that share no document."""
    fold_of = folds(groups, FOLDS, seed=0)
    fold = np.array([fold_of[group] for group in groups])
    doubt = np.full(len(rows), np.nan)
    for held in range(FOLDS):
        if len(set(labels[fold != held].tolist())) == 2 and (fold == held).any():
            model = fit(rows[fold != held], labels[fold != held], point)
            doubt[fold == held] = model.predict_proba(rows[fold == held])[:, 1]
    known = np.isfinite(doubt)
    order = np.argsort(-doubt[known], kind="stable")
    said, right = doubt[known][order], labels[known][order]
    found = np.cumsum(right)
    f1 = 2 * found / (np.arange(1, len(right) + 1) + right.sum())
    # Rows of one doubt are on one side of any threshold: only the last of them counts.
    last = np.append(said[1:] != said[:-1], True)
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = said[best + 1] if best + 1 < len(said) else 0.0
    return round(float(said[best] + below) / 2, 4)


def _area(
    fit: Fit,
    rows: Floats,
    labels: NDArray[np.int64],
    held: NDArray[np.bool_],
    point: Mapping[str, Any],
) -> float | None:
    if len(set(labels[~held].tolist())) < 2:
        return None
    model = fit(rows[~held], labels[~held], point)
    doubt = model.predict_proba(rows[held])[:, 1]
    return Ranking(labels[held] == 1, doubt.tolist()).auroc(np.ones(int(held.sum())))

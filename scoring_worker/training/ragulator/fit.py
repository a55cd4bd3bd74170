"""Fits the meta-classifiers and writes them as JSON forests (RAGulator, section 2.5, Table 5).

LightGBM is asked for here only (``pip install safepassage[ragulator]``): what serves reads JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scoring_worker.detectors.ragulator.features import EXTENDED, PAPER, RISING
from scoring_worker.detectors.ragulator.forest import LEAF, Forest, Tree
from scoring_worker.evaluation.sources import OnProgress

from .grid import LIGHTGBM, RANDOM_FOREST, search

Model = Literal["lightgbm", "random-forest", "extended"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)

Floats = NDArray[np.float64]
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class LabelledFeatures:
    """A claim's features by name, whether it is out of context, and the document it is of."""

    features: Mapping[str, float]
    out_of_context: bool
    group: str
    source: str


def fitted(model: Model, labelled: Sequence[LabelledFeatures], on_progress: OnProgress) -> Forest:
    """The forest at the best point of the model's grid, fitted on all of ``labelled``.

    ``extended`` is LightGBM on this project's further features too, each allowed to work one way
    only: what a feature means does not change with the source.

    Raises:
        ImportError: LightGBM is asked for and not installed.
        ValueError: the labels are of one class, or of too few documents.
    """
    names = EXTENDED if model == "extended" else PAPER
    rows = np.array([[one.features[name] for name in names] for one in labelled])
    labels = np.array([int(one.out_of_context) for one in labelled])
    if len(set(labels.tolist())) < 2:
        raise ValueError("the labels are all of one class")
    find = partial(search, groups=[one.group for one in labelled], on_progress=on_progress)
    if model == "random-forest":
        best, area = find(_fit_forest, RANDOM_FOREST, rows, labels)
        trees = forest_trees(_fit_forest(rows, labels, best))
    else:
        ways = [RISING[name] for name in names] if model == "extended" else None

        def fit(rows: Floats, labels: NDArray[np.int64], point: Mapping[str, Any]) -> Any:
            return _fit_boosted(rows, labels, point, ways)

        best, area = find(fit, LIGHTGBM, rows, labels)
        trees = boosted_trees(fit(rows, labels, best))
    return Forest(
        kind="averaged" if model == "random-forest" else "boosted",
        features=names,
        trees=trees,
        parameters=best,
        trained_on=tuple(sorted({one.source for one in labelled})),
        measured={"folds_auroc": round(area, 4), "rows": len(labelled)},
    )


def _fit_forest(rows: Floats, labels: NDArray[np.int64], point: Mapping[str, Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 (training only)

    return RandomForestClassifier(**point, random_state=0, n_jobs=1).fit(rows, labels)


def _fit_boosted(
    rows: Floats,
    labels: NDArray[np.int64],
    point: Mapping[str, Any],
    ways: Sequence[int] | None = None,
) -> Any:
    from lightgbm import LGBMClassifier  # noqa: PLC0415 (an extra)

    return LGBMClassifier(
        **point,
        subsample_freq=1,  # without it LightGBM leaves subsample unused
        monotone_constraints=list(ways) if ways else None,
        random_state=0,
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
        verbosity=-1,
    ).fit(rows, labels)


def forest_trees(model: Any) -> tuple[Tree, ...]:
    """The trees of a fitted ``RandomForestClassifier``."""
    return tuple([_of_sklearn(one.tree_) for one in model.estimators_])


def _of_sklearn(tree: Any) -> Tree:
    inner = tree.children_left >= 0
    counts = tree.value[:, 0, :]
    shares = counts[:, 1] / counts.sum(axis=1)
    return Tree(
        feature=tuple(np.where(inner, tree.feature, LEAF).tolist()),
        threshold=tuple(np.where(inner, tree.threshold, 0.0).tolist()),
        left=tuple(np.where(inner, tree.children_left, 0).tolist()),
        right=tuple(np.where(inner, tree.children_right, 0).tolist()),
        value=tuple(np.where(inner, 0.0, shares).round(_DECIMALS).tolist()),
    )


def boosted_trees(model: Any) -> tuple[Tree, ...]:
    """The trees of a fitted ``LGBMClassifier``."""
    dumped = model.booster_.dump_model()["tree_info"]
    return tuple([_of_lightgbm(tree["tree_structure"]) for tree in dumped])


def _of_lightgbm(root: Mapping[str, Any]) -> Tree:
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[float] = []

    def add(node: Mapping[str, Any]) -> int:
        at = len(feature)
        inner = "split_feature" in node
        feature.append(int(node["split_feature"]) if inner else LEAF)
        threshold.append(float(node["threshold"]) if inner else 0.0)
        value.append(0.0 if inner else float(node["leaf_value"]))
        left.append(0)
        right.append(0)
        if inner:
            left[at], right[at] = add(node["left_child"]), add(node["right_child"])
        return at

    add(root)
    return Tree(
        feature=tuple(feature),
        threshold=tuple(threshold),
        left=tuple(left),
        right=tuple(right),
        value=tuple(value),
    )

"""Fits the meta-classifiers and writes them as JSON forests (RAGulator, section 2.5, Table 5).

LightGBM is asked for here only (``pip install safepassage[ragulator]``): what serves reads JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from safepassage.scoring_worker.detectors.ragulator.features import EXTENDED, PAPER, RISING
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.forest import LEAF, Forest, Tree

from .grid import LIGHTGBM, RANDOM_FOREST, Fit, search, threshold_of

Model = Literal["lightgbm", "random-forest", "extended"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)

Floats = NDArray[np.float64]
_DECIMALS = 6
_DRAWN: Final = {"subsample": 0.8, "colsample_bytree": 0.8}
"""What a forest sees that is one of several, regardless of what the grid says."""


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
    only (`fitted_one_way`).

    Raises:
        ImportError: LightGBM is asked for and not installed.
        ValueError: the labels are of one class, or of too few documents.
    """
    if model == "extended":
        return fitted_one_way(EXTENDED, RISING, labelled, on_progress)
    table = _Table.of(PAPER, labelled)
    if model == "lightgbm":
        return _boosted(table, None, on_progress)
    best, area = table.searched(_fit_forest, RANDOM_FOREST, on_progress)
    trees = forest_trees(_fit_forest(table.rows, table.labels, best))
    return table.forest("averaged", trees, best, area, table.threshold(_fit_forest, best))


def fitted_one_way(
    names: Sequence[str],
    rising: Mapping[str, int],
    labelled: Sequence[LabelledFeatures],
    on_progress: OnProgress,
    *,
    draws: int = 1,
) -> Forest:
    """LightGBM on ``names``, with which P(out of context) may only rise (1) or only fall (-1), as
    ``rising`` says: what a feature means does not change with the source.

    ``draws`` forests, each on a draw of its own of rows and features, speak as their mean: what
    one alone says of a far source moves with its seed.

    Raises:
        ImportError: LightGBM is not installed.
        ValueError: the labels are of one class, or of too few documents.
    """
    ways = [rising[name] for name in names]
    return _boosted(_Table.of(names, labelled), ways, on_progress, draws)


@dataclass(frozen=True, slots=True)
class _Table:
    """What is fitted on: ``rows`` [rows, names], ``labels`` [rows], and where each is from."""

    names: tuple[str, ...]
    rows: Floats
    labels: NDArray[np.int64]
    groups: list[str]
    sources: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], labelled: Sequence[LabelledFeatures]) -> _Table:
        labels = np.array([int(one.out_of_context) for one in labelled])
        if len(set(labels.tolist())) < 2:
            raise ValueError("the labels are all of one class")
        return cls(
            tuple(names),
            np.array([[one.features[name] for name in names] for one in labelled]),
            labels,
            [one.group for one in labelled],
            tuple(sorted({one.source for one in labelled})),
        )

    def searched(
        self, fit: Fit, grid: Mapping[str, Sequence[Any]], on_progress: OnProgress
    ) -> tuple[dict[str, Any], float]:
        return search(
            fit, grid, self.rows, self.labels, groups=self.groups, on_progress=on_progress
        )

    def threshold(self, fit: Fit, best: Mapping[str, Any]) -> float:
        return threshold_of(fit, best, self.rows, self.labels, groups=self.groups)

    def forest(
        self,
        kind: Literal["boosted", "averaged"],
        trees: tuple[Tree, ...],
        best: dict[str, Any],
        area: float,
        threshold: float,
    ) -> Forest:
        return Forest(
            kind=kind,
            features=self.names,
            trees=trees,
            parameters=best,
            threshold=threshold,
            trained_on=self.sources,
            measured={"folds_auroc": round(area, 4), "rows": len(self.labels)},
        )


def _boosted(
    table: _Table, ways: Sequence[int] | None, on_progress: OnProgress, draws: int = 1
) -> Forest:
    def fit(rows: Floats, labels: NDArray[np.int64], point: Mapping[str, Any]) -> Any:
        return _fit_boosted(rows, labels, point, ways)

    best, area = table.searched(fit, LIGHTGBM, on_progress)
    threshold = table.threshold(fit, best)
    if draws == 1:
        trees = boosted_trees(fit(table.rows, table.labels, best))
    else:
        drawn = {**best, **_DRAWN}
        fits = [fit(table.rows, table.labels, {**drawn, "random_state": n}) for n in range(draws)]
        trees = tuple([_share(tree, draws) for one in fits for tree in boosted_trees(one)])
        best = {**drawn, "draws": draws}
    return table.forest("boosted", trees, best, area, threshold)


def _share(tree: Tree, of: int) -> Tree:
    return tree.model_copy(update={"value": tuple([value / of for value in tree.value])})


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
        **{"random_state": 0, **point},
        subsample_freq=1,  # without it LightGBM leaves subsample unused
        monotone_constraints=list(ways) if ways else None,
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

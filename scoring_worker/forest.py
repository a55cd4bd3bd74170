"""Forests of decision trees as JSON: what serves needs neither LightGBM nor a pickle."""

import hashlib
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue, model_validator

from safepassage.schemas.base import Contract, is_empty
from safepassage.scoring_worker.manifest import REVISION_HEX_DIGITS, read_contract

MAX_TREES = 2_000
MAX_NODES = 4_096
LEAF = -1

Floats = NDArray[np.float64]


class Tree(Contract):
    """Nodes by number, the root is 0. A row goes left where its ``feature`` is at most
    ``threshold``; where ``feature`` is `LEAF` it ends, and ``value`` is what the tree says."""

    feature: tuple[int, ...] = Field(min_length=1, max_length=MAX_NODES)
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    @model_validator(mode="after")
    def _ends(self) -> Self:
        """A file of others cannot make a walk that never ends, or one outside the nodes."""
        nodes = len(self.feature)
        if any(len(row) != nodes for row in (self.threshold, self.left, self.right, self.value)):
            raise ValueError("a tree's columns are not of one length")
        for at, feature in enumerate(self.feature):
            children = (self.left[at], self.right[at])
            if feature != LEAF and not all(at < child < nodes for child in children):
                raise ValueError("a node's children are not behind it")
        return self


class MeasureUsed(Contract):
    """What a feature was measured with: ``name`` (a scorer, a folder or a hub id), and the
    ``revision`` of its weights."""

    name: str = Field(min_length=1, max_length=600)
    revision: str = Field(min_length=1, max_length=200)


class Forest(Contract):
    """Trees over named features; gives P(out of context).

    ``boosted`` trees add up to log-odds (LightGBM), ``averaged`` ones have a probability each
    (random forest). ``trained_on`` names sets and licences, ``measured`` is for the model card.
    ``measures`` are those that the features of training came from ("similarity", "relevance");
    a file that does not say is not served.
    """

    version: Literal[1] = 1
    kind: Literal["boosted", "averaged"]
    features: tuple[str, ...] = Field(min_length=1, max_length=64)
    trees: tuple[Tree, ...] = Field(min_length=1, max_length=MAX_TREES)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    threshold: float = Field(default=0.5, ge=0, le=1)
    trained_on: tuple[str, ...] = ()
    measures: dict[str, MeasureUsed] = Field(
        default_factory=dict, max_length=8, exclude_if=is_empty
    )
    measured: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _knows_its_features(self) -> Self:
        count = len(self.features)
        if any(not LEAF <= feature < count for tree in self.trees for feature in tree.feature):
            raise ValueError("a tree asks for a feature that is not named")
        return self

    @property
    def revision(self) -> str:
        """Hex digits that change with anything in the file."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:REVISION_HEX_DIGITS]

    @classmethod
    def load(cls, path: Path) -> Self:
        """The forest of a JSON file. Raises `ModelError` where it cannot be read, or is no
        forest."""
        return read_contract(cls, path, "forest")


class Predictor:
    """A forest laid out for numpy: all trees side by side, the shorter ones filled up with leaves.

    The columns are [trees, nodes]; ``_deepest`` steps lead from any root to a leaf.
    """

    def __init__(self, forest: Forest) -> None:
        self._boosted = forest.kind == "boosted"
        longest = max(len(tree.feature) for tree in forest.trees)
        shape = (len(forest.trees), longest)
        self._feature = np.full(shape, LEAF, dtype=np.int64)
        self._left, self._right = np.zeros((2, *shape), dtype=np.int64)
        self._threshold, self._value = np.zeros((2, *shape))
        for at, tree in enumerate(forest.trees):
            nodes = len(tree.feature)
            self._feature[at, :nodes] = tree.feature
            self._left[at, :nodes] = tree.left
            self._right[at, :nodes] = tree.right
            self._threshold[at, :nodes] = tree.threshold
            self._value[at, :nodes] = tree.value
        self._deepest = max(_depth(tree) for tree in forest.trees)

    def out_of_context(self, rows: Floats) -> Floats:
        """P(out of context) [rows] of features [rows, features]; NaN where a feature is."""
        # scikit-learn fits its thresholds to features in single precision.
        seen = rows if self._boosted else rows.astype(np.float32).astype(np.float64)
        found = np.array([self._said(row) for row in seen])
        if self._boosted:
            found = 1.0 / (1.0 + np.exp(-found))
        return np.where(np.isfinite(rows).all(axis=1), found, np.nan)

    def log_odds(self, row: Floats) -> float:
        """Log-odds of out of context for the features [features] of one claim, all finite. Raises
        `ValueError` where the trees are averaged: they have probabilities."""
        if not self._boosted:
            raise ValueError("averaged trees have no log-odds")
        return self._said(row)

    def _said(self, row: Floats) -> float:
        """Row by row, so that what a row gets never depends on those beside it."""
        trees = np.arange(len(self._feature))
        at = np.zeros(len(trees), dtype=np.int64)
        for _ in range(self._deepest):
            feature = self._feature[trees, at]
            below = row[np.maximum(feature, 0)] <= self._threshold[trees, at]
            onward = np.where(below, self._left[trees, at], self._right[trees, at])
            at = np.where(feature == LEAF, at, onward)
        leaves = self._value[trees, at]
        return float(leaves.sum() if self._boosted else leaves.mean())


def _depth(tree: Tree) -> int:
    """The most steps from the root to a leaf; children are behind their parents."""
    depth = [0] * len(tree.feature)
    for at, feature in enumerate(tree.feature):
        if feature != LEAF:
            depth[tree.left[at]] = depth[tree.right[at]] = depth[at] + 1
    return max(depth)

"""How well scores find the unsupported pairs: the figures of scorer.json and of the card."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue
from sklearn.metrics import roc_auc_score

from scoring_worker.corruption import LabelledPair


def measures(
    scores: NDArray[np.float64], pairs: Sequence[LabelledPair], threshold: float
) -> dict[str, JsonValue]:
    """n, precision, recall and F1 (positive: unsupported) at ``threshold``, and AUROC."""
    unsupported = np.array([pair.label == 0 for pair in pairs])
    flagged = scores < threshold
    hits = int((unsupported & flagged).sum())
    found: dict[str, JsonValue] = {"n": len(pairs), "unsupported": int(unsupported.sum())}
    found["precision"] = _share(hits, int(flagged.sum()))
    found["recall"] = _share(hits, int(unsupported.sum()))
    found["f1"] = _share(2 * hits, int(flagged.sum() + unsupported.sum()))
    if 0 < unsupported.sum() < len(pairs):
        found["auroc"] = round(float(roc_auc_score(~unsupported, scores)), 4)
    return found


def recall_by_kind(
    scores: NDArray[np.float64], pairs: Sequence[LabelledPair], threshold: float
) -> dict[str, float]:
    """Share of each kind of unsupported pair that is found."""
    kinds = sorted({pair.kind for pair in pairs if pair.label == 0})
    found = {}
    for kind in kinds:
        mine = [at for at, pair in enumerate(pairs) if pair.label == 0 and pair.kind == kind]
        found[kind] = round(float((scores[mine] < threshold).mean()), 4)
    return found


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0

"""From what was found about a pair's parts to its one score, held against a threshold."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.memory.reviewed_alike import Recall
from safepassage.scoring_worker.risk.groups import BELOW, NOTHING_PASSES, threshold_of
from safepassage.scoring_worker.scorer import Pair

from .opinion import Opinion
from .stack import Stack

DECIMALS = 6
REFUSED = 0.01
"""The most that a pair is worth whose value the comparators call different."""


class PairScore(NamedTuple):
    """A pair's score (0 to 1, or not finite), its threshold, and the reviewed cases that moved
    it."""

    score: float
    threshold: float
    recall: Recall | None

    @property
    def passes(self) -> bool:
        """Whether the score is a number that reaches the threshold."""
        return self.score >= self.threshold


def score_of_pair(
    pair: Pair, opinions: Sequence[Opinion], stack: Stack, manifest: ScorerManifest
) -> PairScore:
    """A value with parts is worth what its worst part is worth. Below the threshold is in any
    case what the comparators call different, what nothing may pass, and what has no passage."""
    scores = [score_of_part(one, pair.entity_type, stack, manifest) for one in opinions]
    score = min(scores)
    # The worst part's; else another's, by which it may have become the worst.
    recalls = [opinions[scores.index(score)].recall, *(one.recall for one in opinions)]
    threshold = threshold_of(manifest.thresholds, pair)
    if threshold >= NOTHING_PASSES:
        score = min(score, NOTHING_PASSES - BELOW)
    if any(opinion.different for opinion in opinions):
        score = min(score, REFUSED, threshold / 2)
    if not pair.premise.strip():  # of claims alone: there is nothing that could support it
        score = min(score, max(0.0, round(threshold - BELOW, DECIMALS)))
    return PairScore(score, threshold, next((one for one in recalls if one), None))


def score_of_part(
    opinion: Opinion, entity_type: str, stack: Stack, manifest: ScorerManifest
) -> float:
    """The stack's log-odds, moved by what reviewers decided of like cases, as a calibrated
    probability."""
    odds = stack.log_odds(opinion, entity_type)
    odds += opinion.recall.shift if opinion.recall else 0.0
    raw = 1.0 / (1.0 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1.0 + math.exp(odds))
    return round(float(apply(manifest.calibration, np.array([raw]))[0]), DECIMALS)

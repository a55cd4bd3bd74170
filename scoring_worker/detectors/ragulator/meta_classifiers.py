"""A meta-classifier as a detector."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from safepassage.schemas import stable_id
from safepassage.schemas.evidence import ConsultedPassage
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding
from safepassage.scoring_worker.detectors.grounding import grounding_of
from safepassage.scoring_worker.forest import Forest, Predictor

from .measurement import ClaimMeasure, MeasuredClaim

SHIPPED: Final = Path(__file__).with_name("forest.json")
"""Monotone LightGBM on nine features."""
DECIMALS = 6


class MetaClassifier:
    """A forest over the features of every claim; a response is as grounded as its worst claim."""

    def __init__(self, name: str, forest: Forest, measure: ClaimMeasure) -> None:
        self.name = name
        self.revision = stable_id("ragulator", forest.revision, measure.revision)[:16]
        self.threshold = 1.0 - forest.threshold
        self._forest = forest
        self._predictor = Predictor(forest)
        self._measure = measure

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order; the claims of all answers are measured together."""
        measured = self._measure.measure(answers)
        rows = [
            claim.row(self._forest.features)
            for found in measured
            if not isinstance(found, str)
            for claim in found
        ]
        grounded = iter(1.0 - self._predictor.out_of_context(np.array(rows)) if rows else ())
        return [
            Grounding.undetermined(found)
            if isinstance(found, str)
            else grounding_of(
                tuple([self._claim(claim, float(next(grounded))) for claim in found]),
                unsupported_below=self.threshold,
            )
            for found in measured
        ]

    def close(self) -> None:
        """Close what measures."""
        self._measure.close()

    def _claim(self, claim: MeasuredClaim, score: float) -> ClaimGrounding:
        if claim.failure is not None or not math.isfinite(score):
            failure = claim.failure or "score_not_finite"
            return ClaimGrounding(claim.start, claim.end, None, failure)
        supports = score >= self.threshold
        passages: tuple[ConsultedPassage, ...] = tuple(
            [one.model_copy(update={"supports": supports}) for one in claim.passages]
        )
        return ClaimGrounding(claim.start, claim.end, round(score, DECIMALS), passages=passages)

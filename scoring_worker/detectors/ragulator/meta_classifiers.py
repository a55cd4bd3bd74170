"""The meta-classifiers as detectors, and single features as the baselines beside them."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from safepassage.passages.granularity import claims
from safepassage.schemas import stable_id
from safepassage.schemas.evidence import ConsultedPassage
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding
from safepassage.scoring_worker.detectors.scorer_detector import grounding_of
from safepassage.scoring_worker.detectors.similarity.word_vectors import word_vectors
from safepassage.scoring_worker.forest import Forest, Predictor

from .features import indexed, lexical_features
from .measurement import ClaimMeasure, MeasuredClaim

MODELS: Final = Path(__file__).parent / "models"
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


class SingleFeature:
    """One lexical feature as a detector: what a meta-classifier has to beat."""

    def __init__(self, name: str, feature: str, grounded: Callable[[float], float]) -> None:
        self.name = name
        self._feature = feature
        self._grounded = grounded
        self._vectors = word_vectors()
        self.revision = stable_id("feature", feature, self._vectors.revision)[:16]

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order."""
        return [self._ground(answer) for answer in answers]

    def close(self) -> None:
        """Nothing is held open."""

    def _ground(self, answer: Answer) -> Grounding:
        if not any(text.strip() for text in answer.context):
            return Grounding.undetermined("no_context")
        context = indexed(answer.context, self._vectors)
        judged = []
        for start, end in claims(answer.response):
            found = lexical_features(answer.response[start:end], context, self._vectors)
            score = round(self._grounded(found[self._feature]), DECIMALS)
            judged.append(ClaimGrounding(start, end, score))
        return grounding_of(tuple(judged))

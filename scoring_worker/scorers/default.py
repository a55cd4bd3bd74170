"""The default scorer: an encoder's opinion and the deterministic checks, weighed together.

Logistic regression, one set of coefficients per shape of value (see `scoring_worker.checks`).
It is read from ``stack`` of scorer.json; nothing is unpickled. The checks' findings go on the
assessment, so that a verdict says what was found and not only how sure the scorer is.

The checks cost a fifteenth of the encoder, so they come first, and the encoder is asked only
where its opinion matters: where some opinion would change the verdict, or the score by more than
`NEGLIGIBLE`. Elsewhere it counts as undecided. Whether it is asked depends on the pair alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field, ValidationError

from schemas import Assessment, ScorerTrail
from schemas.base import Contract
from scoring_worker.calibration import apply
from scoring_worker.checks import SHAPES, Examination, examine, rules_digest
from scoring_worker.encoders.batching import PairFailure
from scoring_worker.encoders.encoder import Encoder
from scoring_worker.manifest import ModelError, ScorerManifest
from scoring_worker.packs.contract import Pack
from scoring_worker.scorer import Pair

ENCODER = "encoder"
ENCODER_ALONE = "encoder_alone"
"""Features beside the checks': the encoder's log-odds in [-1, 1], and the same where no check
knows the entity type and the encoder is the only judge of it."""
MAX_LOG_ODDS = 6.0
NEGLIGIBLE = 0.05
UNDECIDED = 0.5
DECIMALS = 6


def stack_features(examination: Examination, probability: float) -> dict[str, float]:
    """The checks' features with the encoder's: p = ``probability`` as clipped log-odds."""
    clipped = min(max(probability, 1e-9), 1 - 1e-9)
    odds = math.log(clipped / (1 - clipped))
    encoder = min(max(odds, -MAX_LOG_ODDS), MAX_LOG_ODDS) / MAX_LOG_ODDS
    alone = encoder * examination.features.get("role_unknown", 0.0)
    return {**examination.features, ENCODER: encoder, ENCODER_ALONE: alone}


class ShapeWeights(Contract):
    """Coefficients for one shape; features without one do not count."""

    bias: float
    weights: dict[str, float]

    def log_odds(self, features: Mapping[str, float]) -> float:
        """Log-odds that the passage supports the value."""
        return self.bias + sum(
            self.weights[name] * value for name, value in features.items() if name in self.weights
        )


class Stack(Contract):
    """``stack`` of scorer.json: coefficients for every shape."""

    shapes: dict[str, ShapeWeights] = Field(min_length=1)

    @classmethod
    def of(cls, manifest: ScorerManifest) -> Stack:
        """The stack of ``manifest``.

        Raises:
            ModelError: it is absent or malformed, or a shape has no coefficients.
        """
        try:
            stack = cls.model_validate(manifest.stack)
        except ValidationError as error:
            raise ModelError(f"{manifest.name}: no usable stack in scorer.json") from error
        missing = sorted(set(SHAPES) - stack.shapes.keys())
        if missing:
            raise ModelError(f"{manifest.name}: no coefficients for {', '.join(missing)}")
        return stack

    def log_odds(self, examination: Examination, probability: float) -> float:
        """Log-odds of support, from the checks and the encoder's ``probability``."""
        features = stack_features(examination, probability)
        return self.shapes[examination.shape].log_odds(features)


class StackedScorer:
    """Scores with encoder and checks. Thread-safe as far as ``encoder`` is."""

    def __init__(
        self, manifest: ScorerManifest, encoder: Encoder, packs: Sequence[Pack] = ()
    ) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.packs = tuple(packs)
        """Known, and not asked: these checks carry the lexicons of all packs in any case."""
        self.name = manifest.name
        self.revision = f"{encoder.revision_of(manifest)}-{rules_digest()}"
        self._stack = Stack.of(manifest)

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; a pair that cannot be scored gets a failure."""
        failures = self.encoder.unreadable(
            [pair.premise for pair in pairs], [pair.hypothesis for pair in pairs]
        )
        examined = {at: examine(pair) for at, pair in enumerate(pairs) if at not in failures}
        asked = [at for at, found in examined.items() if self._matters(pairs[at], found)]
        scores = self.encoder.score(
            [pairs[at].premise for at in asked], [pairs[at].hypothesis for at in asked]
        )
        failures |= {asked[position]: failure for position, failure in scores.failures.items()}
        opinions = dict(zip(asked, scores.probabilities.tolist(), strict=True))
        return [
            self._failed(failures[at])
            if at in failures
            else self._scored(pair, examined[at], opinions.get(at, UNDECIDED))
            for at, pair in enumerate(pairs)
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _matters(self, pair: Pair, examination: Examination) -> bool:
        """Whether the encoder could change the verdict, or the score more than negligibly."""
        low, high = sorted(self._score(examination, opinion) for opinion in (0.0, 1.0))
        return high - low > NEGLIGIBLE or low < self._threshold(pair) <= high

    def _threshold(self, pair: Pair) -> float:
        return self.manifest.thresholds.of(pair.entity_type)

    def _score(self, examination: Examination, probability: float) -> float:
        odds = self._stack.log_odds(examination, probability)
        raw = (
            1.0 / (1.0 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1.0 + math.exp(odds))
        )
        return round(float(apply(self.manifest.calibration, np.array([raw]))[0]), DECIMALS)

    def _scored(self, pair: Pair, examination: Examination, probability: float) -> Assessment:
        if not math.isfinite(probability):
            return self._failed(PairFailure("score_not_finite", "the encoder gave no number"))
        score, threshold = self._score(examination, probability), self._threshold(pair)
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=threshold,
            findings=tuple(examination.findings),
            trail=(self._trail(score, threshold),),
        )

    def _failed(self, failure: PairFailure) -> Assessment:
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            failure=failure.reason,
            failure_detail=failure.detail,
            trail=(self._trail(None, None, failure.detail),),
        )

    def _trail(
        self, score: float | None, threshold: float | None, failure: str | None = None
    ) -> ScorerTrail:
        return ScorerTrail(
            scorer=self.name,
            revision=self.revision,
            score=score,
            threshold=threshold,
            failure=failure,
        )

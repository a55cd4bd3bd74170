"""A cross-encoder alone as a `Scorer`: calibrated probability against a threshold per type."""

from collections.abc import Sequence

import numpy as np

from safepassage.schemas import Assessment
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.encoder import Encoder
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.risk.groups import below, threshold_of
from safepassage.scoring_worker.scorer import Pair


class EncoderScorer:
    """Scores with ``encoder``; calibration and thresholds come from ``manifest``."""

    def __init__(self, manifest: ScorerManifest, encoder: Encoder) -> None:
        self.manifest = manifest
        self.encoder = encoder
        self.name = manifest.name
        self.learnt_from = manifest.learnt_from
        self.revision = encoder.revision_of(manifest)
        self._by = self.name, self.revision

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; a pair that cannot be scored gets a failure."""
        scores = self.encoder.score(
            [pair.premise for pair in pairs], [pair.hypothesis for pair in pairs]
        )
        calibrated = apply(self.manifest.calibration, scores.probabilities)
        return [
            self._failed(scores.failures[at])
            if at in scores.failures or not np.isfinite(calibrated[at])
            else self._scored(pair, float(calibrated[at]))
            for at, pair in enumerate(pairs)
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _scored(self, pair: Pair, score: float) -> Assessment:
        threshold = threshold_of(self.manifest.thresholds, pair)
        return Assessment.scored(self._by, below(score, threshold), threshold)

    def _failed(self, failure: PairFailure) -> Assessment:
        return Assessment.failed(self._by, failure.reason, failure.detail)

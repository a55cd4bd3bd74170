"""Single features of words as detectors: what a meta-classifier has to beat."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from safepassage.passages.granularity import claims
from safepassage.schemas import stable_id
from safepassage.scoring_worker.detectors.contract import (
    Answer,
    ClaimGrounding,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.detectors.grounding import grounding_of
from safepassage.scoring_worker.detectors.ragulator.features import indexed, lexical_features
from safepassage.scoring_worker.detectors.ragulator.meta_classifiers import DECIMALS
from safepassage.scoring_worker.detectors.ragulator.word_vectors import word_vectors

_FEATURES: Final[dict[str, tuple[str, Callable[[float], float]]]] = {
    "token_precision": ("token_precision", lambda share: share),
    "unigram_perplexity": ("unigram_perplexity", lambda surprise: math.exp(-surprise)),
    "bigram_perplexity": ("bigram_perplexity", lambda surprise: math.exp(-surprise)),
    "missing_words": ("missing_weight", lambda weight: 1.0 / (1.0 + weight)),
}
"""The feature of each baseline, and how it becomes a score in [0, 1] that falls with doubt."""


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


def load_feature(name: str, _settings: DetectorSettings) -> SingleFeature:
    """The baseline of that name."""
    feature, grounded = _FEATURES[name]
    return SingleFeature(name, feature, grounded)

"""The same scores, held against other thresholds."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from safepassage.schemas import Assessment, stable_id, validation_summary
from safepassage.scoring_worker import Pair, Scorer
from safepassage.scoring_worker.manifest import ModelError, Thresholds
from safepassage.scoring_worker.memory.learning import AroundScorer
from safepassage.scoring_worker.risk.groups import threshold_of


class Rethresholded(AroundScorer):
    """A scorer whose thresholds are replaced, with a revision of its own."""

    def __init__(self, scorer: Scorer, thresholds: Thresholds) -> None:
        self._scorer = scorer
        self._thresholds = thresholds
        canonical = thresholds.model_dump_json()
        self._revision = stable_id("thresholds", scorer.revision, canonical)[:16]

    @property
    def name(self) -> str:
        return self._scorer.name

    @property
    def revision(self) -> str:
        return self._revision

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """The scorer's scores with our thresholds; failures stay failures."""
        assessments = zip(pairs, self._scorer.assess(pairs), strict=True)
        return [self._replaced(pair, assessment) for pair, assessment in assessments]

    def _replaced(self, pair: Pair, assessment: Assessment) -> Assessment:
        threshold = threshold_of(self._thresholds, pair)
        return assessment.model_copy(
            update={
                "revision": self._revision,
                "threshold": None if assessment.score is None else threshold,
            }
        )


def read_thresholds(path: Path) -> Thresholds:
    """Thresholds from a file such as ``{"default": 0.5, "by_type": {"Date": {"value": 0.7}}}``.

    Raises:
        ModelError: it is not such a file.
        OSError: it cannot be read.
    """
    try:
        return Thresholds.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ModelError(f"{path}: {validation_summary(error)}") from None

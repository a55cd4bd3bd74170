"""A scorer in strict mode: what the decision rule would accept, a doubt makes a person's case.

The scores stay as they are; each assessment says that it is strict, and its revision does.
"""

from collections.abc import Sequence

from safepassage.schemas import Assessment
from safepassage.schemas.decision_rule import in_mode
from safepassage.scoring_worker.learnt_from import LearntFrom, said_by
from safepassage.scoring_worker.memory.learning import AroundScorer
from safepassage.scoring_worker.scorer import Pair, Scorer


class Strict(AroundScorer):
    """``scorer``, whose verdicts are accepted only where `Assessment.doubted` is false."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.revision = in_mode(scorer.revision, strict=True)

    @property
    def name(self) -> str:
        return self._scorer.name

    @property
    def learnt_from(self) -> LearntFrom | None:
        """What the scorer learnt from."""
        return said_by(self._scorer)

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """The scorer's assessments, each marked as strict, in order."""
        own = {"strict": True, "revision": self.revision}
        return [said.model_copy(update=own) for said in self._scorer.assess(pairs)]

"""A scorer without a model: it supports a value that stands in its passage, and fails on cue."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair

from .load import EXHAUSTS, NOT_FINITE, RAISES, SHORT

THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class ScorerPlan:
    """How the scorer behaves. ``seconds_per_pair`` makes it slow. ``fails_open`` is a sabotage:
    it accepts what it could not measure."""

    revision: str = "r1"
    seconds_per_pair: float = 0.0
    fails_open: bool = False


class CueScorer:
    """Scores 0.9 where the passage holds the value, else 0.1."""

    def __init__(self, plan: ScorerPlan) -> None:
        self.name = "cue"
        self.revision = plan.revision
        self._plan = plan

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        if self._plan.seconds_per_pair:
            time.sleep(self._plan.seconds_per_pair * len(pairs))
        if not self._plan.fails_open:
            self._fail_on_cue(pairs)
        assessments = [self._assess(pair) for pair in pairs]
        short = not self._plan.fails_open and any(SHORT in str(pair.value) for pair in pairs)
        return assessments[:-1] if short else assessments

    def close(self) -> None:
        """Nothing is open."""

    @staticmethod
    def _fail_on_cue(pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            if RAISES in str(pair.value):
                raise RuntimeError("a kernel failed")
            if EXHAUSTS in str(pair.value):
                raise MemoryError

    def _assess(self, pair: Pair) -> Assessment:
        if NOT_FINITE in str(pair.value) and not self._plan.fails_open:
            return Assessment(scorer=self.name, revision=self.revision, failure="score_not_finite")
        score = 0.9 if str(pair.value) in pair.premise else 0.1
        return Assessment(
            scorer=self.name, revision=self.revision, score=score, threshold=THRESHOLD
        )

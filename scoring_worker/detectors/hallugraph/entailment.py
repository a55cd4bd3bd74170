"""How far a reader finds the sentences of an answer supported by its passages."""

from collections.abc import Sequence
from typing import NamedTuple

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.stream_detector import StreamDetector
from safepassage.scoring_worker.scorer import Scorer


class Support(NamedTuple):
    """``support`` in [0, 1] of ``response[start:end]``."""

    start: int
    end: int
    support: float


class Entailment:
    """Asks ``scorer`` for each sentence, on what is retrieved for it. A ``shared`` scorer is closed
    by others."""

    def __init__(self, scorer: Scorer, *, shared: bool = False) -> None:
        self._shared = shared
        self._stream = StreamDetector("entailment", scorer)
        self.revision = self._stream.revision

    def supports(self, answers: Sequence[Answer]) -> list[tuple[Support, ...] | str]:
        """The support of each sentence of every answer, or why an answer has none."""
        return [
            next((one.failure for one in found.claims if one.failure), None)
            or tuple([Support(one.start, one.end, one.score or 0.0) for one in found.claims])
            for found in self._stream.ground(answers)
        ]

    def close(self) -> None:
        """Close the scorer, unless it is shared."""
        if not self._shared:
            self._stream.close()

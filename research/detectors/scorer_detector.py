"""A scorer of pairs as a detector: every claim against every window, by whole sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from research.windows import Window, windows
from safepassage.passages.granularity import claims, over_windows
from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.schemas.evidence import ConsultedPassage
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding
from safepassage.scoring_worker.detectors.grounding import grounding_of
from safepassage.scoring_worker.scorer import Pair, Scorer

WINDOW_CHARACTERS = 900
"""About what a reader of 256 tokens takes beside a claim."""
MAX_WINDOWS = 400
"""Windows of one context; the best of more would grow with their number, and cost minutes."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim, where it is, and the windows that it is judged against."""

    start: int
    end: int
    windows: tuple[Window, ...]


class ScorerDetector:
    """Judges by ``scorer``: a claim is as grounded as in its best window, a response as its worst
    claim. Thread-safe as far as ``scorer`` is."""

    def __init__(self, name: str, scorer: Scorer, *, room: int = WINDOW_CHARACTERS) -> None:
        self.name = name
        self.revision = f"{scorer.revision}-windows-{room}"
        self._scorer = scorer
        self._room = room

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order; all pairs of all answers are scored together."""
        asked = [self._asked(answer) for answer in answers]
        pairs = [
            _pair(answer, claim, window)
            for answer, claimed in zip(answers, asked, strict=True)
            for claim in claimed or ()
            for window in claim.windows
        ]
        scores = iter([assessment.score for assessment in self._scorer.assess(pairs)])
        found = []
        for claimed in asked:
            if claimed is None:
                found.append(Grounding.undetermined("context_too_long"))
                continue
            rows = [(claim, [next(scores) for _ in claim.windows]) for claim in claimed]
            found.append(grounding_of(tuple([_judged(*row) for row in rows])))
        return found

    def close(self) -> None:
        """Close the scorer."""
        self._scorer.close()

    def _asked(self, answer: Answer) -> list[_Asked] | None:
        """Claims with their windows; None where the context has too many."""
        found = tuple(windows(answer.context, self._room))
        if len(found) > MAX_WINDOWS:
            return None
        return [_Asked(start, end, found) for start, end in claims(answer.response)]


def _judged(claim: _Asked, scores: Sequence[float | None]) -> ClaimGrounding:
    score = over_windows(scores)
    if score is None:
        failure = "window_not_scored" if claim.windows else "no_context"
        return ClaimGrounding(claim.start, claim.end, None, failure)
    best = claim.windows[list(scores).index(score)]
    place = ConsultedPassage(
        passage=best.passage, start=best.start, end=best.end, score=score, supports=True
    )
    return ClaimGrounding(claim.start, claim.end, score, passages=(place,))


def _pair(answer: Answer, claim: _Asked, window: Window) -> Pair:
    text = answer.response[claim.start : claim.end]
    premise = answer.context[window.passage][window.start : window.end]
    return Pair(premise, hypothesis(CLAIM_TYPE, text), CLAIM_TYPE, text)

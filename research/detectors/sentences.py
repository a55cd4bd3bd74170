"""Detectors that compare each sentence of an answer with the sentences of its context."""

from collections.abc import Callable, Sequence

from safepassage.passages.granularity import claims, over_claims
from safepassage.scoring_worker.detectors.contract import Answer, ClaimGrounding, Grounding

MAX_SENTENCES = 20_000
"""Of one context: more would be a corpus, and memory."""

Judge = Callable[[Sequence[str], Sequence[str]], list[float]]
"""(sentences of the answer, sentences of the context) to a score for each of the first."""


class SentenceDetector:
    """Scores every sentence of the answer by ``judge``; the least grounded one decides."""

    def __init__(self, name: str, revision: str, judge: Judge) -> None:
        self.name = name
        self.revision = revision
        self._judge = judge

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order."""
        return [self._ground(answer) for answer in answers]

    def close(self) -> None:
        """Nothing is held open."""

    def _ground(self, answer: Answer) -> Grounding:
        sources = context_sentences(answer)
        places = claims(answer.response)
        if not sources or not places:
            return Grounding.undetermined("no_context" if not sources else "no_claims")
        if len(sources) > MAX_SENTENCES:
            return Grounding.undetermined("context_too_long")
        scores = self._judge([answer.response[start:end] for start, end in places], sources)
        judged = [
            ClaimGrounding(*place, score) for place, score in zip(places, scores, strict=True)
        ]
        return Grounding(score=over_claims(scores), claims=tuple(judged))


def context_sentences(answer: Answer) -> list[str]:
    """The sentences of all passages of the context."""
    return [text[start:end] for text in answer.context for start, end in claims(text)]

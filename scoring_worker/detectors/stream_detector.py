"""What the stream says of an answer, as a detector: each sentence on what is retrieved for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from safepassage.passages.granularity import claims, unusable_context
from safepassage.passages.index import PassageIndex
from safepassage.passages.pleasantries import claims_nothing
from safepassage.schemas import CLAIM_TYPE, Alignment, Assessment, Response, hypothesis
from safepassage.scoring_worker.detectors.grounding import grounding_of, named_scorer
from safepassage.scoring_worker.scorer import Pair, Scorer

from .contract import Answer, ClaimGrounding, DetectorSettings, Grounding


@dataclass(frozen=True, slots=True)
class _Claim:
    start: int
    end: int
    alignment: Alignment
    pair: Pair


class StreamDetector:
    """Judges by ``scorer`` as the workers do: a claim on its passages, a response as its worst
    claim. What nothing of the context speaks of, the stream stops; how doubtful it is, the scorer
    says. Rivals are not heard: whether an answer contradicts itself, the stream finds
    (`safepassage.scoring_worker.weighing.judged_batch`)."""

    def __init__(self, name: str, scorer: Scorer) -> None:
        self.name = name
        self.revision = f"{scorer.revision}-passages"
        self._scorer = scorer

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order; all pairs of all answers are scored together."""
        indexes: dict[tuple[str, ...], PassageIndex] = {}
        asked = [self._asked(answer, indexes) for answer in answers]
        pairs = [claim.pair for found in asked if not isinstance(found, str) for claim in found]
        said = iter(self._scorer.assess(pairs))
        return [
            Grounding.undetermined(found) if isinstance(found, str) else _grounding(found, said)
            for found in asked
        ]

    def close(self) -> None:
        """Close the scorer."""
        self._scorer.close()

    def _asked(
        self, answer: Answer, indexes: dict[tuple[str, ...], PassageIndex]
    ) -> list[_Claim] | str:
        if unusable := unusable_context(answer.context):
            return unusable
        if answer.context not in indexes:
            given = Response(id="answer", context=list(answer.context), response="")
            indexes[answer.context] = PassageIndex(given.text, given.passage_starts)
        index = indexes[answer.context]
        text = answer.response
        places = [(a, b) for a, b in claims(text) if not claims_nothing(text[a:b])]
        return [_claim(text, start, end, index) for start, end in places]


def _claim(response: str, start: int, end: int, index: PassageIndex) -> _Claim:
    text = response[start:end]
    alignment = index.retrieve(text)
    said = hypothesis(CLAIM_TYPE, text)
    pair = Pair.at(alignment, hypothesis=said, entity_type=CLAIM_TYPE, value=text)
    return _Claim(start, end, alignment, pair)


def _grounding(found: Sequence[_Claim], said: Iterator[Assessment]) -> Grounding:
    judged = []
    threshold = 0.5
    for claim in found:
        assessment = next(said)
        if assessment.score is None:
            failure = assessment.failure or "not_scored"
            judged.append(ClaimGrounding(claim.start, claim.end, None, failure))
            continue
        if assessment.threshold is not None:
            threshold = assessment.threshold
        judged.append(_judged(claim, assessment.score, assessment.score >= threshold))
    return grounding_of(tuple(judged), threshold)


def _judged(claim: _Claim, score: float, supports: bool) -> ClaimGrounding:
    passages = tuple(
        [one.model_copy(update={"supports": supports}) for one in claim.alignment.consulted]
    )
    return ClaimGrounding(claim.start, claim.end, score, passages=passages)


def load_default(settings: DetectorSettings) -> StreamDetector:
    """The detector over the scorer that ``settings`` name. Raises `ModelError` where there is no
    such scorer."""
    return StreamDetector("default", named_scorer(settings))

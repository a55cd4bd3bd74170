"""From answers to the features of their claims: words, vectors, and what a scorer says.

The paper's relevance is bge-reranker-base over every context sentence. Here it is a `Scorer`'s
p(passage entails claim) on the passage that the retriever finds, so that a claim costs one pair
however long its context: by default the scorer that ships, or a reranker by its hub id. Its
similarity is bge-small-en-v1.5; here it is the word vectors at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safepassage.passages.granularity import claims, unusable_context
from safepassage.passages.retrieval import Retrieved, Retriever
from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.schemas.alignment import PASSAGE_JOINT
from safepassage.schemas.evidence import ConsultedPassage
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.similarity.word_vectors import WordVectors
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.claim_support import READING, reading
from safepassage.scoring_worker.weighing.overlap import DECIMALS

from .features import IndexedContext, indexed, lexical_features

_UNREAD = "relevance_not_read"


@dataclass(frozen=True, slots=True)
class MeasuredClaim:
    """A claim's place in its response, its features by name, and where its relevance was read.

    ``failure`` says why it has no features.
    """

    start: int
    end: int
    features: dict[str, float]
    passages: tuple[ConsultedPassage, ...] = ()
    failure: str | None = None

    def row(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The features in the order of ``names``, NaN where there are none."""
        return np.array([self.features.get(name, np.nan) for name in names])


@dataclass(frozen=True, slots=True)
class _Asked:
    start: int
    end: int
    text: str
    features: dict[str, float]
    found: tuple[Retrieved, ...]


class ClaimMeasure:
    """Measures claims with ``vectors`` and ``scorer``."""

    def __init__(self, vectors: WordVectors, scorer: Scorer) -> None:
        self._vectors = vectors
        self._scorer = scorer
        self.revision = f"{vectors.revision}-{scorer.revision}-words"

    def measure(self, answers: Sequence[Answer]) -> list[list[MeasuredClaim] | str]:
        """The claims of every answer, or why it has none; all pairs are scored in one call."""
        contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]] = {}
        asked = [self._asked(answer, contexts) for answer in answers]
        pairs = [
            _pair(answer, claim)
            for answer, found in zip(answers, asked, strict=True)
            if not isinstance(found, str)
            for claim in found
            if claim.found
        ]
        said = iter(_relevance(self._scorer, pairs))
        return [
            found
            if isinstance(found, str)
            else [_measured(claim, next(said) if claim.found else None) for claim in found]
            for found in asked
        ]

    def close(self) -> None:
        """Close the scorer."""
        self._scorer.close()

    def _asked(
        self,
        answer: Answer,
        contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]],
    ) -> list[_Asked] | str:
        if unusable := unusable_context(answer.context):
            return unusable
        places = claims(answer.response)
        if not places:
            return "no_claims"
        if answer.context not in contexts:
            made = indexed(answer.context, self._vectors), Retriever(answer.context)
            contexts[answer.context] = made
        index, retriever = contexts[answer.context]
        texts = ((start, end, answer.response[start:end]) for start, end in places)
        return [
            _Asked(
                start,
                end,
                text,
                lexical_features(text, index, self._vectors),
                tuple(retriever.retrieve(text)),
            )
            for start, end, text in texts
        ]


def _relevance(scorer: Scorer, pairs: Sequence[Pair]) -> list[float | str]:
    """How far each passage supports its claim, in [0, 1], or why that is not known. Of the default
    scorer only what its reader says: its judgement counts the words of a claim itself."""
    if isinstance(scorer, DefaultScorer):
        every = scorer.opinions(pairs)
        read = [reading(found[0].features)[READING] if found else None for found in every]
        return [_UNREAD if one is None else (1.0 + one) / 2 for one in read]
    said = scorer.assess(pairs)
    return [one.failure or _UNREAD if one.score is None else one.score for one in said]


def _measured(claim: _Asked, said: float | str | None) -> MeasuredClaim:
    """With the relevance: 0 where nothing of the context shares a word with the claim."""
    if isinstance(said, str):
        return MeasuredClaim(claim.start, claim.end, {}, failure=said)
    relevance = round(said or 0.0, DECIMALS)
    passages = tuple(
        [
            ConsultedPassage(
                passage=one.passage, start=one.start, end=one.end, score=round(one.share, DECIMALS)
            )
            for one in claim.found
        ]
    )
    features = claim.features | {"max_relevance": relevance}
    return MeasuredClaim(claim.start, claim.end, features, passages)


def _pair(answer: Answer, claim: _Asked) -> Pair:
    parts = [answer.context[one.passage][one.start : one.end] for one in claim.found]
    return Pair(
        premise=PASSAGE_JOINT.join(parts),
        hypothesis=hypothesis(CLAIM_TYPE, claim.text),
        entity_type=CLAIM_TYPE,
        value=claim.text,
    )

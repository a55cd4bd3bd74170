"""From answers to the features of their claims: words, vectors, and what a model says.

Relevance is a `Scorer`'s p(passage entails claim) on the passage that the retriever finds, so that
a claim costs one pair however long its context. Similarity is of the word vectors at hand. The
paper's own measures are in ``research/detectors/ragulator``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safepassage.passages.granularity import claims, unusable_context
from safepassage.passages.retrieval import Retrieved, Retriever
from safepassage.schemas import CLAIM_TYPE, hypothesis, stable_id
from safepassage.schemas.alignment import PASSAGE_JOINT
from safepassage.schemas.evidence import ConsultedPassage
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.ragulator.word_vectors import WordVectors
from safepassage.scoring_worker.forest import MeasureUsed
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.claim_support import READING, reading
from safepassage.scoring_worker.weighing.opinion import UNREAD as NOTHING_READ
from safepassage.scoring_worker.weighing.overlap import DECIMALS

from .features import (
    IndexedContext,
    indexed,
    lexical_features,
)

UNREAD = "relevance_not_read"
WORDS = "word vectors"
"""What similarity is measured with."""


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
class AskedClaim:
    """A claim with every feature but its relevance, and what was retrieved for it."""

    start: int
    end: int
    text: str
    features: dict[str, float]
    found: tuple[Retrieved, ...]


class ClaimMeasure:
    """Measures claims with ``vectors`` and ``scorer``.

    ``measures`` says by feature what it is measured with, which a forest's file records.
    """

    def __init__(
        self,
        vectors: WordVectors,
        scorer: Scorer | None,
        *,
        similarity: MeasureUsed | None = None,
        relevance: MeasureUsed | None = None,
    ) -> None:
        """``similarity`` and ``relevance`` are what a subclass measures these with. Raises
        `ValueError` where nothing measures relevance."""
        self._vectors = vectors
        self._scorer = scorer
        if relevance is None and scorer is not None:
            relevance = MeasureUsed(name=scorer.name, revision=_weights_of(scorer))
        if relevance is None:
            raise ValueError("relevance needs a scorer or a reranker")
        similarity = similarity or MeasureUsed(name=WORDS, revision=vectors.revision)
        self.measures = {"similarity": similarity, "relevance": relevance}
        said = [f"{one.name}={one.revision}" for one in self.measures.values()]
        self.revision = stable_id("measures", vectors.revision, *said)[:24]

    def measure(self, answers: Sequence[Answer]) -> list[list[MeasuredClaim] | str]:
        """The claims of every answer, or why it has none; all pairs are scored in one call."""
        contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]] = {}
        asked = [self._asked(answer, contexts) for answer in answers]
        return self._with_relevance(answers, asked)

    def close(self) -> None:
        """Close the scorer."""
        if self._scorer is not None:
            self._scorer.close()

    def _with_relevance(
        self, answers: Sequence[Answer], asked: Sequence[list[AskedClaim] | str]
    ) -> list[list[MeasuredClaim] | str]:
        pairs = [
            _pair(answer, claim)
            for answer, found in zip(answers, asked, strict=True)
            if not isinstance(found, str)
            for claim in found
            if claim.found
        ]
        said = iter(_relevance(self._scorer, pairs) if self._scorer else ())
        return [
            found
            if isinstance(found, str)
            else [measured(claim, next(said) if claim.found else None) for claim in found]
            for found in asked
        ]

    def _features(
        self, answer: Answer, texts: Sequence[str], index: IndexedContext
    ) -> list[dict[str, float]]:
        return [lexical_features(text, index, self._vectors) for text in texts]

    def _asked(
        self, answer: Answer, contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]]
    ) -> list[AskedClaim] | str:
        if unusable := unusable_context(answer.context):
            return unusable
        places = claims(answer.response)
        if not places:
            return "no_claims"
        if answer.context not in contexts:
            made = indexed(answer.context, self._vectors), Retriever(answer.context)
            contexts[answer.context] = made
        index, retriever = contexts[answer.context]
        texts = [answer.response[start:end] for start, end in places]
        every = self._features(answer, texts, index)
        return [
            AskedClaim(*place, text, features, tuple(retriever.retrieve(text)))
            for place, text, features in zip(places, texts, every, strict=True)
        ]


def _relevance(scorer: Scorer, pairs: Sequence[Pair]) -> list[float | str]:
    """How far each passage supports its claim, in [0, 1], or why that is not known. Of the default
    scorer only what its reader says: its judgement counts the words of a claim itself. A claim that
    the comparators refuse is not read, and nothing supports it."""
    if isinstance(scorer, DefaultScorer):
        every = scorer.opinions(pairs)
        read = [
            reading(NOTHING_READ | found[0].features)[READING] if found else None for found in every
        ]
        return [UNREAD if one is None else (1.0 + one) / 2 for one in read]
    said = scorer.assess(pairs)
    return [one.failure or UNREAD if one.score is None else one.score for one in said]


def _weights_of(scorer: Scorer) -> str:
    """The revision of what is asked of ``scorer``: of a default one its reader, which no rule of a
    comparator changes."""
    return scorer.manifest.revision if isinstance(scorer, DefaultScorer) else scorer.revision


def measured(claim: AskedClaim, said: float | str | None) -> MeasuredClaim:
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


def _pair(answer: Answer, claim: AskedClaim) -> Pair:
    parts = [answer.context[one.passage][one.start : one.end] for one in claim.found]
    said = hypothesis(CLAIM_TYPE, claim.text)
    return Pair(PASSAGE_JOINT.join(parts), said, CLAIM_TYPE, claim.text)

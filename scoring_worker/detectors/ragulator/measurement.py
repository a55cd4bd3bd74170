"""From answers to the features of their claims: words, vectors, and what a model says.

The paper's relevance is the best of bge-reranker-base over every context sentence, and its
similarity the best cosine of bge-small-en-v1.5; both are read here where they are named. Without
them relevance is a `Scorer`'s p(passage entails claim) on the passage that the retriever finds, so
that a claim costs one pair however long its context, and similarity is of the word vectors at hand.
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
from safepassage.scoring_worker.detectors.nli.pairs import PairProbabilities
from safepassage.scoring_worker.detectors.similarity.detectors import best_match, sources_of
from safepassage.scoring_worker.detectors.similarity.embedding import Embedder
from safepassage.scoring_worker.detectors.similarity.word_vectors import WordVectors
from safepassage.scoring_worker.forest import MeasureUsed
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.claim_support import READING, reading
from safepassage.scoring_worker.weighing.overlap import DECIMALS

from .features import IndexedContext, indexed, lexical_features

_UNREAD = "relevance_not_read"
WORDS = "word vectors"
"""What similarity is measured with where no sentence encoder is named."""
RERANKER = "reranker "
"""Before the name of a model that reads the claim with every sentence, in place of a scorer."""


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


MAX_PAIRS = 20_000
"""Claims of one answer times sentences of its context that a reranker reads."""


class ClaimMeasure:
    """Measures claims with ``vectors`` and ``scorer``. ``embedder`` takes the place of the first in
    the similarity, ``reranker`` that of the second in the relevance, each over the raw text of all
    sentences of the context.

    ``measures`` says by feature what it is measured with, which a forest's file records.
    """

    def __init__(
        self,
        vectors: WordVectors,
        scorer: Scorer | None,
        *,
        embedder: tuple[str, Embedder] | None = None,
        reranker: tuple[str, PairProbabilities] | None = None,
    ) -> None:
        self._vectors = vectors
        self._scorer = scorer
        self._embedder = embedder[1] if embedder else None
        self._reranker = reranker[1] if reranker else None
        similar = embedder or (WORDS, vectors)
        self.measures = {"similarity": MeasureUsed(name=similar[0], revision=similar[1].revision)}
        relevant: tuple[str, PairProbabilities | Scorer]
        if reranker:
            relevant = f"{RERANKER}{reranker[0]}", reranker[1]
        elif scorer:
            relevant = scorer.name, scorer
        else:
            raise ValueError("relevance needs a scorer or a reranker")
        self.measures["relevance"] = MeasureUsed(name=relevant[0], revision=relevant[1].revision)
        said = [f"{one.name}={one.revision}" for one in self.measures.values()]
        self.revision = stable_id("measures", vectors.revision, *said)[:24]

    def measure(self, answers: Sequence[Answer]) -> list[list[MeasuredClaim] | str]:
        """The claims of every answer, or why it has none; all pairs are scored in one call."""
        contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]] = {}
        asked = [self._asked(answer, contexts) for answer in answers]
        if self._reranker is not None:
            return [self._reranked(*each) for each in zip(answers, asked, strict=True)]
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
            else [_measured(claim, next(said) if claim.found else None) for claim in found]
            for found in asked
        ]

    def close(self) -> None:
        """Close the scorer."""
        if self._scorer is not None:
            self._scorer.close()

    def _reranked(self, answer: Answer, found: list[_Asked] | str) -> list[MeasuredClaim] | str:
        """With the relevance of the most relevant sentence of the whole context."""
        if isinstance(found, str):
            return found
        assert self._reranker is not None  # noqa: S101 (the caller's condition)
        sources = sources_of(answer, whole=False)
        if len(sources) * len(found) > MAX_PAIRS:
            return "context_too_long"
        said = self._reranker.probabilities(
            sources * len(found), [claim.text for claim in found for _ in sources]
        ).reshape(len(found), len(sources))
        return [
            _measured(claim, _UNREAD if np.isnan(row).any() else float(row.max()))
            for claim, row in zip(found, said, strict=True)
        ]

    def _asked(
        self, answer: Answer, contexts: dict[tuple[str, ...], tuple[IndexedContext, Retriever]]
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
        texts = [answer.response[start:end] for start, end in places]
        every = [lexical_features(text, index, self._vectors) for text in texts]
        if self._embedder is not None:
            similar = best_match(self._embedder, texts, sources_of(answer, whole=False))
            for features, likeness in zip(every, similar, strict=True):
                features["max_similarity"] = round(likeness, DECIMALS)
        return [
            _Asked(*place, text, features, tuple(retriever.retrieve(text)))
            for place, text, features in zip(places, texts, every, strict=True)
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
    said = hypothesis(CLAIM_TYPE, claim.text)
    return Pair(PASSAGE_JOINT.join(parts), said, CLAIM_TYPE, claim.text)

"""The paper's own measures of a claim (RAGulator, section 2.4).

Its relevance is the best of bge-reranker-base over every context sentence, its similarity the best
cosine of bge-small-en-v1.5. Either may be named; the other stays what the stream measures with.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from research.detectors.nli.pairs import PairProbabilities, cross_encoder
from research.detectors.sentences import context_sentences
from research.detectors.similarity.detectors import best_match
from research.detectors.similarity.embedding import Embedder, encoder_embedder
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings
from safepassage.scoring_worker.detectors.grounding import named_scorer
from safepassage.scoring_worker.detectors.ragulator.features import IndexedContext
from safepassage.scoring_worker.detectors.ragulator.loading import check_measures, read_forest
from safepassage.scoring_worker.detectors.ragulator.measurement import (
    UNREAD,
    WORDS,
    AskedClaim,
    ClaimMeasure,
    MeasuredClaim,
    measured,
)
from safepassage.scoring_worker.detectors.ragulator.meta_classifiers import MetaClassifier
from safepassage.scoring_worker.detectors.ragulator.word_vectors import WordVectors, word_vectors
from safepassage.scoring_worker.encoders.published import BGE_RERANKER, HEADS
from safepassage.scoring_worker.forest import MeasureUsed
from safepassage.scoring_worker.scorer import Scorer
from safepassage.scoring_worker.weighing.overlap import DECIMALS

MODELS = Path(__file__).parent / "models"
RERANKER = "reranker "
"""Before the name of a model that reads the claim with every sentence, in place of a scorer."""
MAX_PAIRS = 20_000
"""Claims of one answer times sentences of its context that a reranker reads."""


class ModelMeasure(ClaimMeasure):
    """``embedder`` takes the place of ``vectors`` in the similarity, ``reranker`` that of
    ``scorer`` in the relevance, each over the raw text of all sentences of the context.
    """

    def __init__(
        self,
        vectors: WordVectors,
        scorer: Scorer | None,
        *,
        embedder: tuple[str, Embedder] | None = None,
        reranker: tuple[str, PairProbabilities] | None = None,
    ) -> None:
        similarity = relevance = None
        if embedder:
            similarity = MeasureUsed(name=embedder[0], revision=embedder[1].revision)
        if reranker:
            named = f"{RERANKER}{reranker[0]}"
            relevance = MeasureUsed(name=named, revision=reranker[1].revision)
        super().__init__(vectors, scorer, similarity=similarity, relevance=relevance)
        self._embedder = embedder[1] if embedder else None
        self._reranker = reranker[1] if reranker else None

    def _features(
        self, answer: Answer, texts: Sequence[str], index: IndexedContext
    ) -> list[dict[str, float]]:
        every = super()._features(answer, texts, index)
        if self._embedder is not None:
            similar = best_match(self._embedder, texts, context_sentences(answer))
            for features, likeness in zip(every, similar, strict=True):
                features["max_similarity"] = round(likeness, DECIMALS)
        return every

    def _with_relevance(
        self, answers: Sequence[Answer], asked: Sequence[list[AskedClaim] | str]
    ) -> list[list[MeasuredClaim] | str]:
        if self._reranker is None:
            return super()._with_relevance(answers, asked)
        return [
            found if isinstance(found, str) else _reranked(self._reranker, answer, found)
            for answer, found in zip(answers, asked, strict=True)
        ]


def _reranked(
    reranker: PairProbabilities, answer: Answer, found: list[AskedClaim]
) -> list[MeasuredClaim] | str:
    """With the relevance of the most relevant sentence of the whole context."""
    sources = context_sentences(answer)
    if len(sources) * len(found) > MAX_PAIRS:
        return "context_too_long"
    said = reranker.probabilities(
        sources * len(found), [claim.text for claim in found for _ in sources]
    ).reshape(len(found), len(sources))
    return [
        measured(claim, UNREAD if np.isnan(row).any() else float(row.max()))
        for claim, row in zip(found, said, strict=True)
    ]


def claim_measure(
    settings: DetectorSettings,
    *,
    scorer: str | None = "default",
    encoder: str | None = None,
    reranker: str | None = None,
) -> ModelMeasure:
    """What measures claims: with a scorer, a sentence ``encoder`` and a ``reranker`` (folders or
    hub ids, such as BAAI/bge-small-en-v1.5 and BAAI/bge-reranker-base).

    A reranker, or any encoder that scores pairs, takes the place of the scorer; it reads the claim
    before the sentence unless `encoders.published` says otherwise.

    Raises:
        ModelError: one of them cannot be read.
    """
    read = cross_encoder(reranker, settings, HEADS[BGE_RERANKER]) if reranker else None
    return ModelMeasure(
        word_vectors(),
        None if reranker or scorer is None else named_scorer(settings, scorer),
        embedder=(encoder, encoder_embedder(encoder, settings)) if encoder else None,
        reranker=(reranker, read) if reranker and read else None,
    )


def load_meta(name: str, settings: DetectorSettings) -> MetaClassifier:
    """The paper's meta-classifier ``name``, or the forest in the file ``settings.model``, with what
    its file says that it was trained with.

    Raises:
        ModelError: the forest or what it needs cannot be read, or is not what it was trained on.
    """
    path = MODELS / f"{name}.json" if settings.model is None else Path(settings.model)
    forest = read_forest(path, settings)
    used = {feature: one.name for feature, one in forest.measures.items()}
    relevance = used.get("relevance", "default")
    reranked = relevance.startswith(RERANKER)
    similarity = used.get("similarity", WORDS)
    measure = claim_measure(
        settings,
        scorer=None if reranked else relevance,
        encoder=None if similarity == WORDS else similarity,
        reranker=relevance.removeprefix(RERANKER) if reranked else None,
    )
    check_measures(path, forest.measures, measure)
    return MetaClassifier(name, forest, measure)

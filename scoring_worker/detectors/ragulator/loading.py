"""Loads RAGulator's detectors: shipped forests, forests of one's own, cross-encoders."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.detectors.nli.detectors import ModelUse, NLIDetector
from safepassage.scoring_worker.detectors.nli.pairs import cross_encoder
from safepassage.scoring_worker.detectors.scorer_detector import ScorerDetector, named_scorer
from safepassage.scoring_worker.detectors.similarity.embedding import encoder_embedder
from safepassage.scoring_worker.detectors.similarity.word_vectors import word_vectors
from safepassage.scoring_worker.encoders.published import BGE_RERANKER, HEADS, RAGULATOR
from safepassage.scoring_worker.encoders.weights import load_config
from safepassage.scoring_worker.forest import Forest
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ModelError
from safepassage.scoring_worker.scorers.encoder import EncoderScorer

from .features import EXTENDED
from .measurement import RERANKER, WORDS, ClaimMeasure
from .meta_classifiers import MODELS, MetaClassifier, SingleFeature

_PUBLISHED_ROOM: Final = 1_536
"""Characters of a window of the published weights, which were taught 490 tokens of context."""
_FEATURES: Final[dict[str, tuple[str, Callable[[float], float]]]] = {
    "token_precision": ("token_precision", lambda share: share),
    "unigram_perplexity": ("unigram_perplexity", lambda surprise: math.exp(-surprise)),
    "bigram_perplexity": ("bigram_perplexity", lambda surprise: math.exp(-surprise)),
    "missing_words": ("missing_weight", lambda weight: 1.0 / (1.0 + weight)),
}
"""The feature of each baseline, and how it becomes a score in [0, 1] that falls with doubt."""


def load_meta(name: str, settings: DetectorSettings) -> MetaClassifier:
    """The meta-classifier ``name``, or the forest in the file ``settings.model``.

    A forest is served with what it was trained on: its file names the sentence encoder and the
    reranker, or the scorer; those that ship, and files that name none, take the word vectors and
    the default scorer.

    Raises:
        ModelError: the forest or what it needs cannot be read, or is not what it was trained on.
    """
    path = MODELS / f"{name}.json" if settings.model is None else Path(settings.model)
    forest = Forest.load(path)
    unknown = set(forest.features) - set(EXTENDED)
    if unknown:
        raise ModelError(f"{path}: unknown features {sorted(unknown)}")
    used = {feature: one.name for feature, one in forest.measures.items()}
    relevance = used.get("relevance", "default")
    if "relevance" not in used and settings.scorer != "default":
        raise ModelError(
            f"{path} was trained with the default scorer's relevance, not with that of "
            f"{settings.scorer}; train a forest of your own with `safepassage ragulator train`"
        )
    similarity = used.get("similarity", WORDS)
    measure = claim_measure(
        settings,
        scorer=None if relevance.startswith(RERANKER) else relevance,
        encoder=None if similarity == WORDS else similarity,
        reranker=relevance.removeprefix(RERANKER) if relevance.startswith(RERANKER) else None,
    )
    for feature, trained in forest.measures.items():
        if measure.measures.get(feature) != trained:
            measure.close()
            raise ModelError(
                f"{path} was trained with another {feature}: {trained.name}, revision "
                f"{trained.revision}; train it again, or install what it was trained with"
            )
    return MetaClassifier(name, forest, measure)


def claim_measure(
    settings: DetectorSettings,
    *,
    scorer: str | None = "default",
    encoder: str | None = None,
    reranker: str | None = None,
) -> ClaimMeasure:
    """What measures claims: with a scorer, a sentence ``encoder`` and a ``reranker`` (folders or
    hub ids, such as BAAI/bge-small-en-v1.5 and BAAI/bge-reranker-base).

    A reranker, or any encoder that scores pairs, takes the place of the scorer; it reads the claim
    before the sentence unless `encoders.published` says otherwise.

    Raises:
        ModelError: one of them cannot be read.
    """
    read = cross_encoder(reranker, settings, HEADS[BGE_RERANKER]) if reranker else None
    return ClaimMeasure(
        word_vectors(),
        None if reranker or scorer is None else named_scorer(settings, scorer),
        embedder=(encoder, encoder_embedder(encoder, settings)) if encoder else None,
        reranker=(reranker, read) if reranker and read else None,
    )


def load_feature(name: str, _settings: DetectorSettings) -> SingleFeature:
    """The baseline of that name."""
    feature, grounded = _FEATURES[name]
    return SingleFeature(name, feature, grounded)


def load_encoder_detector(settings: DetectorSettings) -> ScorerDetector | NLIDetector:
    """The cross-encoder in the folder, or under the hub id, ``settings.model``.

    A folder with two logits that are not named is read as the authors' own weights are.

    Raises:
        ModelError: no model is named, or it is no cross-encoder.
    """
    named = settings.model
    if named is None:
        raise ModelError(
            "ragulator-encoder needs a model: a folder that `safepassage ragulator train "
            f"--model encoder` wrote, or {RAGULATOR}@COMMIT"
        )
    if named.partition("@")[0] == RAGULATOR or _is_published(Path(named)):
        pairs = cross_encoder(named, settings, HEADS[RAGULATOR])
        return NLIDetector("ragulator-encoder", pairs, ModelUse("windows", room=_PUBLISHED_ROOM))
    scorer = named_scorer(settings, named)
    if not isinstance(scorer, EncoderScorer):
        raise ModelError(f"{named} is no cross-encoder")
    # Three of four of what the model reads, at four characters a token; what is longer all the
    # same is cut by the encoder, not lost.
    room = scorer.encoder.max_length * 3
    return ScorerDetector("ragulator-encoder", scorer, room=room)


def _is_published(folder: Path) -> bool:
    if not (folder / "config.json").is_file() or (folder / MANIFEST_NAME).exists():
        return False
    names = load_config(folder).id2label or {}
    return sorted(map(str, names.values())) == ["LABEL_0", "LABEL_1"]

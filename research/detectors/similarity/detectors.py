"""COS_SIM as a detector (paper, section 5.1), and BERTScore, HalluGraph's baseline."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from research.detectors.sentences import SentenceDetector
from safepassage.schemas import stable_id
from safepassage.scoring_worker.detectors.contract import DetectorSettings

from .embedding import (
    DECIMALS,
    Embedder,
    Floats,
    SentenceEncoder,
    encoder_embedder,
    reader_embedder,
    similarities,
)


def best_match(embedder: Embedder, sentences: Sequence[str], sources: Sequence[str]) -> list[float]:
    """For each sentence the cosine of its most similar source sentence."""
    return [float(row.max()) for row in similarities(embedder, sentences, sources)]


def bert_score(mine: Floats, theirs: Floats) -> float:
    """BERTScore's F1 in [0, 1] of two texts by the vectors of their tokens, without weights of
    rarity and without a baseline subtracted; 0 where one has no token."""
    if not len(mine) or not len(theirs):
        return 0.0
    likeness = np.clip(mine @ theirs.T, 0.0, 1.0)
    precision, recall = likeness.max(axis=1).mean(), likeness.max(axis=0).mean()
    total = precision + recall
    return round(float(2 * precision * recall / total), DECIMALS) if total else 0.0


def load_bert_score(settings: DetectorSettings) -> SentenceDetector:
    """BERTScore (Zhang et al. 2020) over the encoder of ``settings.model``, by default the
    reader's: a sentence is worth its best F1 with a sentence of the context.

    Raises:
        ModelError: there is no such model.
    """
    encoder = _encoder(settings)

    def judge(sentences: Sequence[str], sources: Sequence[str]) -> list[float]:
        of = encoder.tokens([*sentences, *sources])
        mine, theirs = of[: len(sentences)], of[len(sentences) :]
        return [max(bert_score(one, other) for other in theirs) for one in mine]

    revision = stable_id("bert_score", encoder.revision)[:16]
    return SentenceDetector("bert_score", revision, judge)


def _encoder(settings: DetectorSettings) -> SentenceEncoder:
    """The encoder in the folder or under the hub id ``settings.model``, by default the reader's."""
    named = settings.model or "default"
    return reader_embedder(settings) if named == "default" else encoder_embedder(named, settings)


def load_cos_sim(settings: DetectorSettings) -> SentenceDetector:
    """COS_SIM over the embedding model of ``settings.model``, by default the reader's encoder.

    The paper's is nlpaueb/legal-bert-base-uncased. It does not say how sentences become an
    answer's score; here the least similar sentence decides, as in its other methods.

    Raises:
        ModelError: there is no such model.
    """
    embedder = _encoder(settings)

    revision = stable_id("cos_sim", embedder.revision)[:16]
    judge = partial(best_match, embedder)
    return SentenceDetector("cos_sim", revision, judge)

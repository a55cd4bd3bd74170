"""The features of the meta-classifiers (RAGulator, section 2.4 and appendix A).

The paper's five: token precision, unigram and bigram perplexity from the context, the maximum
similarity and the maximum relevance over the context's sentences. Those that follow in
`EXTENDED` are this project's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safepassage.passages.sentence_splitting import sentences
from safepassage.passages.words import content_words
from safepassage.scoring_worker.detectors.ragulator.word_vectors import RAREST, WordVectors
from safepassage.scoring_worker.weighing.overlap import DECIMALS, mean_surprise

RISING: Final = {
    "token_precision": -1,
    "unigram_perplexity": 1,
    "bigram_perplexity": 1,
    "max_similarity": -1,
    "max_relevance": -1,
    "weighted_precision": -1,
    "missing_weight": 1,
    "word_similarity": -1,
    "missing_figures": 1,
}
"""Whether P(out of context) may only rise (1) or only fall (-1) with a feature."""
EXTENDED: Final = tuple(RISING)
PAPER: Final = EXTENDED[:5]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class IndexedContext:
    """What is counted once for all claims on a context."""

    words: frozenset[str]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]
    vectors: Vector
    sentences: Vector


def indexed(context: Sequence[str], vectors: WordVectors) -> IndexedContext:
    """The index of a context; bigrams do not span its passages."""
    passages = [content_words(text) for text in context]
    unigrams = Counter(word for words in passages for word in words)
    bigrams = Counter(pair for words in passages for pair in pairwise(words))
    parts = [content_words(text[start:end]) for text in context for start, end in sentences(text)]
    rows = [sentence_vector(words, vectors) for words in parts]
    return IndexedContext(
        words=frozenset(unigrams),
        unigrams=unigrams,
        bigrams=bigrams,
        vectors=vectors.matrix(list(unigrams)),
        sentences=np.stack(rows) if rows else np.zeros((0, vectors.width)),
    )


def lexical_features(claim: str, context: IndexedContext, vectors: WordVectors) -> dict[str, float]:
    """Every feature but the relevance of ``claim``, by name."""
    said = content_words(claim)
    distinct = list(dict.fromkeys(said))
    rarities = np.array([vectors.rarity(word) for word in distinct])
    stands = np.array([word in context.words for word in distinct], dtype=bool)
    figures = [word in context.words for word in distinct if word[0].isdigit()]
    weight = float(rarities.sum())
    unigram = mean_surprise(said, context.unigrams)
    pairs = list(pairwise(said))
    found = {
        "token_precision": float(stands.mean()) if distinct else 0.0,
        "unigram_perplexity": unigram,
        "bigram_perplexity": mean_surprise(pairs, context.bigrams) if pairs else unigram,
        "max_similarity": _best(context.sentences, sentence_vector(said, vectors)),
        "weighted_precision": float(rarities[stands].sum()) / weight if weight else 0.0,
        "missing_weight": float(rarities[~stands].sum()) / RAREST,
        "word_similarity": _matched(distinct, rarities, context, vectors),
        "missing_figures": float(len(figures) - sum(figures)),
    }
    return {name: round(value, DECIMALS) for name, value in found.items()}


def sentence_vector(words: Iterable[str], vectors: WordVectors) -> Vector:
    """The sum of a sentence's words by rarity, of length one; zeros without a word."""
    summed = np.zeros(vectors.width)
    for word in words:
        summed += vectors.vector(word) * vectors.rarity(word)
    size = float(np.linalg.norm(summed))
    return summed / size if size else summed


def _best(rows: Vector, one: Vector) -> float:
    return float((rows @ one).max()) if len(rows) else 0.0


def _matched(
    words: list[str], rarities: Vector, context: IndexedContext, vectors: WordVectors
) -> float:
    """The mean over words, by rarity, of their likeness to the most alike word of the context."""
    if not words or not len(context.vectors) or not rarities.sum():
        return 0.0
    best = (context.vectors @ vectors.matrix(words).T).max(axis=0)
    return float(best @ rarities / rarities.sum())

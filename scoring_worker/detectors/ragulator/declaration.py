"""RAGulator's detectors, declared; their libraries come when they are loaded."""

from __future__ import annotations

from typing import Final

from safepassage.scoring_worker.detectors.contract import Declaration, Judged, Need
from safepassage.scoring_worker.detectors.lazy_loading import LoadedLater

_BOTH: Final[frozenset[Judged]] = frozenset({"claim", "response"})
_PAPER: Final = "RAGulator"


def _meta(name: str) -> LoadedLater:
    return LoadedLater("ragulator.loading", "load_meta", name)


def _feature(name: str) -> LoadedLater:
    return LoadedLater("ragulator.loading", "load_feature", name)


def _declaration(
    name: str, summary: str, where: str, load: LoadedLater, *, needs: frozenset[Need] = frozenset(),
    latency: str = "about 15 ms a sentence on a CPU core", cost: str = "nothing",
) -> Declaration:  # fmt: skip
    return Declaration(
        name=name,
        summary=summary,
        paper=f"{_PAPER}, {where}",
        needs=needs,
        judges=_BOTH,
        cost=cost,
        latency=latency,
        load=load,
    )


_QUICK: Final = "under a millisecond a sentence"

RAGULATOR: Final[tuple[Declaration, ...]] = (
    _declaration(
        "ragulator-lightgbm",
        "LightGBM on the paper's five features, the default scorer as reranker",
        "sections 2.4 and 2.5",
        _meta("ragulator-lightgbm"),
    ),
    _declaration(
        "ragulator-random-forest",
        "Random forest on the same five features",
        "sections 2.4 and 2.5",
        _meta("ragulator-random-forest"),
    ),
    _declaration(
        "ragulator-extended",
        "Monotone LightGBM on nine features: rarity of missing words, figures, likeness of words",
        "section 2.4, extended",
        _meta("ragulator-extended"),
    ),
    _declaration(
        "ragulator-encoder",
        "A fine-tuned cross-encoder over windows of whole sentences",
        "sections 2.3, 2.5 and 3.3",
        LoadedLater("ragulator.loading", "load_encoder_detector"),
        needs=frozenset({"model"}),
        latency="a model's time for sentences x windows",
    ),
    _declaration(
        "zero-shot",
        "An LLM says 0 or 1; P(out of context) from the log-probabilities of its first token",
        "appendix D",
        LoadedLater("ragulator.zero_shot", "load_zero_shot"),
        needs=frozenset({"llm"}),
        latency="one call a sentence",
        cost="an LLM's tokens for the whole context, a sentence",
    ),
    _declaration(
        "token_precision", "Share of a sentence's words that stand in the context", "section 2.4",
        _feature("token_precision"), latency=_QUICK,
    ),
    _declaration(
        "unigram_perplexity", "Surprise of a sentence's words under the context's", "section 2.4",
        _feature("unigram_perplexity"), latency=_QUICK,
    ),
    _declaration(
        "bigram_perplexity", "Surprise of its pairs of words under the context's", "section 2.4",
        _feature("bigram_perplexity"), latency=_QUICK,
    ),
    _declaration(
        "missing_words", "Rarity of a sentence's words that the context lacks", "none: a baseline",
        _feature("missing_words"), latency=_QUICK,
    ),
)  # fmt: skip

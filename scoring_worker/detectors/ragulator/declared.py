"""RAGulator's detectors, declared; their libraries come when they are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scoring_worker.detectors.contract import (
    Declaration,
    Detector,
    DetectorSettings,
    Judged,
    Need,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Load = Callable[[DetectorSettings], Detector]

_BOTH: Final[frozenset[Judged]] = frozenset({"claim", "response"})
_PAPER: Final = "RAGulator"


def _meta(name: str) -> Load:
    def load(settings: DetectorSettings) -> Detector:
        from .loading import load_meta  # noqa: PLC0415 - a detector costs nothing until loaded

        return load_meta(name, settings)

    return load


def _feature(name: str) -> Load:
    def load(_settings: DetectorSettings) -> Detector:
        from .loading import load_feature  # noqa: PLC0415 - see above

        return load_feature(name)

    return load


def _encoder(settings: DetectorSettings) -> Detector:
    from .loading import load_encoder_detector  # noqa: PLC0415 - see above

    return load_encoder_detector(settings)


def _zero_shot(settings: DetectorSettings) -> Detector:
    from .zero_shot import ZeroShot  # noqa: PLC0415 - see above

    return ZeroShot(settings.llm)


def _declaration(
    name: str, summary: str, where: str, load: Load, *, needs: frozenset[Need] = frozenset(),
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
        _encoder,
        needs=frozenset({"model"}),
        latency="a model's time for sentences x windows",
    ),
    _declaration(
        "zero-shot",
        "An LLM says 0 or 1; P(out of context) from the log-probabilities of its first token",
        "appendix D",
        _zero_shot,
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

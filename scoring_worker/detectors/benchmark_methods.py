"""What the legal groundedness benchmark compares (its sections 5.1 to 5.4), declared.

Declaring a method imports none of its libraries. Names ending in ``_reader`` are a paper's
arithmetic on the reader that ships, for where no hub can be reached.
"""

from __future__ import annotations

from typing import Final

from .contract import Declaration, Need
from .lazy_loading import LoadedLater

_PAPER: Final = "Measuring the Groundedness of Legal Question-Answering Systems"


def _method(
    name: str, module: str, function: str, summary: str, section: str, *, cost: str, latency: str,
    needs: frozenset[Need] = frozenset(),
) -> Declaration:  # fmt: skip
    return Declaration(
        name=name,
        summary=summary,
        paper=f"{_PAPER}, section {section}",
        needs=needs,
        judges=frozenset({"claim", "response"}),
        cost=cost,
        latency=latency,
        load=LoadedLater(module, function),
    )


_SIMILARITY, _NLI, _LLM = "similarity.detectors", "nli.detectors", "llm.loading"
_HUB: Final[frozenset[Need]] = frozenset({"hub"})
_ASKS: Final[frozenset[Need]] = frozenset({"llm"})
_PAIRS: Final = "a model's time for sentences of the answer x sentences of the context"

SIMILARITY: Final = (
    _method(
        "cos_sim", _SIMILARITY, "load_cos_sim",
        "COS_SIM: cosine with the most similar context sentence", "5.1",
        cost="nothing", latency="one embedding a sentence",
    ),
    _method(
        "quip", _SIMILARITY, "load_quip",
        "QuIP: share of character n-grams (n = 21) that stand in the context", "5.1",
        cost="nothing", latency="under a millisecond",
    ),
)  # fmt: skip
NLI: Final = (
    _method(
        "hem_v1", _NLI, "load_hem_v1", "HEM v1 over windows of the context", "5.2",
        cost="nothing", latency="a model's time for sentences x windows", needs=_HUB,
    ),
    _method(
        "hem_v2", _NLI, "load_hem_v2", "HEM v2 (HHEM 2.1, open) over windows of the context",
        "5.2", cost="nothing", latency="a model's time for sentences x windows", needs=_HUB,
    ),
    _method(
        "fact_kb", _NLI, "load_fact_kb", "FactKB: the best source sentence", "5.2",
        cost="nothing", latency=_PAIRS, needs=_HUB,
    ),
    _method(
        "gc", _NLI, "load_gc", "GC: a cross-encoder fine-tuned on altered sentences", "5.4",
        cost="nothing", latency=_PAIRS, needs=frozenset({"model"}),
    ),
    _method(
        "context_nli", _NLI, "load_context_nli",
        "ContextNLI: contradiction, minimum over context, maximum over answer sentences", "5.3",
        cost="nothing", latency=_PAIRS, needs=_HUB,
    ),
    _method(
        "context_nli_reader", _NLI, "load_context_nli_reader",
        "ContextNLI on the reader that ships", "5.3", cost="nothing", latency=_PAIRS,
    ),
    _method(
        "hem_reader", _NLI, "load_hem_reader",
        "HEM's arithmetic on the reader that ships", "5.2",
        cost="nothing", latency="a model's time for sentences x windows",
    ),
)  # fmt: skip
LLM: Final = (
    _method(
        "direct_prompt", _LLM, "load_direct", "Direct prompting: grounded or not", "5.3",
        cost="1 call", latency="seconds", needs=_ASKS,
    ),
    _method(
        "lynx_prompt", _LLM, "load_lynx", "Points of reasoning, then PASS or FAIL, as Lynx", "5.3",
        cost="1 call", latency="seconds", needs=_ASKS,
    ),
    _method(
        "refchecker", _LLM, "load_refchecker", "RefChecker: the share of triples that hold", "5.3",
        cost="1 call, and 1 a triple", latency="seconds to minutes", needs=_ASKS,
    ),
    _method(
        "self_check", _LLM, "load_self_check",
        "SelfCheckGPT: contradiction with further generations", "5.3",
        cost="1 call a sample", latency="seconds, and a model's time",
        needs=frozenset({"llm", "samples", "hub"}),
    ),
    _method(
        "self_check_reader", _LLM, "load_self_check_reader",
        "SelfCheckGPT on the reader that ships", "5.3",
        cost="1 call a sample", latency="seconds, and a model's time",
        needs=frozenset({"llm", "samples"}),
    ),
    _method(
        "claims_verified", _LLM, "load_claims_verified",
        "Claims of context and answer, compared in a third call", "5.3",
        cost="3 calls", latency="tens of seconds", needs=_ASKS,
    ),
)  # fmt: skip

COMPARED: Final = (*SIMILARITY, *NLI, *LLM)

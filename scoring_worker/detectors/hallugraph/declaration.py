"""What is said of HalluGraph before it is loaded. No library of its is imported here."""

from __future__ import annotations

from typing import Final

from safepassage.scoring_worker.detectors.contract import Declaration
from safepassage.scoring_worker.detectors.lazy_loading import LoadedLater

HALLUGRAPH: Final = (
    Declaration(
        name="hallugraph",
        summary="Entities and relations of the answer looked for in the passages' graph",
        paper="HalluGraph, section 3 (EG, RP); the graphs are read without a model",
        needs=frozenset(),
        judges=frozenset({"claim", "response"}),
        cost="nothing",
        latency="about 60 ms an answer on a CPU core",
        load=LoadedLater("hallugraph.detector", "load_local"),
    ),
    Declaration(
        name="hallugraph_llm",
        summary="The same, with graphs by an LLM",
        paper="HalluGraph, sections 2 and 3",
        needs=frozenset({"llm"}),
        judges=frozenset({"claim", "response"}),
        cost="1 call for the answer, 1 for the query, 1 for each 3,000 characters of context",
        latency="seconds",
        load=LoadedLater("hallugraph.by_llm", "load_llm"),
    ),
)

"""The detectors that come with SafePassage. Declaring one imports none of its libraries."""

from __future__ import annotations

from typing import Final

from .benchmark_methods import COMPARED
from .contract import Declaration
from .hallugraph.declaration import HALLUGRAPH
from .lazy_loading import LoadedLater
from .ragulator.declaration import RAGULATOR

_STREAMED: Final = (
    Declaration(
        name="default",
        summary="What the stream says: the default scorer on the passages of each sentence",
        paper="RAGulator, sections 2.1, 2.4 and 3.3 (aggregation, features)",
        needs=frozenset(),
        judges=frozenset({"extraction", "claim", "response"}),
        cost="nothing",
        latency="about 20 ms a claim on a CPU core",
        load=LoadedLater("streamed", "load_default"),
    ),
)

BUILT_IN: Final[tuple[Declaration, ...]] = (*_STREAMED, *RAGULATOR, *HALLUGRAPH, *COMPARED)
"""Every family adds its own tuple."""

"""The detectors that come with SafePassage. Declaring one imports none of its libraries."""

from __future__ import annotations

from typing import Final

from .compared import COMPARED
from .contract import Declaration, Detector, DetectorSettings
from .hallugraph.declared import HALLUGRAPH
from .ragulator.declared import RAGULATOR


def _load_default(settings: DetectorSettings) -> Detector:
    from .scored import load_default  # noqa: PLC0415 - a detector costs nothing until it is loaded

    return load_default(settings)


_SCORED: Final = (
    Declaration(
        name="default",
        summary="The default scorer over windows of whole sentences",
        paper="RAGulator, sections 2.1 and 3.3 (aggregation)",
        needs=frozenset(),
        judges=frozenset({"extraction", "claim", "response"}),
        cost="nothing",
        latency="about 10 ms a claim and window on a CPU core",
        load=_load_default,
    ),
)

BUILT_IN: Final[tuple[Declaration, ...]] = (*_SCORED, *RAGULATOR, *HALLUGRAPH, *COMPARED)
"""Every family adds its own tuple."""

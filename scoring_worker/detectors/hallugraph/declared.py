"""What is said of HalluGraph before it is loaded. No library of its is imported here."""

from __future__ import annotations

from typing import Final

from scoring_worker.detectors.contract import Declaration, Detector, DetectorSettings

# ruff: noqa: PLC0415 - a detector costs nothing until it is loaded


def _load_local(settings: DetectorSettings) -> Detector:
    from .detector import load_local

    return load_local(settings)


HALLUGRAPH: Final = (
    Declaration(
        name="hallugraph",
        summary="Entities and relations of the answer looked for in the passages' graph",
        paper="HalluGraph, section 3 (EG, RP); the graphs are read without a model",
        needs=frozenset(),
        judges=frozenset({"claim", "response"}),
        cost="nothing",
        latency="about 60 ms an answer on a CPU core",
        load=_load_local,
    ),
)

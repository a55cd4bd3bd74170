"""A detector costs nothing until it is loaded: what loads it is named, and imported only then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from .contract import Detector, DetectorSettings

ROOM: Final = "safepassage.scoring_worker.detectors"


@dataclass(frozen=True, slots=True)
class LoadedLater:
    """The ``load`` of a declaration, as the name of ``function`` in ``module`` of this room. Where
    one function loads several detectors, it is given the ``detector`` first.

    Calling it raises what the function raises, and ImportError where a package is missing.
    """

    module: str
    function: str
    detector: str | None = None

    def __call__(self, settings: DetectorSettings) -> Detector:
        load = self.imported()
        return load(settings) if self.detector is None else load(self.detector, settings)

    def imported(self) -> Callable[..., Detector]:
        """The function, with the libraries of its module."""
        found: Any = getattr(import_module(f"{ROOM}.{self.module}"), self.function)
        load: Callable[..., Detector] = found
        return load

"""The detectors that come with SafePassage, as ``built_in.json`` declares them.

A detector costs nothing until it is loaded: what loads it is named, and imported only then. Names
that begin with ``reader_`` are the reader that ships, asked as a paper's method asks its own model.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .contract import Declaration, Detector, DetectorSettings


@dataclass(frozen=True, slots=True)
class LazyLoad:
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
        found: Any = getattr(import_module(f"{__package__}.{self.module}"), self.function)
        load: Callable[..., Detector] = found
        return load


def built_in() -> Iterator[Declaration]:
    """Every declaration of the file, in its order; no detector's library is imported."""
    for row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")):
        sets = {name: frozenset(row[name]) for name in ("needs", "judges")}
        yield Declaration(**{**row, **sets, "load": LazyLoad(**row["load"])})

"""Where training starts: a bare encoder, or a scorer that is to learn more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scoring_worker.encoders.weights import base_folder
from scoring_worker.manifest import MANIFEST_NAME, PACKAGED_BASE, ScorerManifest
from scoring_worker.scorers.default import Stack

DEFAULT_SCORER = Path(__file__).parent.parent / "models" / "default"


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """``base`` as scorer.json will name it, ``weights`` where it lies on this machine.

    ``adapter``, ``stack`` and ``trained_on`` are those of the scorer that is continued.
    ``precision`` is what a CPU will use, and what the head and thresholds are fitted on.
    """

    base: str
    weights: Path
    adapter: Path | None = None
    stack: Stack | None = None
    trained_on: tuple[str, ...] = ()
    max_length: int | None = None
    precision: Literal["fp32", "int8"] = "fp32"


def starting_point(base: str | Path) -> StartingPoint:
    """Resolve "default", a scorer's folder, a folder of weights, or a hub id.

    Raises:
        ModelError: there is no such model, or it was altered.
    """
    folder = DEFAULT_SCORER if str(base) == "default" else Path(base)
    if (folder / MANIFEST_NAME).is_file():
        return _continued(folder)
    if folder.is_dir():
        return StartingPoint(str(folder.resolve()), folder)
    precision: Literal["fp32", "int8"] = "int8" if str(base) == PACKAGED_BASE else "fp32"
    return StartingPoint(str(base), base_folder(str(base), None), precision=precision)


def _continued(folder: Path) -> StartingPoint:
    manifest = ScorerManifest.load(folder)
    weights = folder if manifest.base is None else base_folder(manifest.base, folder)
    portable = manifest.base == PACKAGED_BASE or (manifest.base or "").count("/") == 1
    return StartingPoint(
        base=manifest.base if manifest.base and portable else str(weights.resolve()),
        weights=weights,
        adapter=folder / manifest.adapter if manifest.adapter else None,
        stack=Stack.of(manifest) if manifest.kind == "stacked" else None,
        trained_on=manifest.trained_on,
        max_length=manifest.max_length,
        precision=manifest.precision,
    )

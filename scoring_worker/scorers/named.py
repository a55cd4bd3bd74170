"""Scorers by name, without the detectors that may draw beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from safepassage.scoring_worker.encoders.devices import (
    DeviceChoice,
    PrecisionChoice,
    place,
    use_threads,
)
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.packs.interface import Pack
from safepassage.scoring_worker.packs.registry import packs_named, packs_of_environment
from safepassage.scoring_worker.scorer import Scorer

from .folders import load_folder, open_manifest
from .words import WordMatching

if TYPE_CHECKING:
    from safepassage.llm_calls.settings import GraderSettings


def load_named(
    name: str,
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
    threads: int | None = None,
    grader: GraderSettings | None = None,
    packs: Sequence[str] | None = None,
) -> Scorer:
    """The scorer of that name, in that folder, or under that hub id; see `load_scorer`.

    Raises:
        ModelError: there is no such scorer, or it is incomplete, altered or unsafe to load.
        UnknownPack: there is no pack of that name.
    """
    # First of all: a misspelt pack must not wait for a scorer that has use for it.
    active = packs_of_environment() if packs is None else packs_named(packs)
    use_threads(threads)
    if name == "llm":
        return _load_grader(grader)
    if name == "words":
        return WordMatching()
    if name in ("cascade", "cascade-large"):
        return _load_cascade(name, device, precision, grader, active)
    from .baselines import HHEM_HUB_ID, NLI_HUB_ID, is_hhem, load_hhem  # noqa: PLC0415 (seldom needed)

    if name in ("hhem", HHEM_HUB_ID):
        return load_hhem(place(device, precision))
    if is_hhem(Path(name)):
        return load_hhem(place(device, precision), Path(name))
    if name == "nli":
        folder, manifest = open_manifest(NLI_HUB_ID)
        manifest = manifest.model_copy(update={"name": "nli", "learnt_from": LearntFrom()})
    else:
        folder, manifest = open_manifest(name)
    return load_folder(folder, manifest, device=device, precision=precision, packs=active)


def _load_grader(settings: GraderSettings | None) -> Scorer:
    from safepassage.llm_calls.settings import GraderSettings  # noqa: PLC0415 (only this scorer's)

    from .llm import LLMGrader  # noqa: PLC0415 (openai is slow to import)

    return LLMGrader(settings or GraderSettings())


def _load_cascade(
    name: str,
    device: DeviceChoice,
    precision: PrecisionChoice,
    grader: GraderSettings | None,
    packs: Sequence[Pack],
) -> Scorer:
    from .cascade import BAND, LARGE_BAND, CascadeScorer  # noqa: PLC0415 (brings the grader)

    def own(scorer: str) -> Scorer:
        folder, manifest = open_manifest(scorer)
        return load_folder(folder, manifest, device=device, precision=precision, packs=packs)

    if name == "cascade-large":
        return CascadeScorer(own("default"), own("large"), band=LARGE_BAND, name=name)
    return CascadeScorer(own("default"), _load_grader(grader), band=BAND, name=name)

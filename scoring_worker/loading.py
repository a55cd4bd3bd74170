"""`load_scorer`: from a name or a path to a scorer that can be trusted to be what it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .detectors.claim_judge import with_claims_judged
from .detectors.contract import DetectorSettings
from .detectors.hallugraph.detector import drawer
from .detectors.with_detector import WithDetector
from .encoders.devices import DeviceChoice, PrecisionChoice
from .scorer import CLAIMS_BY, GRAPHED, Scorer
from .scorers.by_name import load_named
from .scorers.raised_thresholds import Raised, parted
from .scorers.strict import Strict

if TYPE_CHECKING:
    from safepassage.llm_calls.settings import GraderSettings


def load_scorer(
    name_or_path: str | Path = "default",
    *,
    device: DeviceChoice = "auto",
    precision: PrecisionChoice = "auto",
    threads: int | None = None,
    grader: GraderSettings | None = None,
    packs: Sequence[str] | None = None,
    strict: bool = False,
) -> Scorer:
    """The scorer of that name, in that folder, or under that hub id.

    Args:
        name_or_path: one of `scorers.folders.NAMES`, a folder, or a hub id; with "+hallugraph"
            behind it, claims carry the graph of what they rest on as evidence; with
            "+claims:DETECTOR" behind that, this detector judges them
            ("default+claims:ragulator"); with limits at the end, less passes (see
            `scorers.raised_thresholds`).
        device: "auto" takes a GPU where there is one.
        precision: "auto" is fp32 on a CPU and bf16 or fp16 on a GPU.
        threads: CPU threads of torch, for the whole process; by default all usable cores.
        grader: settings of "llm" and "cascade"; by default from the environment.
        packs: names of the packs that a stacked scorer knows of; by default those of
            SAFEPASSAGE_PACKS: no pack by default.
        strict: whether a doubt stops what would be accepted. Calls, ``check``, replays and workers
            say what SAFEPASSAGE_STRICT says; what is trained and promoted is not strict.

    Raises:
        ModelError: there is no such scorer, or it is incomplete, altered or unsafe to load.
        UnknownPack: there is no pack of that name.
    """
    name, limits = parted(str(name_or_path))
    base, _, detector = name.partition(CLAIMS_BY)
    scorer = load_named(
        base.removesuffix(GRAPHED),
        device=device,
        precision=precision,
        threads=threads,
        grader=grader,
        packs=packs,
    )
    if base.endswith(GRAPHED):
        scorer = WithDetector(base, scorer, drawer())
    if detector:
        own = DetectorSettings(device=device, precision=precision, threads=threads, llm=grader)
        scorer = with_claims_judged(name, scorer, detector, own)
    if limits:
        scorer = Raised(scorer, limits)
    return Strict(scorer) if strict else scorer

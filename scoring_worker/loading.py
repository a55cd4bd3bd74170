"""`load_scorer`: from a name or a path to a scorer that can be trusted to be what it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .detectors.contract import DetectorSettings
from .detectors.hallugraph.detector import drawer
from .encoders.devices import DeviceChoice, PrecisionChoice
from .scorer import Scorer
from .scorer_spec import ScorerSpec
from .scorers.by_name import load_named
from .specified_scorer import SpecifiedScorer, claim_judge

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
        name_or_path: one of `scorers.folders.NAMES`, a folder, or a hub id; behind it may be
            what `ScorerSpec` reads ("default+claims:ragulator").
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
    spec = ScorerSpec.parse(name_or_path)
    scorer = load_named(
        spec.values,
        device=device,
        precision=precision,
        threads=threads,
        grader=grader,
        packs=packs,
    )
    judge = None
    if spec.claims:
        own = DetectorSettings(
            device=device, precision=precision, threads=threads, llm=grader, loaded=scorer
        )
        judge = claim_judge(spec, own)
    elif not (spec.graphs or spec.limits or strict):
        return scorer
    # Who judges claims itself has no use for a graph of them.
    draws = drawer() if spec.graphs and not judge else None
    return SpecifiedScorer(spec, scorer, drawer=draws, judge=judge, strict=strict)

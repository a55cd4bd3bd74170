"""Every method on every set: the run, its report, and what of it could not be."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from research.answers.judgement import judge_set
from research.answers.sets import AnswersOfSource
from research.detectors.llm.settings import MethodSettings
from research.detectors.registry import declarations, load_detector
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.detectors.contract import Declaration, DetectorSettings
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.manifest import ModelError

from .figures import GroundednessFigures, figures

RECORDED = "recorded"
"""The model that the recorded LLM says it is."""

TOGETHER = 16
"""Answers that a method which asks an LLM is given at once, so that its calls overlap. Others are
given one: a latency is of an answer alone."""


class AnswersDrawn(Contract):
    """How many answers of a set were judged, of how many."""

    dataset: str
    judged: int
    of: int


class GroundednessReport(Contract):
    """What the benchmark writes. ``left_out`` says of methods that could not run why not."""

    version: Literal[1] = 1
    experiment: Literal["groundedness"] = "groundedness"
    results: tuple[GroundednessFigures, ...]
    sets: tuple[AnswersDrawn, ...]
    seed: int
    left_out: dict[str, str]


def needing_nothing() -> list[str]:
    """The detectors that need no hub, no LLM and no weights of one's own."""
    return [name for name, one in declarations().detectors.items() if not one.needs]


def run_benchmark(
    sets: Sequence[AnswersOfSource],
    methods: Sequence[str],
    folder: Path,
    on_progress: OnProgress,
    *,
    settings: DetectorSettings | None = None,
    asked_for: bool = True,
    seed: int = 0,
) -> GroundednessReport:
    """Judge every set by every method, one in memory at a time; ``folder`` keeps what was judged.

    Args:
        methods: names of detectors, each perhaps with its model: "gc=folder".
        asked_for: whether somebody named them; otherwise what cannot be loaded is left out.
        seed: with which the sets were drawn, for the report.

    Raises:
        ModelError: a method that was asked for cannot be loaded.
    """
    given = settings or DetectorSettings()
    if given.llm is None:
        kept = MethodSettings().llm_answers or folder / "llm_answers.jsonl"
        given = replace(given, llm=MethodSettings(llm_answers=kept))
    results: list[GroundednessFigures] = []
    left_out: dict[str, str] = {}
    for method in methods:
        name, _, model = method.partition("=")
        try:
            detector = load_detector(name, replace(given, model=model or None))
        except ModelError as error:
            if asked_for:
                raise
            left_out[method] = str(error)
            continue
        declaration = declarations().detectors[name]
        block = TOGETHER if declaration.calls_llm else 1
        try:
            for answers in sets:
                judged = judge_set(
                    answers, detector, folder / "judged", on_progress,
                    calls_llm=declaration.calls_llm, block=block,
                )  # fmt: skip
                results.append(
                    figures(
                        judged,
                        detector=method if not model else f"{name}={Path(model).name}",
                        revision=detector.revision,
                        rests_on=rests_on(declaration, given),
                    )
                )
        finally:
            detector.close()
    return GroundednessReport(
        results=tuple(results),
        sets=tuple(_drawn(one) for one in sets),
        seed=seed,
        left_out=left_out,
    )


def rests_on(declaration: Declaration, settings: DetectorSettings) -> str:
    """What a row is a result of: a model, an LLM by name, or a recording, which shows nothing."""
    if not declaration.calls_llm:
        return "a model"
    model = settings.llm.model if settings.llm else ""
    return "a recording" if model == RECORDED else model


def _drawn(answers: AnswersOfSource) -> AnswersDrawn:
    judged = len(answers.cases)
    return AnswersDrawn(dataset=answers.name, judged=judged, of=judged + answers.left_out)

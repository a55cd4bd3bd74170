"""One run: every detector on every set, the figures, and what of it could not be."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from research.detectors.llm.settings import MethodSettings
from research.detectors.registry import declarations, load_detector
from safepassage.schemas.base import Contract
from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.manifest import ModelError

from .figures import AnswerFigures, figures
from .judgement import judge_set
from .sets import AnswersOfSource

OVERALL = "all built sets"


class AnswersReport(Contract):
    """What ``answers --json`` writes. ``left_out`` says of detectors why they did not run."""

    version: Literal[1] = 1
    results: tuple[AnswerFigures, ...]
    left_out: dict[str, str]


def run(
    sets: Sequence[AnswersOfSource],
    detectors: Sequence[str],
    keep: Path | None,
    on_progress: OnProgress,
    settings: DetectorSettings | None = None,
) -> AnswersReport:
    """Judge every set by every detector, one in memory at a time.

    ``detectors`` are names, each perhaps with its model ("ragulator-encoder=FOLDER"), or "all":
    those that can run here. What was named and cannot be loaded is left out with the reason.
    """
    results: list[AnswerFigures] = []
    names, left_out = chosen(detectors)
    given = settings or DetectorSettings(llm=MethodSettings())  # one budget for all
    for method in names:
        name, _, model = method.partition("=")
        told = replace(given, model=model) if model else given
        try:
            detector = load_detector(name, told)
        except ModelError as error:
            left_out[method] = str(error)
            continue
        calls_llm = declarations().detectors[name].calls_llm
        try:
            judged = [
                judge_set(one, detector, keep, on_progress, calls_llm=calls_llm) for one in sets
            ]
        finally:
            detector.close()
        results += [figures([one], one.cases.name) for one in judged]
        built = [one for one in judged if one.cases.built]
        if len(built) > 1:
            results.append(figures(built, OVERALL))
    return AnswersReport(results=tuple(results), left_out=left_out)


def chosen(detectors: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The names that were meant, and why the others of "all" cannot run here."""
    if "all" not in detectors:
        return list(dict.fromkeys(detectors)), {}
    known = declarations().detectors
    able = [name for name, one in known.items() if not one.needs]
    named = [name for name in detectors if name != "all"]
    given = {name.partition("=")[0] for name in named}
    left_out = {
        name: f"needs {', '.join(sorted(one.needs))}"
        for name, one in known.items()
        if one.needs and name not in given
    }
    return list(dict.fromkeys([*able, *named])), left_out

"""What ``evaluate`` runs: scorers side by side on labelled data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.table import Table

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.loading import load_scorer

from .cases import Dataset
from .judgement import Evaluation, evaluate
from .report_folder import write_report
from .result_tables import terminal_tables
from .results import EvaluationReport, result_of
from .sources import OnProgress


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures for --json, tables, files that were written, and what was left out and why."""

    figures: Contract
    tables: Sequence[Table]
    written: Sequence[Path] = ()
    left_out: Sequence[str] = ()


def judge(datasets: list[Dataset], scorers: list[str], on_progress: OnProgress) -> list[Evaluation]:
    """Every data set with every scorer, one scorer in memory at a time."""
    evaluations = []
    for name in scorers:
        scorer = load_scorer(name)
        try:
            for dataset in datasets:
                told = partial(_named, on_progress, f"{name} on {dataset.name}")
                evaluations.append(evaluate(dataset, scorer, name=name, on_progress=told))
        finally:
            scorer.close()
    return evaluations


def _named(on_progress: OnProgress, name: str, stage: str, done: int, total: int) -> None:
    on_progress(f"{name}: {stage}", done, total)


def side_by_side(evaluations: list[Evaluation], folder: Path | None) -> Outcome:
    """All figures; Markdown tables and plots go to ``folder``."""
    made = EvaluationReport(results=tuple(map(result_of, evaluations)))
    written = [write_report(folder, evaluations, made)] if folder else []
    return Outcome(made, terminal_tables(made.results), written)


def numbers_of(sizes: str) -> tuple[int, ...]:
    """The numbers of labels in a text such as "0,25,100". Raises `ValueError` where it is no such
    text."""
    try:
        numbers = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise ValueError(f"--sizes {sizes!r} are no numbers such as 0,25,100") from None
    if min(numbers) < 0:
        raise ValueError("--sizes are numbers of labels, 0 or more")
    return numbers

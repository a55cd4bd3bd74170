"""What `evaluate` prints, plots and returns: scorers side by side, and the paper's experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from safepassage.schemas.base import Contract
from safepassage.streams.cli.label_options import print_tables
from safepassage.streams.cli.output import complain, print_line
from safepassage.streams.runtime.errors import OperatorError

if TYPE_CHECKING:
    from safepassage.scoring_worker.laboratory.evaluation import (
        Dataset,
        Evaluation,
        EvaluationReport,
    )
    from safepassage.scoring_worker.laboratory.evaluation.sources import OnProgress
    from safepassage.scoring_worker.laboratory.experiments.curve_scorers import CurveSettings

LOCAL_SCORERS = ("default", "words", "nli", "hhem")
"""Those of table1 where none is named. The LLM is left out: it is asked only by name."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What came out: figures for --json, tables, files, and what was left out and why."""

    figures: Contract
    tables: Sequence[Table]
    written: Sequence[Path]
    left_out: Sequence[str] = ()

    def show(self) -> None:
        """Print all of it; not while a progress bar is on the screen."""
        print_tables(self.tables)
        for reason in self.left_out:
            complain.print(f"left out: {reason}", markup=False, soft_wrap=True)
        for path in self.written:
            print_line(f"written: {path}")


def judged(
    datasets: list[Dataset], scorers: list[str], on_progress: OnProgress
) -> list[Evaluation]:
    """Every data set with every scorer, one scorer in memory at a time."""
    from safepassage.scoring_worker import load_scorer
    from safepassage.scoring_worker.laboratory.evaluation import evaluate as judge_all

    evaluations = []
    for name in scorers:
        scorer = load_scorer(name)
        try:
            for dataset in datasets:
                shown = partial(_named, on_progress, f"{name} on {dataset.name}")
                evaluations.append(judge_all(dataset, scorer, name=name, on_progress=shown))
        finally:
            scorer.close()
    return evaluations


def _named(on_progress: OnProgress, name: str, stage: str, done: int, total: int) -> None:
    on_progress(f"{name}: {stage}", done, total)


def side_by_side(evaluations: list[Evaluation], folder: Path | None) -> Findings:
    """All figures; Markdown tables and plots go to ``folder``."""
    made = _report(evaluations)
    return Findings(made, *_shown(made, evaluations, folder))


def table1(
    datasets: list[Dataset], scorers: list[str], folder: Path | None, on_progress: OnProgress
) -> Findings:
    """The scorers beside the paper's; of those nobody asked for, the ones that are there.

    Raises:
        ModelError: a scorer that was asked for cannot be loaded.
    """
    from safepassage.scoring_worker import ModelError
    from safepassage.scoring_worker.laboratory.experiments.published import TABLE_1, Table1
    from safepassage.scoring_worker.laboratory.experiments.tables import published_table

    evaluations: list[Evaluation] = []
    unavailable: dict[str, str] = {}
    for name in scorers or LOCAL_SCORERS:
        try:
            evaluations += judged(datasets, [name], on_progress)
        except ModelError as error:
            if scorers:
                raise
            unavailable[name] = str(error)
    order = {dataset.name: at for at, dataset in enumerate(datasets)}
    evaluations.sort(key=lambda one: order[one.dataset.name])
    made = _report(evaluations)
    tables, written = _shown(made, evaluations, folder)
    return Findings(
        Table1(results=made.results, unavailable=unavailable),
        [*tables, published_table(TABLE_1)],
        written,
        [f"{name}: {why}" for name, why in unavailable.items()],
    )


def figure5(evaluations: list[Evaluation], folder: Path | None) -> Findings:
    """Extractor models by score and by label; the plots go to ``folder``."""
    from safepassage.scoring_worker.laboratory.evaluation.report_folder import file_name
    from safepassage.scoring_worker.laboratory.experiments.extractors import (
        Figure5,
        compare_extractors,
        plot,
    )
    from safepassage.scoring_worker.laboratory.experiments.tables import extractor_table

    made = Figure5(results=tuple(map(compare_extractors, evaluations)))
    by_dataset = defaultdict(list)
    for comparison in made.results:
        by_dataset[comparison.dataset].append(comparison)
    written = []
    for name, comparisons in by_dataset.items() if folder else ():
        written.append(Path(folder or "", f"{file_name(name, 'figure5')}.png"))
        plot(written[-1], comparisons)
    return Findings(made, list(map(extractor_table, made.results)), written)


def curve_settings(
    silver: str,
    base: str | None,
    *,
    head_only: bool,
    sizes: str,
    folds: int,
    epochs: float,
    seed: int,
) -> CurveSettings:
    """Settings of figure4.

    Raises:
        OperatorError: the sizes are no numbers.
    """
    from safepassage.scoring_worker.laboratory.experiments.curve_scorers import CurveSettings

    try:
        numbers = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise OperatorError(f"--sizes {sizes!r} are no numbers such as 0,100,200") from None
    if min(numbers) < 0:
        raise OperatorError("--sizes are numbers of labels, 0 or more")
    made = CurveSettings(
        silver=silver, base=base, head_only=head_only, sizes=numbers, folds=folds, seed=seed
    )
    alone, after = replace(made.alone, epochs=epochs), replace(made.after, epochs=epochs)
    return replace(made, alone=alone, after=after)


def figure4(
    datasets: list[Dataset],
    curve: CurveSettings,
    folder: Path | None,
    on_progress: OnProgress,
) -> Findings:
    """F1 by gold labels; the plot goes to ``folder``.

    Raises:
        OperatorError: there is more than one data set.
    """
    from safepassage.scoring_worker.laboratory.evaluation.report_folder import file_name
    from safepassage.scoring_worker.laboratory.experiments.label_curve import label_curve, plot
    from safepassage.scoring_worker.laboratory.experiments.tables import curve_table

    if len(datasets) != 1:
        raise OperatorError("figure4 takes one data set: its labels are split into folds")
    made = label_curve(datasets[0], curve, on_progress=on_progress)
    written = []
    if folder:
        written.append(folder / f"{file_name(made.dataset, 'figure4')}.png")
        plot(written[-1], made)
    return Findings(made, [curve_table(made)], written, list(made.absent))


def _report(evaluations: list[Evaluation]) -> EvaluationReport:
    from safepassage.scoring_worker.laboratory.evaluation import EvaluationReport, result_of

    return EvaluationReport(results=tuple(map(result_of, evaluations)))


def _shown(
    made: EvaluationReport, evaluations: list[Evaluation], folder: Path | None
) -> tuple[list[Table], list[Path]]:
    """Tables for the terminal, and the report where a folder is given."""
    from safepassage.scoring_worker.laboratory.evaluation.report_folder import write_report
    from safepassage.scoring_worker.laboratory.evaluation.tables import terminal_tables

    written = [write_report(folder, evaluations, made)] if folder else []
    return terminal_tables(made.results), written

"""What `evaluate` prints, plots and returns: scorers side by side, and the paper's experiments."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from streams.cli.documents import complain, print_line
from streams.cli.labelled import print_tables
from streams.errors import OperatorError

if TYPE_CHECKING:
    from scoring_worker.evaluation import Dataset, Evaluation, EvaluationReport
    from scoring_worker.evaluation.experiments.extractors import Figure5
    from scoring_worker.evaluation.experiments.label_curve import CurveSettings, LabelCurve
    from scoring_worker.evaluation.experiments.published import Table1
    from scoring_worker.evaluation.sources import OnProgress

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models

LOCAL_SCORERS = ("default", "nli", "hhem")
"""Those of table1 where none is named. The LLM is left out: it is asked only by name."""


def judged(
    datasets: list[Dataset], scorers: list[str], on_progress: OnProgress
) -> list[Evaluation]:
    """Every data set with every scorer, one scorer in memory at a time."""
    from scoring_worker import load_scorer
    from scoring_worker.evaluation import evaluate as judge_all

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


def side_by_side(evaluations: list[Evaluation], folder: Path | None) -> EvaluationReport:
    """All figures, printed; tables and plots go to ``folder``."""
    from scoring_worker.evaluation import EvaluationReport, result_of
    from scoring_worker.evaluation.report import write_report
    from scoring_worker.evaluation.tables import terminal_tables

    made = EvaluationReport(results=tuple(map(result_of, evaluations)))
    print_tables(terminal_tables(made.results))
    if folder:
        print_line(f"written: {write_report(folder, evaluations, made)}")
    return made


def table1(
    datasets: list[Dataset], scorers: list[str], folder: Path | None, on_progress: OnProgress
) -> Table1:
    """The scorers beside the paper's; of those nobody asked for, the ones that are there."""
    from scoring_worker import ModelError
    from scoring_worker.evaluation.experiments.published import TABLE_1, Table1
    from scoring_worker.evaluation.experiments.tables import published_table

    evaluations: list[Evaluation] = []
    unavailable: dict[str, str] = {}
    for name in scorers or LOCAL_SCORERS:
        try:
            evaluations += judged(datasets, [name], on_progress)
        except ModelError as error:
            if scorers:
                raise
            unavailable[name] = str(error)
            complain.print(f"left out: {name}: {error}", markup=False, soft_wrap=True)
    order = {dataset.name: at for at, dataset in enumerate(datasets)}
    evaluations.sort(key=lambda one: order[one.dataset.name])
    made = side_by_side(evaluations, folder)
    print_tables([published_table(TABLE_1)])
    return Table1(results=made.results, unavailable=unavailable)


def figure5(evaluations: list[Evaluation], folder: Path | None) -> Figure5:
    """Extractor models by score and by label; the plots go to ``folder``."""
    from scoring_worker.evaluation.experiments.extractors import Figure5, compare_extractors, plot
    from scoring_worker.evaluation.experiments.tables import extractor_table
    from scoring_worker.evaluation.report import file_name

    made = Figure5(results=tuple(map(compare_extractors, evaluations)))
    print_tables(map(extractor_table, made.results))
    by_dataset = defaultdict(list)
    for comparison in made.results:
        by_dataset[comparison.dataset].append(comparison)
    for name, comparisons in by_dataset.items():
        if folder:
            path = folder / f"{file_name(name, 'figure5')}.png"
            plot(path, comparisons)
            print_line(f"written: {path}")
    return made


def curve_settings(
    silver: str, base: str | None, *, sizes: str, folds: int, epochs: float, seed: int
) -> CurveSettings:
    """Settings of figure4.

    Raises:
        OperatorError: the sizes are no numbers.
    """
    from scoring_worker.evaluation.experiments.label_curve import CurveSettings

    try:
        numbers = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise OperatorError(f"--sizes {sizes!r} are no numbers such as 0,100,200") from None
    if min(numbers) < 0:
        raise OperatorError("--sizes are numbers of labels, 0 or more")
    made = CurveSettings(silver=silver, base=base, sizes=numbers, folds=folds, seed=seed)
    return replace(made, training=replace(made.training, epochs=epochs, seed=seed))


def figure4(
    datasets: list[Dataset],
    curve: CurveSettings,
    folder: Path | None,
    on_progress: OnProgress,
) -> LabelCurve:
    """F1 by gold labels; the plot goes to ``folder``.

    Raises:
        OperatorError: there is more than one data set.
    """
    from scoring_worker.evaluation.experiments.label_curve import label_curve, plot
    from scoring_worker.evaluation.experiments.tables import curve_table
    from scoring_worker.evaluation.report import file_name

    if len(datasets) != 1:
        raise OperatorError("figure4 takes one data set: its labels are split into folds")
    made = label_curve(datasets[0], curve, on_progress=on_progress)
    print_tables([curve_table(made)])
    for absent in made.absent:
        complain.print(f"left out: {absent}", markup=False, soft_wrap=True)
    if folder:
        path = folder / f"{file_name(made.dataset, 'figure4')}.png"
        plot(path, made)
        print_line(f"written: {path}")
    return made

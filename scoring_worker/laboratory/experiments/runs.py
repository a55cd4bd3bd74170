"""What ``evaluate`` runs: scorers side by side, detectors, and the paper's experiments."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.laboratory.evaluation.answers import report as answers
from safepassage.scoring_worker.laboratory.evaluation.answers.sets import read_sets
from safepassage.scoring_worker.laboratory.evaluation.answers.tables import table as answers_table
from safepassage.scoring_worker.laboratory.evaluation.cases import Dataset
from safepassage.scoring_worker.laboratory.evaluation.judgement import Evaluation, evaluate
from safepassage.scoring_worker.laboratory.evaluation.report_folder import file_name, write_report
from safepassage.scoring_worker.laboratory.evaluation.results import EvaluationReport, result_of
from safepassage.scoring_worker.laboratory.evaluation.sources import DatasetError, OnProgress
from safepassage.scoring_worker.laboratory.evaluation.tables import terminal_tables
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import ModelError

from . import extractors, label_curve
from .curve_scorers import CurveSettings
from .published import TABLE_1, Table1
from .reviews import ReviewsSettings, reviews_curve
from .reviews import plot as plot_reviews
from .tables import certified_table, curve_table, extractor_table, published_table, reviews_table

LOCAL_SCORERS = ("default", "words", "nli", "hhem")
"""Those of table1 where none is named. The LLM is left out: it is asked only by name."""


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


def detectors(
    paths: Sequence[Path],
    names: Sequence[str],
    keep: Path | None,
    folder: Path | None,
    on_progress: OnProgress,
    *,
    limit: int | None,
    source: str | None,
    seed: int,
) -> Outcome:
    """Detectors of answers on labelled sets; the table goes to ``folder``, too.

    Raises:
        DatasetError: a set cannot be read, or none of the detectors could be loaded.
    """
    sets = read_sets(paths, seed=seed, limit=limit, source=source)
    found = answers.run(sets, names, keep, on_progress)
    left_out = [f"{name}: {why}" for name, why in found.left_out.items()]
    if not found.results:
        raise DatasetError(f"no detector could be loaded: {'; '.join(left_out)}")
    table = answers_table(found)
    if folder:
        with (folder / "detectors.txt").open("w", encoding="utf-8") as file:
            Console(file=file, width=150).print(table)
    return Outcome(found, [table], left_out=left_out)


def table1(
    datasets: list[Dataset], scorers: list[str], folder: Path | None, on_progress: OnProgress
) -> Outcome:
    """The scorers beside the paper's; of those nobody asked for, the ones that are there.

    Raises:
        ModelError: a scorer that was asked for cannot be loaded.
    """
    evaluations: list[Evaluation] = []
    unavailable: dict[str, str] = {}
    for name in scorers or LOCAL_SCORERS:
        try:
            evaluations += judge(datasets, [name], on_progress)
        except ModelError as error:
            if scorers:
                raise
            unavailable[name] = str(error)
    order = {dataset.name: at for at, dataset in enumerate(datasets)}
    evaluations.sort(key=lambda one: order[one.dataset.name])
    ours = side_by_side(evaluations, folder)
    return Outcome(
        Table1(results=tuple(map(result_of, evaluations)), unavailable=unavailable),
        [*ours.tables, published_table(TABLE_1)],
        ours.written,
        [f"{name}: {why}" for name, why in unavailable.items()],
    )


def figure4(
    datasets: list[Dataset], curve: CurveSettings, folder: Path | None, on_progress: OnProgress
) -> Outcome:
    """F1 by gold labels; the plot goes to ``folder``.

    Raises:
        DatasetError: there is more than one data set, or it has too few documents.
        ModelError: a start cannot be loaded.
    """
    if len(datasets) != 1:
        raise DatasetError("figure4 takes one data set: its labels are split into folds")
    made = label_curve.label_curve(datasets[0], curve, on_progress=on_progress)
    written = []
    if folder:
        written.append(folder / f"{file_name(made.dataset, 'figure4')}.png")
        label_curve.plot(written[-1], made)
    return Outcome(made, [curve_table(made)], written, made.absent)


def reviews(
    datasets: Sequence[Dataset],
    settings: ReviewsSettings,
    keep: Path | None,
    folder: Path | None,
    on_progress: OnProgress,
) -> Outcome:
    """Quality by the number of reviews; the plot goes to ``folder``.

    Raises:
        DatasetError: there is more than one data set, or it has too few documents.
        ModelError: the base cannot be loaded.
    """
    if len(datasets) != 1:
        raise DatasetError("reviews takes one data set: the labelled rows of one field")
    made = reviews_curve(datasets[0], settings, keep, on_progress)
    written = []
    if folder:
        written.append(folder / f"{file_name(made.dataset, 'reviews')}.png")
        plot_reviews(written[-1], [made])
    return Outcome(made, [reviews_table(made), certified_table(made)], written, made.absent)


def numbers_of(sizes: str) -> tuple[int, ...]:
    """The numbers of labels in a text such as "0,25,100".

    Raises:
        ValueError: it is no such text.
    """
    try:
        numbers = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise ValueError(f"--sizes {sizes!r} are no numbers such as 0,25,100") from None
    if min(numbers) < 0:
        raise ValueError("--sizes are numbers of labels, 0 or more")
    return numbers


def curve_settings(sizes: str, epochs: float, given: CurveSettings) -> CurveSettings:
    """``given`` with the ``sizes`` of a text such as "0,100,200", and ``epochs`` a training.

    Raises:
        ValueError: the sizes are no numbers of labels.
    """
    numbers = numbers_of(sizes)
    alone, after = replace(given.alone, epochs=epochs), replace(given.after, epochs=epochs)
    return replace(given, sizes=numbers, alone=alone, after=after)


def figure5(evaluations: list[Evaluation], folder: Path | None) -> Outcome:
    """Extractor models by score and by label; the plots go to ``folder``."""
    compared = [extractors.compare_extractors(one) for one in evaluations]
    by_dataset = defaultdict(list)
    for comparison in compared:
        by_dataset[comparison.dataset].append(comparison)
    written = []
    if folder:
        for name, comparisons in by_dataset.items():
            written.append(folder / f"{file_name(name, 'figure5')}.png")
            extractors.plot(written[-1], comparisons)
    made = extractors.Figure5(results=tuple(compared))
    return Outcome(made, list(map(extractor_table, compared)), written)

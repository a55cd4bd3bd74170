"""Detectors side by side, and the SafePassage paper's experiments."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from research.answers import report as answers
from research.answers.sets import read_sets
from research.answers.tables import table as answers_table
from safepassage.scoring_worker.evaluation.cases import Dataset
from safepassage.scoring_worker.evaluation.judgement import Evaluation
from safepassage.scoring_worker.evaluation.report_folder import file_name
from safepassage.scoring_worker.evaluation.results import result_of
from safepassage.scoring_worker.evaluation.runs import Outcome, judge, numbers_of, side_by_side
from safepassage.scoring_worker.evaluation.sources import DatasetError, OnProgress
from safepassage.scoring_worker.manifest import ModelError

from . import extractors, label_curve
from .curve_scorers import CurveSettings
from .published import TABLE_1, Table1
from .tables import curve_table, extractor_table, published_table

LOCAL_SCORERS = ("default", "words", "nli", "hhem")
"""Those of table1 where none is named. The LLM is left out: it is asked only by name."""


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
    dataset: Dataset, curve: CurveSettings, folder: Path | None, on_progress: OnProgress
) -> Outcome:
    """F1 by gold labels; the plot goes to ``folder``.

    Raises:
        DatasetError: it has too few documents.
        ModelError: a start cannot be loaded.
    """
    made = label_curve.label_curve(dataset, curve, on_progress=on_progress)
    written = []
    if folder:
        written.append(folder / f"{file_name(made.dataset, 'figure4')}.png")
        label_curve.plot(written[-1], made)
    return Outcome(made, [curve_table(made)], written, made.absent)


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

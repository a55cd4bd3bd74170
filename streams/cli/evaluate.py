"""``evaluate``: what a scorer is worth on labelled data, and the paper's experiments."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safepassage.streams.cli.experiments import (
    curve_settings,
    figure4,
    figure5,
    judged,
    side_by_side,
    table1,
)
from safepassage.streams.cli.label_options import (
    DOCUMENTS_HELP,
    label_sources,
    progress_bars,
    show_refused,
)
from safepassage.streams.cli.output import open_outputs
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.scoring_worker.laboratory.evaluation import Dataset, Sources

DETECTORS_PANEL = "With --detector, or for folders"
CURVE_PANEL = "With --experiment figure4"


class Experiment(StrEnum):
    """What to do beyond judging every data set with every scorer."""

    table1 = "table1"
    figure4 = "figure4"
    figure5 = "figure5"


def evaluate(
    datasets: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATASET...",
            help="JSON lines (.gz) of labelled extractions, pairs, answers, or documents with "
            "annotated entities; which, the fields tell. A folder: all of its answers, by every "
            "detector that needs nothing.",
        ),
    ],
    *,
    scorers: Annotated[
        list[str],
        typer.Option("--scorer", "-s", help="A scorer's name or folder; several side by side."),
    ] = [],
    detectors: Annotated[
        list[str],
        typer.Option(
            "--detector",
            help="Judge answers with detectors in place of scorers: a name of `scorers list`, "
            "NAME=MODEL, or all that need nothing.",
            rich_help_panel=DETECTORS_PANEL,
        ),
    ] = [],
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Folder of what detectors said, by their revision: a stopped run goes on.",
            rich_help_panel=DETECTORS_PANEL,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help='Only rows of this "source" in files that mix several, such as SNLI.',
            rich_help_panel=DETECTORS_PANEL,
        ),
    ] = None,
    documents: Annotated[list[Path], typer.Option("--documents", "-d", help=DOCUMENTS_HELP)] = [],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where all figures go, as JSON.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Folder for tables as Markdown and plots as PNG.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Who gave the labels; it stands beside the figures.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="About so many cases of each data set, whole documents.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --limit, folds, and negatives that are made.")] = 0,
    experiment: Annotated[
        Experiment | None,
        typer.Option(
            help="table1: scorers beside the paper's figures; figure4: F1 by gold labels, with "
            "and without silver; figure5: extractor models by score and by label."
        ),
    ] = None,
    silver: Annotated[
        str, typer.Option(help="A scorer trained on silver labels.", rich_help_panel=CURVE_PANEL)
    ] = "default",
    base: Annotated[
        str | None,
        typer.Option(
            help="The start without silver: the folder of a base that nothing was taught.",
            rich_help_panel=CURVE_PANEL,
        ),
    ] = None,
    head_only: Annotated[
        bool,
        typer.Option(
            "--head-only",
            help="Refit the head of the scorer, in seconds, and fine-tune no reader.",
            rich_help_panel=CURVE_PANEL,
        ),
    ] = False,
    sizes: Annotated[
        str, typer.Option(help="Numbers of gold labels.", rich_help_panel=CURVE_PANEL)
    ] = "0,100,200,300,400,500",
    folds: Annotated[
        int, typer.Option(help="Disjoint by document.", min=2, rich_help_panel=CURVE_PANEL)
    ] = 5,
    epochs: Annotated[
        float, typer.Option(help="Of each training.", rich_help_panel=CURVE_PANEL)
    ] = 6.0,
) -> None:
    """Measure how well scorers find what is not supported, on labelled data.

    The whole pipeline is measured, at the scorer's own thresholds: what is not accepted counts
    as flagged. Exits 1 if a row could not be read.
    """
    given = scorers or [settings().scorer]
    open_outputs(files=[json_file], folders=(report, keep))
    if detectors or any(path.is_dir() for path in datasets):
        from safepassage.streams.cli.answers import evaluate_detectors

        evaluate_detectors(
            datasets,
            detectors or ["all"],
            keep=keep,
            json_file=json_file,
            report=report,
            limit=limit,
            source=source,
            seed=seed,
        )
        return
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        read = [_read(path, sources, labels, limit) for path in datasets]
        if experiment is Experiment.figure4:
            curve = curve_settings(
                silver,
                base,
                head_only=head_only,
                sizes=sizes,
                folds=folds,
                epochs=epochs,
                seed=seed,
            )
            found = figure4(read, curve, report, on_progress)
        elif experiment is Experiment.figure5:
            found = figure5(judged(read, given, on_progress), report)
        elif experiment is Experiment.table1:
            found = table1(read, scorers, report, on_progress)
        else:
            found = side_by_side(judged(read, given, on_progress), report)
    found.show()
    if json_file:
        json_file.write_text(found.figures.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)


def _read(path: Path, sources: Sources, labels: str | None, limit: int | None) -> Dataset:
    from safepassage.scoring_worker.laboratory.evaluation import read_dataset

    dataset = read_dataset(path, sources, labels=labels, limit=limit)
    show_refused(path, dataset.refused)
    return dataset

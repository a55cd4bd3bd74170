"""``evaluate``: what a scorer is worth on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..settings import settings
from .label_options import (
    Datasets,
    Documents,
    LabelsFrom,
    Limit,
    Report,
    label_sources,
    progress_bars,
    read_labelled,
)
from .options import JsonFile, SchemaName
from .output import complain, open_outputs, print_line, print_tables, write_figures

if TYPE_CHECKING:
    from safepassage.scoring_worker.evaluation.runs import Outcome


def evaluate(
    datasets: Datasets,
    *,
    scorers: Annotated[
        list[str], Option("--scorer", "-s", help="A scorer's name or folder; several side by side.")
    ] = [],
    documents: Documents = [],
    schema: SchemaName = None,
    json_file: JsonFile = None,
    report: Report = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Annotated[int, Option(help="Seed of --limit and of negatives that are made.")] = 0,
) -> None:
    """Measure how well scorers find what is not supported, on labelled data.

    The whole pipeline is measured, at the scorer's own thresholds: what is not accepted counts
    as flagged. Exits 1 if a row could not be read.
    """
    open_outputs(files=[json_file], folders=[report])
    from safepassage.scoring_worker.evaluation import runs

    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress, schema)
        read = [read_labelled(path, sources, labels, limit) for path in datasets]
        evaluations = runs.judge(read, scorers or [settings().judge], on_progress)
        found = runs.side_by_side(evaluations, report)
    show(found, json_file)
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)


def show(found: Outcome, json_file: Path | None) -> None:
    """Print all of it, and write the figures; not while a progress bar is on the screen."""
    print_tables(found.tables)
    for reason in found.left_out:
        complain.print(f"left out: {reason}", soft_wrap=True)
    for path in found.written:
        print_line(f"written: {path}")
    write_figures(json_file, found.figures)

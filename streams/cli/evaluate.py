"""``evaluate``: what a scorer is worth on labelled data; ``curve``: what reviews make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

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


Rows = Annotated[
    Path, Argument(metavar="ROWS", help="JSON lines (.gz) of the labelled extractions of a field.")
]
Keep = Annotated[
    Path | None, Option(help="Folder of what draws of reviews gave: a stopped run goes on.")
]
HeadOnly = Annotated[
    bool, Option("--head-only", help="Refit the head, in seconds, and fine-tune no reader.")
]
Checks = Annotated[
    float | None,
    Option(
        help="Share of the reviews that are spot checks of accepted values; the console's if "
        "omitted.",
        min=0,
        max=1,
    ),
]


def curve(
    rows: Rows,
    *,
    documents: Documents = [],
    base: Annotated[str, Option(help="The scorer that learns.")] = "default",
    sizes: Annotated[str, Option(help="Numbers of reviews.")] = "0,25,100",
    draws: Annotated[int, Option(help="Draws of reviews at each size.", min=1)] = 3,
    checks: Checks = None,
    head_only: HeadOnly = False,
    epochs: Annotated[float, Option(help="Passes of each training.")] = 5.0,
    keep: Keep = None,
    json_file: JsonFile = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Annotated[int, Option(help="Seed of --limit and of the draws.")] = 0,
) -> None:
    """Measure quality by the number of reviews of a field that were learnt from.

    For every size, reviews are drawn as the console draws them, `train` learns from them, and the
    scorer is judged on other documents. Exits 1 if a row could not be read.
    """
    open_outputs(files=[json_file], folders=[keep])
    from safepassage.scoring_worker.evaluation.runs import numbers_of
    from safepassage.scoring_worker.training import Recipe
    from safepassage.scoring_worker.training.reviews.curve import ReviewsSettings, measured

    recipe = Recipe(head_only=head_only)
    recipe = replace(recipe, gold=replace(recipe.gold, epochs=epochs))
    asked = ReviewsSettings(base, numbers_of(sizes), draws, checks, recipe=recipe, seed=seed)
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        dataset = read_labelled(rows, sources, labels, limit)
        found = measured(dataset, asked, keep, on_progress)
    show(found, json_file)
    if dataset.refused:
        raise typer.Exit(1)

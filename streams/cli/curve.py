"""``curve``: how good a scorer gets with the reviews of a field."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from .evaluate import show
from .label_options import (
    Documents,
    LabelsFrom,
    Limit,
    Report,
    label_sources,
    progress_bars,
    read_labelled,
)
from .options import JsonFile
from .output import open_outputs

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
    judged: Annotated[
        int | None, Option(help="Judge each draw on about so many cases.", min=20)
    ] = None,
    head_only: HeadOnly = False,
    epochs: Annotated[float, Option(help="Passes of each training.")] = 5.0,
    keep: Keep = None,
    json_file: JsonFile = None,
    report: Report = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Annotated[int, Option(help="Seed of --limit and of the draws.")] = 0,
) -> None:
    """Measure quality by the number of reviews of a field that were learnt from.

    For every size, reviews are drawn as the console draws them, `train` learns from them, and the
    scorer is judged on other documents. Exits 1 if a row could not be read.
    """
    open_outputs(files=[json_file], folders=(report, keep))
    from safepassage.scoring_worker.evaluation.runs import numbers_of
    from safepassage.scoring_worker.training import Recipe
    from safepassage.scoring_worker.training.reviews.curve import ReviewsSettings
    from safepassage.scoring_worker.training.reviews.curve_tables import reviews

    recipe = Recipe(head_only=head_only)
    recipe = replace(recipe, gold=replace(recipe.gold, epochs=epochs))
    asked = ReviewsSettings(base, numbers_of(sizes), draws, checks, judged, recipe, seed)
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        dataset = read_labelled(rows, sources, labels, limit)
        found = reviews(dataset, asked, keep, report, on_progress)
    show(found, json_file)
    if dataset.refused:
        raise typer.Exit(1)

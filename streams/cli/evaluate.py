"""``evaluate``: what a scorer is worth on labelled data, and the paper's experiments."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from safepassage.streams.cli.label_options import (
    DOCUMENTS_HELP,
    label_sources,
    print_tables,
    progress_bars,
    show_refused,
)
from safepassage.streams.cli.options import JsonFile
from safepassage.streams.cli.output import complain, open_outputs, print_line, write_figures
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.scoring_worker.laboratory.evaluation.cases import Dataset
    from safepassage.scoring_worker.laboratory.evaluation.sources import Sources
    from safepassage.scoring_worker.laboratory.experiments.runs import Outcome

FIGURE4_SIZES, REVIEWS_SIZES = "0,100,200,300,400,500", "0,25,100"
OF_DETECTORS = frozenset({"detectors", "source"})
OF_FIGURE4 = frozenset({"silver", "folds", "learning_rate", "layers"})
OF_REVIEWS = frozenset({"draws", "checks", "judged", "flipped"})
OF_CURVE = OF_FIGURE4 | OF_REVIEWS | {"base", "head_only", "sizes", "epochs"}
OF_SCORERS = frozenset({"scorers", "documents", "labels", "experiment"})


Experiment = Literal["table1", "figure4", "figure5", "reviews"]


def _of_detectors(told: str, *names: str) -> Any:
    return typer.Option(*names, help=told, rich_help_panel="With --detector, or for folders")


def _of_curve(told: str, *names: str, **more: Any) -> Any:
    panel = "With --experiment figure4 or reviews"
    return typer.Option(*names, help=told, rich_help_panel=panel, **more)


def evaluate(
    context: typer.Context,
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
        _of_detectors(
            "Judge answers with detectors in place of scorers: a name of `scorers list`, "
            "NAME=MODEL, or all that need nothing.",
            "--detector",
        ),
    ] = [],
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Folder of what detectors said, or of what draws of reviews gave: a stopped "
            "run goes on."
        ),
    ] = None,
    source: Annotated[
        str | None,
        _of_detectors('Only rows of this "source" in files that mix several, such as SNLI.'),
    ] = None,
    documents: Annotated[list[Path], typer.Option("--documents", "-d", help=DOCUMENTS_HELP)] = [],
    json_file: JsonFile = None,
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
    seed: Annotated[
        int, typer.Option(help="Seed of --limit, folds, and negatives that are made.")
    ] = 0,
    experiment: Annotated[
        Experiment | None,
        typer.Option(
            help="table1: scorers beside the paper's figures; figure4: F1 by gold labels, with "
            "and without silver; figure5: extractor models by score and by label; reviews: "
            "quality by the number of reviews of a field that were learnt from."
        ),
    ] = None,
    silver: Annotated[
        str, _of_curve("A scorer trained on silver labels: with a reader, or a cross-encoder.")
    ] = "default",
    base: Annotated[
        str | None,
        _of_curve(
            "figure4: the start without silver, the folder of a base that nothing was "
            "taught, or of an encoder that was taught NLI. reviews: the scorer that learns, "
            "`default` if omitted."
        ),
    ] = None,
    head_only: Annotated[
        bool,
        _of_curve(
            "Refit the head of the scorer, in seconds, and fine-tune no reader.", "--head-only"
        ),
    ] = False,
    sizes: Annotated[
        str | None,
        _of_curve(
            "Numbers of gold labels, or of reviews; 0,100,200,300,400,500 if omitted, or 0,25,100."
        ),
    ] = None,
    folds: Annotated[int, _of_curve("Disjoint by document.", min=2)] = 5,
    epochs: Annotated[
        float | None, _of_curve("Passes of each training; 6 if omitted, or 5 of reviews.")
    ] = None,
    learning_rate: Annotated[
        float | None, _of_curve("figure4: of a cross-encoder; 2e-5 if omitted.")
    ] = None,
    layers: Annotated[
        int | None,
        _of_curve("figure4: train only so many of the last layers of a cross-encoder.", min=1),
    ] = None,
    draws: Annotated[int, _of_curve("Draws of reviews at each size.", min=1)] = 3,
    checks: Annotated[
        float | None,
        _of_curve(
            "Share of the reviews that are spot checks of accepted values; the console's if "
            "omitted.",
            min=0,
            max=1,
        ),
    ] = None,
    judged: Annotated[
        int | None, _of_curve("Judge each draw on about so many cases.", min=20)
    ] = None,
    flipped: Annotated[
        float,
        _of_curve(
            "Share of the reviews' labels that are turned round, as a grader errs.", min=0, max=0.5
        ),
    ] = 0.0,
) -> None:
    """Measure how well scorers find what is not supported, on labelled data.

    The whole pipeline is measured, at the scorer's own thresholds: what is not accepted counts
    as flagged. Exits 1 if a row could not be read.
    """
    with_detectors = bool(detectors) or any(path.is_dir() for path in datasets)
    if with_detectors:
        _refuse(context, "judging by detectors", OF_SCORERS | OF_CURVE)
    elif experiment == "figure4":
        _refuse(context, "figure4", OF_DETECTORS | OF_REVIEWS | {"scorers", "keep"})
    elif experiment == "reviews":
        _refuse(context, "reviews", OF_DETECTORS | OF_FIGURE4 | {"scorers"})
    else:
        _refuse(context, "judging by scorers", OF_DETECTORS | OF_CURVE | {"keep"})
    open_outputs(files=[json_file], folders=(report, keep))
    from safepassage.scoring_worker.laboratory.experiments import runs
    from safepassage.scoring_worker.laboratory.experiments.curve_scorers import CurveSettings
    from safepassage.scoring_worker.laboratory.experiments.reviews import ReviewsSettings
    from safepassage.scoring_worker.laboratory.training import Recipe

    read: list[Dataset] = []
    with progress_bars() as on_progress:
        if with_detectors:
            found = runs.detectors(
                datasets,
                detectors or ["all"],
                keep,
                report,
                on_progress,
                limit=limit,
                source=source,
                seed=seed,
            )
        else:
            sources = label_sources(documents, seed, on_progress)
            read = [_read(path, sources, labels, limit) for path in datasets]
            if experiment == "figure4":
                told = CurveSettings(
                    silver=silver,
                    base=base,
                    head_only=head_only,
                    folds=folds,
                    learning_rate=learning_rate,
                    layers=layers,
                    seed=seed,
                )
                curve = runs.curve_settings(sizes or FIGURE4_SIZES, epochs or 6.0, told)
                found = runs.figure4(read, curve, report, on_progress)
            elif experiment == "reviews":
                recipe = Recipe(head_only=head_only)
                recipe = replace(recipe, gold=replace(recipe.gold, epochs=epochs or 5.0))
                reviewing = ReviewsSettings(
                    base=base or "default",
                    sizes=runs.numbers_of(sizes or REVIEWS_SIZES),
                    draws=draws,
                    checks=checks,
                    judged=judged,
                    flipped=flipped,
                    recipe=recipe,
                    seed=seed,
                )
                found = runs.reviews(read, reviewing, keep, report, on_progress)
            elif experiment == "table1":
                found = runs.table1(read, scorers, report, on_progress)
            else:
                evaluations = runs.judge(read, scorers or [settings().judge], on_progress)
                shown = runs.figure5 if experiment == "figure5" else runs.side_by_side
                found = shown(evaluations, report)
    _show(found, json_file)
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)


def _refuse(context: typer.Context, mode: str, unused: Collection[str]) -> None:
    """Refuse options that were given and have no use."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in unused and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{mode} has no use for it", param_hint=parameter.opts[0])


def _show(found: Outcome, json_file: Path | None) -> None:
    """Print all of it, and write the figures; not while a progress bar is on the screen."""
    print_tables(found.tables)
    for reason in found.left_out:
        complain.print(f"left out: {reason}", soft_wrap=True)
    for path in found.written:
        print_line(f"written: {path}")
    write_figures(json_file, found.figures)


def _read(path: Path, sources: Sources, labels: str | None, limit: int | None) -> Dataset:
    from safepassage.scoring_worker.laboratory.evaluation.datasets import read_dataset

    dataset = read_dataset(path, sources, labels=labels, limit=limit)
    show_refused(path, dataset.refused)
    return dataset

"""``experiments``: the tables and figures of the SafePassage paper, on labels at hand."""

from pathlib import Path
from typing import Annotated

import typer

from research.experiments import runs
from research.experiments.curve_scorers import CurveSettings
from safepassage.scoring_worker.evaluation.cases import Dataset
from safepassage.scoring_worker.evaluation.runs import Outcome, judge
from safepassage.streams.cli.evaluate import show
from safepassage.streams.cli.label_options import (
    Datasets,
    Documents,
    LabelsFrom,
    Limit,
    Report,
    label_sources,
    progress_bars,
    read_labelled,
)
from safepassage.streams.cli.options import JsonFile
from safepassage.streams.cli.output import open_outputs
from safepassage.streams.settings import settings

experiments_app = typer.Typer(
    name="experiments",
    no_args_is_help=True,
    help="The SafePassage paper's Table 1, Figure 4 and Figure 5, on labelled data.",
)
Scorers = Annotated[
    list[str],
    typer.Option("--scorer", "-s", help="A scorer's name or folder; several side by side."),
]
Seed = Annotated[int, typer.Option(help="Seed of --limit, folds, and negatives that are made.")]


@experiments_app.command()
def table1(
    datasets: Datasets,
    *,
    scorers: Scorers = [],
    documents: Documents = [],
    json_file: JsonFile = None,
    report: Report = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Print scorers beside the paper's Table 1; by default every local one that can be loaded."""
    open_outputs(files=[json_file], folders=[report])
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        read = [read_labelled(path, sources, labels, limit) for path in datasets]
        found = runs.table1(read, scorers, report, on_progress)
    _end(found, json_file, read)


@experiments_app.command()
def figure5(
    datasets: Datasets,
    *,
    scorers: Scorers = [],
    documents: Documents = [],
    json_file: JsonFile = None,
    report: Report = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Compare extractor models by score and by label."""
    open_outputs(files=[json_file], folders=[report])
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        read = [read_labelled(path, sources, labels, limit) for path in datasets]
        evaluations = judge(read, scorers or [settings().judge], on_progress)
        found = runs.figure5(evaluations, report)
    _end(found, json_file, read)


@experiments_app.command()
def figure4(
    dataset: Annotated[
        Path, typer.Argument(help="JSON lines (.gz) of labelled extractions or pairs.")
    ],
    *,
    silver: Annotated[
        str,
        typer.Option(help="A scorer trained on silver labels: with a reader, or a cross-encoder."),
    ] = "default",
    base: Annotated[
        str | None,
        typer.Option(
            help="The start without silver: the folder of a base that nothing was taught, or of an "
            "encoder that was taught NLI."
        ),
    ] = None,
    head_only: Annotated[
        bool,
        typer.Option(
            "--head-only", help="Refit the head of the scorer, in seconds, and fine-tune no reader."
        ),
    ] = False,
    sizes: Annotated[str, typer.Option(help="Numbers of gold labels.")] = "0,100,200,300,400,500",
    folds: Annotated[int, typer.Option(help="Disjoint by document.", min=2)] = 5,
    epochs: Annotated[float, typer.Option(help="Passes of each training.")] = 6.0,
    learning_rate: Annotated[
        float | None, typer.Option(help="Of a cross-encoder; 2e-5 if omitted.")
    ] = None,
    layers: Annotated[
        int | None,
        typer.Option(help="Train only so many of the last layers of a cross-encoder.", min=1),
    ] = None,
    documents: Documents = [],
    json_file: JsonFile = None,
    report: Report = None,
    labels: LabelsFrom = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Measure F1 by the number of gold labels, with and without silver ones before them."""
    open_outputs(files=[json_file], folders=[report])
    told = CurveSettings(
        silver=silver,
        base=base,
        head_only=head_only,
        folds=folds,
        learning_rate=learning_rate,
        layers=layers,
        seed=seed,
    )
    curve = runs.curve_settings(sizes, epochs, told)
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        read = read_labelled(dataset, sources, labels, limit)
        found = runs.figure4(read, curve, report, on_progress)
    _end(found, json_file, [read])


def _end(found: Outcome, json_file: Path | None, read: list[Dataset]) -> None:
    """Show it; exit 1 where a row could not be read."""
    show(found, json_file)
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)

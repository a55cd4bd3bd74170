"""``answers``: detectors side by side on labelled answers, as RAGulator measures."""

from pathlib import Path
from typing import Annotated

import typer

from research.experiments import runs
from safepassage.streams.cli.evaluate import show
from safepassage.streams.cli.label_options import Limit, Report, progress_bars
from safepassage.streams.cli.options import JsonFile
from safepassage.streams.cli.output import open_outputs

from .options import LabelledAnswers


def answers(
    datasets: LabelledAnswers,
    *,
    detectors: Annotated[
        list[str],
        typer.Option("--detector", help="A name, NAME=MODEL, or all that need nothing."),
    ] = [],
    keep: Annotated[
        Path | None, typer.Option(help="Folder of what detectors said: a stopped run goes on.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help='Only rows of this "source" in files that mix several, such as SNLI.'),
    ] = None,
    json_file: JsonFile = None,
    report: Report = None,
    limit: Limit = None,
    seed: Annotated[int, typer.Option(help="Seed of --limit.")] = 0,
) -> None:
    """Measure detectors on labelled answers: AUROC, F1 and the F1 of marked spans.

    A folder represents all labelled answers in it.
    """
    open_outputs(files=[json_file], folders=(report, keep))
    with progress_bars() as on_progress:
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
    show(found, json_file)

"""``evaluate``: what a scorer is worth on labelled data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.documents import print_line
from streams.cli.labelled import label_sources, print_tables, progress_bars, show_refused
from streams.settings import settings

if TYPE_CHECKING:
    from scoring_worker.evaluation import Dataset, Evaluation, Sources
    from scoring_worker.evaluation.datasets import OnProgress

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def register(app: typer.Typer) -> None:
    app.command()(evaluate)


def evaluate(
    datasets: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATASET...",
            help="JSON lines (.gz) of labelled extractions, pairs, responses, or documents with "
            "annotated entities; which, the fields tell.",
        ),
    ],
    *,
    scorers: Annotated[
        list[str],
        typer.Option("--scorer", "-s", help="A scorer's name or folder; several side by side."),
    ] = [],  # noqa: B006 - typer copies it
    documents: Annotated[
        list[Path],
        typer.Option(
            "--documents", "-d", help='JSON lines (.gz) of {"id","text"}, for extractions.'
        ),
    ] = [],  # noqa: B006 - typer copies it
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
    seed: Annotated[int, typer.Option(help="Of --limit, and of negatives that are made.")] = 0,
) -> None:
    """Measure how well scorers find what is not supported, on labelled data.

    The whole pipeline is measured, at the scorer's own thresholds: what is not accepted counts
    as flagged. Exits 1 if a row could not be read.
    """
    from scoring_worker.evaluation import EvaluationReport, result_of
    from scoring_worker.evaluation.report import write_report
    from scoring_worker.evaluation.tables import terminal_tables

    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        read = [_read(path, sources, labels, limit) for path in datasets]
        evaluations = _evaluate(read, scorers or [settings().scorer], on_progress)
    made = EvaluationReport(results=tuple(map(result_of, evaluations)))
    print_tables(terminal_tables(made.results))
    if json_file:
        json_file.write_text(made.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if report:
        print_line(f"written: {write_report(report, evaluations, made)}")
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)


def _read(path: Path, sources: Sources, labels: str | None, limit: int | None) -> Dataset:
    from scoring_worker.evaluation import read_dataset

    dataset = read_dataset(path, sources, labels=labels)
    show_refused(path, dataset.refused)
    return dataset if limit is None else dataset.limited(limit, sources.seed)


def _evaluate(
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

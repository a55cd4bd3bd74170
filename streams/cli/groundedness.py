"""``groundedness``: methods that judge answers, compared; altered answers; their own training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streams.cli.labelled import print_tables, progress_bars, show_refused
from streams.cli.output import complain, print_line

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models

groundedness_app = typer.Typer(
    name="groundedness",
    no_args_is_help=True,
    help="Compare the methods that judge whether an answer rests on its context.",
)

Datasets = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATASET...",
        help='JSON lines (.gz) of {"id","context","response" or "claim","label"}, with "query".',
    ),
]


@groundedness_app.command()
def benchmark(
    datasets: Datasets,
    *,
    detectors: Annotated[
        list[str],
        typer.Option(
            "--detector",
            "-d",
            help="A detector, perhaps with its model: gc=FOLDER. Several side by side; by default "
            "all that need neither network nor weights of one's own.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    cache: Annotated[
        Path,
        typer.Option(help="Folder of what was judged and what an LLM answered: a run goes on."),
    ] = Path("groundedness-cache"),
    report: Annotated[
        Path | None, typer.Option(help="Where tables and plot go: FILE.txt and FILE.png.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where all figures go, as JSON.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="About so many answers of a set, whole queries.", min=2)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --limit.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; latency is of so many.", min=1)] = 1,
) -> None:
    """Compare methods on labelled answers: macro F1, accuracy, latency and cost, with intervals.

    What an LLM answered is kept in the cache, so a second run asks nothing and prints the same.
    Exits 1 if a row could not be read.
    """
    from rich.console import Console

    from scoring_worker.detectors.contract import DetectorSettings
    from scoring_worker.experiments.groundedness.benchmark import needing_nothing, run_benchmark
    from scoring_worker.experiments.groundedness.rows import read_answers
    from scoring_worker.experiments.groundedness.shown import plot, tables

    sets = [read_answers(path, limit=limit, seed=seed) for path in datasets]
    for path, read in zip(datasets, sets, strict=True):
        show_refused(path, read.refused)
    with progress_bars() as on_progress:
        found = run_benchmark(
            sets,
            detectors or needing_nothing(),
            cache,
            on_progress,
            settings=DetectorSettings(threads=threads),
            asked_for=bool(detectors),
            seed=seed,
        )
    made = tables(found)
    print_tables(made)
    for name, why in found.left_out.items():
        complain.print(f"left out: {name}: {why}", markup=False, soft_wrap=True)
    if report:
        report.parent.mkdir(parents=True, exist_ok=True)
        with report.with_suffix(".txt").open("w", encoding="utf-8") as file:
            console = Console(file=file, width=150)
            for table in made:
                console.print(table)
        plot(report.with_suffix(".png"), found)
        print_line(f"written: {report.with_suffix('.txt')}, {report.with_suffix('.png')}")
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if any(read.refused for read in sets):
        raise typer.Exit(1)

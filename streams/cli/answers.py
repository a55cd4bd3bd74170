"""What ``evaluate --detector`` does: detectors of answers on labelled sets, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safepassage.streams.cli.label_options import print_tables, progress_bars
from safepassage.streams.cli.output import complain
from safepassage.streams.runtime.errors import OperatorError


def evaluate_detectors(
    datasets: Sequence[Path],
    detectors: Sequence[str],
    *,
    keep: Path | None,
    json_file: Path | None,
    report: Path | None,
    limit: int | None,
    source: str | None,
    seed: int,
) -> None:
    """Judge answers, print one table beside the paper's, and write what is asked for.

    Raises:
        OperatorError: none of the detectors could be loaded.
    """
    from rich.console import Console

    from safepassage.scoring_worker.laboratory.evaluation.answers.report import run
    from safepassage.scoring_worker.laboratory.evaluation.answers.sets import read_sets
    from safepassage.scoring_worker.laboratory.evaluation.answers.tables import table

    sets = read_sets(datasets, seed=seed, limit=limit, source=source)
    with progress_bars() as on_progress:
        found = run(sets, detectors, keep, on_progress)
    for name, why in found.left_out.items():
        complain.print(f"left out: {name}: {why}", markup=False, soft_wrap=True)
    if not found.results:
        raise OperatorError("no detector could be loaded")
    shown = table(found)
    print_tables([shown])
    if json_file:
        json_file.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if report:
        with (report / "detectors.txt").open("w", encoding="utf-8") as file:
            Console(file=file, width=150).print(shown)

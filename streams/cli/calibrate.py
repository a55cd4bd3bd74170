"""``calibrate``: probabilities and thresholds fitted on labels."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from ..settings import settings
from .label_options import (
    Documents,
    LabelsFrom,
    TargetOption,
    label_sources,
    progress_bars,
    read_labelled,
    read_target,
)
from .options import JsonFile
from .output import open_outputs, print_line, print_tables, write_figures

if TYPE_CHECKING:
    from rich.table import Table

    from safepassage.scoring_worker.evaluation.model_calibration import CalibrationReport
    from safepassage.scoring_worker.evaluation.risk_calibration import PromiseReport


Datasets = Annotated[
    list[Path], Argument(metavar="DATASET...", help="Labels, as `evaluate` reads them.")
]
Scorer = Annotated[str | None, Option("--scorer", "-s", help="The scorer to calibrate.")]
Risk = Annotated[
    float | None,
    Option(
        help="Promise instead: of what is accepted no larger share is wrong.", min=0.0001, max=0.5
    ),
]
Confidence = Annotated[float, Option(help="Confidence of the promise.", min=0.5001, max=0.9999)]
Ask = Annotated[
    float | None, Option(help="The share of values that a cascade may ask about.", min=0, max=1)
]
Cost = Annotated[
    float | None, Option(help="The same as US dollars that a million values may cost.", min=0)
]
Kind = Annotated[
    Literal["auto", "platt", "isotonic"],
    Option(help="How scores become probabilities; auto: isotonic from 500 labels on."),
]


def calibrate(
    datasets: Datasets,
    *,
    out: Annotated[Path, Option("--out", "-o", help="The new scorer's folder.")],
    scorer: Scorer = None,
    documents: Documents = [],
    target: TargetOption = "f1",
    risk: Risk = None,
    confidence: Confidence = 0.95,
    ask: Ask = None,
    cost: Cost = None,
    kind: Kind = "auto",
    name: Annotated[str | None, Option(help="Name of the new scorer.")] = None,
    labels: LabelsFrom = None,
    json_file: JsonFile = None,
    seed: Annotated[int, Option(help="Seed of negatives that are made.")] = 0,
) -> None:
    """Fit probabilities, and thresholds per entity type, on labels; write a new scorer.

    Types with too few labels keep the threshold that they had, or use the global one. The
    reliability plot is in the folder. With --risk the probabilities stay, and the thresholds are
    those that keep the promise. With --ask or --cost the scores at which cascade-decisions asks are
    fitted too.
    """
    from safepassage.scoring_worker.evaluation.model_calibration import Asking
    from safepassage.scoring_worker.evaluation.model_calibration import calibrate as fit
    from safepassage.scoring_worker.evaluation.risk_calibration import promise

    aim = read_target(target)
    open_outputs(files=[json_file])
    base = scorer or settings().scorer
    report: PromiseReport | CalibrationReport
    with progress_bars() as told:
        sources = label_sources(documents, seed, told)
        read = [read_labelled(path, sources, labels, None) for path in datasets]
        if risk is None:
            asking = None if ask is None and cost is None else Asking(ask, cost)
            fitting = partial(fit, target=aim, kind=kind, asking=asking)
            report = fitting(read, base, out, name=name, on_progress=told)
        else:
            promising = partial(promise, risk=risk, confidence=confidence)
            report = promising(read, base, out, name=name, on_progress=told)
    _show(report)
    print_line(f"revision {report.revision}: {out}")
    write_figures(json_file, report)
    if any(dataset.refused for dataset in read):
        raise typer.Exit(1)


def _show(report: PromiseReport | CalibrationReport) -> None:
    from safepassage.scoring_worker.evaluation.risk_calibration import PromiseReport

    if isinstance(report, PromiseReport):
        print_tables([_promise_table(report)])
        return
    print_tables([_calibration_table(report)])
    print_line(
        f"calibration error {report.error_before:.3f} before, {report.error_after:.3f} after "
        f"(documents held out), {report.kind}"
    )
    if band := report.band:
        price = (
            "" if band.usd_per_million is None else f", {band.usd_per_million:.2f} USD a million"
        )
        print_line(
            f"asked from {band.low:.3f} to {band.high:.3f}: {band.asked:.0%} of values{price}; on "
            f"these labels {band.wrong_stopped:.0%} of the wrong and {band.right_stopped:.0%} of "
            "the right stopped"
        )


def _promise_table(report: PromiseReport) -> Table:
    from safepassage.scoring_worker.evaluation.result_tables import terminal_table

    rows = []
    for part in report.parts:
        held, short = part.certified, part.shortfall
        name = part.name or "all the rest"
        if held:
            least, most = held.observed_ci[0], held.observed_ci[1]
            low, high = held.accepted_ci
            cells = (
                f"{held.value:.4f}",
                f"{held.observed:.1%} ({least:.1%} – {most:.1%})",
                f"{held.accepted:.1%} ({low:.1%} – {high:.1%})",
                held.method,
            )
        else:
            wanted = (
                "no number does" if short is None or short.wanted is None else str(short.wanted)
            )
            people = f"{short.to_people:.1%}" if short else "–"
            cells = ("nothing passes", "–", "–", f"labels wanted: {wanted}; people: {people}")
        rows.append((part.kind, name, str(part.labels), *cells))
    title = (
        f"At most {report.risk:.1%} of what is accepted is wrong, with {report.confidence:.0%} "
        f"confidence in all parts together, on {report.n} labels"
    )
    columns = ("part", "name", "labels", "threshold", "risk", "share accepted", "by")
    note = f"Labels: {report.labels}; {report.left_out} left out. Bounds of each part in brackets."
    return terminal_table(title, columns, rows, note)


def _calibration_table(report: CalibrationReport) -> Table:
    from safepassage.scoring_worker.evaluation.result_tables import (
        number,
        terminal_table,
        with_interval,
    )

    rows = [
        (
            entity_type or "all types",
            str(one.n),
            str(one.unsupported),
            number(one.value, 4),
            with_interval(one.precision, one.precision_ci),
            with_interval(one.recall, one.recall_ci),
            "met" if one.met else "out of reach",
        )
        for entity_type, one in report.thresholds.items()
    ]
    columns = ("entity type", "n", "unsupported", "threshold", "P", "R", "target")
    return terminal_table(
        f"Thresholds fitted to {report.target} on {report.n} cases",
        columns,
        rows,
        f"Labels: {report.labels}. 95% intervals below the figures.",
    )

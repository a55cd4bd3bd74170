"""The benchmark as tables and as the plot of F1 against latency (the paper's Figure 2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from safepassage.scoring_worker.evaluation.result_tables import (
    number,
    terminal_table,
    with_interval,
)

from .benchmark import GroundednessReport
from .claims import ClaimTrades
from .figures import GroundednessFigures

COLUMNS = ("method", "P", "R", "F1", "accuracy", "AUROC", "undet.", "s/answer", "$/answer", "from")

MARKS = "osD^vP*X"
"""Of a method in the plot, with its colour the same in every panel."""


def tables(report: GroundednessReport) -> list[Table]:
    """One table a set, the best macro F1 first."""
    made = [
        terminal_table(
            f"{drawn.dataset}: {drawn.judged} of {drawn.of} answers, "
            f"{_grounded(report, drawn.dataset)} grounded",
            COLUMNS,
            [_cells(one) for one in of_set(report, drawn.dataset)],
            "Macro averages, 95% intervals over queries below them; thresholds fitted on the "
            "other folds. Seconds are of one CPU thread, and of the LLM as it answered.",
        )
        for drawn in report.sets
    ]
    return made + [table for drawn in report.sets if (table := _missed(report, drawn.dataset))]


def trades_table(found: ClaimTrades) -> Table:
    """What each threshold stops of the sentences that people marked, and of the others."""
    rows = [
        (
            f"{one.threshold:.2f}{', fitted' if one.fitted else ''}",
            with_interval(one.marked_stopped, one.marked_ci),
            with_interval(one.others_stopped, one.others_ci),
        )
        for one in found.trades
    ]
    return terminal_table(
        f"{found.dataset}: {found.detector}, {found.marked} of {found.sentences} sentences marked",
        ("threshold", "marked sentences stopped", "others stopped"),
        rows,
        f"{found.unjudged} without a score, which are stopped. The fitted threshold has the best "
        "F1 on half of the queries; its shares are of the other half.",
    )


def of_set(report: GroundednessReport, dataset: str) -> list[GroundednessFigures]:
    """The results on one set, the best macro F1 first."""
    mine = [one for one in report.results if one.dataset == dataset]
    return sorted(mine, key=lambda one: -one.f1)


def plot(path: Path, report: GroundednessReport) -> None:
    """Macro F1 with its interval against seconds per answer, a panel a set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (slow to import)
    from matplotlib.figure import Figure  # noqa: PLC0415

    count = len(report.sets)
    names = list(dict.fromkeys(one.detector for one in report.results))
    figure = Figure(figsize=(5.2 * count + 1.8, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    for at, drawn in enumerate(report.sets):
        axes = figure.add_subplot(1, count, at + 1)
        axes.grid(alpha=0.3)
        for one in of_set(report, drawn.dataset):
            seconds = max(one.latency_seconds, 1e-4)
            low, high = one.f1_ci or (one.f1, one.f1)
            error = [[max(0.0, one.f1 - low)], [max(0.0, high - one.f1)]]
            hollow = one.rests_on == "a recording"
            axes.errorbar(
                [seconds],
                [one.f1],
                yerr=error,
                fmt=MARKS[names.index(one.detector) % len(MARKS)],
                color=f"C{names.index(one.detector) % 10}",
                capsize=2,
                elinewidth=0.8,
                label=one.detector,
                mfc="none" if hollow else None,
            )
        axes.set(
            xscale="log", ylim=(0, 1), xlabel="seconds per answer", ylabel="macro F1",
            title=drawn.dataset,
        )  # fmt: skip
    # Outside of the panels, where it covers no point, and once: every detector has one mark.
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        shown |= {name: mark for mark, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), fontsize=7, loc="outside right upper")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _cells(one: GroundednessFigures) -> Sequence[str]:
    cost = "–" if one.cost_usd is None else "0" if one.cost_usd == 0 else f"{one.cost_usd:.4f}"
    return (
        one.detector,
        with_interval(one.precision, one.precision_ci),
        with_interval(one.recall, one.recall_ci),
        with_interval(one.f1, one.f1_ci),
        with_interval(one.accuracy, one.accuracy_ci),
        with_interval(one.auroc, one.auroc_ci),
        str(one.undetermined),
        number(one.latency_seconds, 3),
        cost,
        one.rests_on,
    )


def _missed(report: GroundednessReport, dataset: str) -> Table | None:
    """By error type how many ungrounded answers a method took for grounded (paper, Table 4); None
    where no answer names its error."""
    results = of_set(report, dataset)
    kinds = sorted({kind for one in results for kind in one.by_error_type})
    if not kinds:
        return None
    rows = []
    for one in results:
        counts = [one.by_error_type[kind] for kind in kinds]
        rows.append((one.detector, *(f"{missed} of {total}" for total, missed in counts)))
    heads = ("method", *(kind.replace("_", " ") for kind in kinds))
    return terminal_table(f"{dataset}: taken for grounded, by error type", heads, rows, "")


def _grounded(report: GroundednessReport, dataset: str) -> int:
    return next((one.grounded for one in report.results if one.dataset == dataset), 0)

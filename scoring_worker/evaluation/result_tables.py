"""Results side by side: the same cells for the terminal and for Markdown."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.table import Table

from .intervals import Interval
from .results import EvaluationResult

T = TypeVar("T")

COLUMNS = (
    "scorer",
    "P",
    "R",
    "F1",
    "macro F1",
    "AUROC",
    "AUPRC",
    "threshold",
    "undetermined",
    "pairs/s",
    "p50/p99 ms",
)


def cells(result: EvaluationResult) -> tuple[str, ...]:
    """The row of one scorer, in the order of `COLUMNS`."""
    return (
        result.scorer,
        with_interval(result.precision, result.precision_ci),
        with_interval(result.recall, result.recall_ci),
        with_interval(result.f1, result.f1_ci),
        with_interval(result.macro_f1, result.macro_f1_ci),
        with_interval(result.auroc, result.auroc_ci),
        with_interval(result.auprc, result.auprc_ci),
        number(result.threshold, 3),
        str(result.undetermined),
        number(result.pairs_per_second, 0),
        f"{number(result.latency_ms_p50, 0)}/{number(result.latency_ms_p99, 0)}",
    )


def heading(result: EvaluationResult) -> str:
    """What the figures of a data set are of."""
    return f"{result.dataset}: finding the {result.unsupported} unsupported of {result.n}"


def caption(result: EvaluationResult) -> str:
    """What the figures of a data set rest on."""
    return f"Labels: {result.labels}. 95% intervals below the figures."


def by_dataset(results: Iterable[T], name: Callable[[T], str]) -> list[list[T]]:
    """The results of each data set, in their order."""
    groups: dict[str, list[T]] = {}
    for result in results:
        groups.setdefault(name(result), []).append(result)
    return list(groups.values())


def terminal_tables(results: Iterable[EvaluationResult]) -> list[Table]:
    """One table for each data set, its scorers side by side."""
    return [
        terminal_table(heading(group[0]), COLUMNS, map(cells, group), caption(group[0]))
        for group in by_dataset(results, lambda one: one.dataset)
    ]


def terminal_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], below: str | None = None
) -> Table:
    """A table whose first column is text and whose others are figures."""
    table = Table(title=title, caption=below, title_justify="left", caption_justify="left")
    for at, column in enumerate(columns):
        if at:
            table.add_column(column, justify="right", no_wrap=True)
        else:
            table.add_column(column, overflow="fold", min_width=12)
    for row in rows:
        table.add_row(*row)
    return table


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same as Markdown."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in line)} |\n"
        for line in lines
    )


def with_interval(value: float | None, interval: Interval | None) -> str:
    """A figure with its interval on the next line."""
    if value is None or interval is None:
        return number(value, 3)
    return f"{number(value, 3)}\n{interval[0]:.3f}–{interval[1]:.3f}"


def number(value: float | None, decimals: int) -> str:
    """A figure; a dash where it is missing."""
    return "–" if value is None else f"{value:.{decimals}f}"

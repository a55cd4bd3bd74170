"""``compare``: what verdicts say of extractors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer
from rich.table import Table

from safepassage.streams.cli.options import Since, utc
from safepassage.streams.cli.output import open_outputs
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.streams.verdicts.extractor_scores import ExtractorScore


def compare(
    since: Since = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Where the table goes as JSON.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Where the plot goes (.png, .svg or .pdf).")
    ] = None,
) -> None:
    """Compare extractors: the share of extractions accepted, per model and prompt.

    From the live verdicts, each extraction once. Reviews do not count: they are people's. The share
    also rises where the guardrail lets wrong values pass: see the spot checks on the console.
    """
    from safepassage.streams.verdicts.extractor_scores import as_json, compare_extractors
    from safepassage.streams.verdicts.extractor_scores import plot as draw

    open_outputs(files=(json, plot))
    rows = asyncio.run(compare_extractors(settings(), utc(since)))
    _print_scores(rows)
    if json:
        json.write_bytes(orjson.dumps(as_json(rows), option=orjson.OPT_INDENT_2) + b"\n")
    if plot:
        draw(rows, plot)


def _print_scores(rows: Sequence[ExtractorScore]) -> None:
    from rich.console import Console

    table = Table(title="Share accepted per extractor", title_justify="left")
    table.add_column("model · prompt")
    for name in ("extractions", "accepted", "quarantined", "undetermined", "share", "95% interval"):
        table.add_column(name, justify="right")
    for row in rows:
        low, high = row.score.interval
        counts = (row.score.total, row.accepted, row.quarantined, row.undetermined)
        share = row.score.share or 0.0
        interval = f"{low:.3f} to {high:.3f}"
        table.add_row(row.name, *map(str, counts), f"{share:.3f}", interval)
    Console(highlight=False, markup=False).print(table)

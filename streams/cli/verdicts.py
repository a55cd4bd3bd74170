"""``verdicts``: what was decided, for a program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
from rich.table import Table
from typer import Option

from ..settings import settings
from .options import Since, utc
from .output import complain, open_outputs

if TYPE_CHECKING:
    from ..verdicts.extractor_scores import ExtractorScore

import contextlib
from collections import Counter
from typing import BinaryIO, Literal

import typer

from .options import Follow
from .output import file_or_stdout

VerdictTopic = Literal["all", "accepted", "quarantine"]


def verdicts(
    topic: Annotated[VerdictTopic, Option("--topic", "-t", help="Which topic to read.")] = "all",
    out: Annotated[
        Path | None, Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
    follow: Follow = False,
    latest: Annotated[
        bool,
        Option("--latest", help="One verdict per extraction: a person's, else the last scorer's."),
    ] = False,
) -> None:
    """Write the verdicts as JSON lines, each once, however often it was delivered.

    Exits 1 if two records with one id say different things, or a record is no verdict.
    """
    if follow and latest:
        raise typer.BadParameter(
            "a verdict that was printed cannot be taken back", param_hint="--follow --latest"
        )
    counts: Counter[str] = Counter()
    try:
        with file_or_stdout(out) as stream:
            asyncio.run(_write_verdicts(topic, stream, counts, follow=follow, latest=latest))
    except KeyboardInterrupt:
        complain.print("stopped")
    if problems := counts.pop("problem", 0):
        complain.print(f"{problems} records were left out, see above")
    complain.print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "no verdicts")
    if problems:
        raise typer.Exit(1)


async def _write_verdicts(
    topic: VerdictTopic, stream: BinaryIO, counts: Counter[str], *, follow: bool, latest: bool
) -> None:
    from ..kafka.records import Received
    from ..verdicts.deduplication import VERDICT_TOPICS, read_verdicts
    from ..verdicts.latest import latest_verdicts

    chosen = [t for t in VERDICT_TOPICS if topic in ("all", t.name)]
    results = (
        latest_verdicts(settings(), chosen)
        if latest
        else read_verdicts(settings(), chosen, follow=follow)
    )
    async for result in results:
        if not isinstance(result, Received):
            counts["problem"] += 1
            complain.print(str(result), soft_wrap=True)
            continue
        counts[result.event.decision] += 1
        stream.write(result.event.to_json() + b"\n")
        if follow:
            stream.flush()
    stream.flush()


def realignments(
    out: Annotated[
        Path | None, Option("--out", "-o", help="Where they go; stdout if omitted.")
    ] = None,
    follow: Follow = False,
) -> None:
    """Write what became of accepted values in new versions as JSON lines, each once.

    Exits 1 if a record is no realignment.
    """
    counts: Counter[str] = Counter()
    with contextlib.suppress(KeyboardInterrupt), file_or_stdout(out) as stream:
        asyncio.run(_write(stream, counts, follow=follow))
    problems = counts.pop("problem", 0)
    complain.print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "none")
    if problems:
        complain.print(f"{problems} records were left out, see above")
        raise typer.Exit(1)


async def _write(stream: BinaryIO, counts: Counter[str], *, follow: bool) -> None:
    from safepassage.schemas import Realignment

    from ..kafka.reading import follow_topics, read_topics
    from ..kafka.records import UnreadableRecord, decode
    from ..topics import REALIGNMENTS
    from ..verdicts.deduplication import LastIds

    records = (follow_topics if follow else read_topics)(settings(), [REALIGNMENTS])
    async with contextlib.aclosing(records), contextlib.AsyncExitStack() as resources:
        seen = resources.enter_context(contextlib.closing(LastIds()))
        async for record in records:
            try:
                event = decode(record, Realignment).event
            except UnreadableRecord as error:
                counts["problem"] += 1
                complain.print(f"{record.coordinates} is no realignment: {error}")
                continue
            if seen.first(event.id) is None:
                counts[event.outcome] += 1
                stream.write(event.to_json() + b"\n")
                if follow:
                    stream.flush()
    stream.flush()


def compare(
    since: Since = None,
    json: Annotated[Path | None, Option("--json", help="Where the table goes as JSON.")] = None,
    plot: Annotated[
        Path | None, Option("--plot", help="Where the plot goes (.png, .svg or .pdf).")
    ] = None,
) -> None:
    """Compare extractors: the share of extractions accepted, per model and prompt.

    From the live verdicts, each extraction once. Reviews do not count: they are people's. The share
    also rises where the guardrail lets wrong values pass: see the spot checks on the console.
    """
    from ..verdicts.extractor_scores import as_json, compare_extractors
    from ..verdicts.extractor_scores import plot as draw

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


def watch(once: Annotated[bool, Option("--once", help="Print one view and end.")] = False) -> None:
    """Show the live stream: rates, lag, what is stopped, the latest verdicts, warnings."""
    from rich.console import Console
    from rich.live import Live

    from ..verdicts.live_view import snapshot
    from ..verdicts.live_view import watch as views

    if once:
        Console().print(asyncio.run(snapshot(settings(), _learning)))
        return

    async def follow() -> None:
        with Live(auto_refresh=False) as live:
            async for view in views(settings(), _learning):
                live.update(view, refresh=True)

    try:
        asyncio.run(follow())
    except KeyboardInterrupt:
        complain.print("stopped")


async def _learning() -> str:
    from ..learning.events import read_runs

    progress = (await read_runs(settings())).progress
    return f"learning · {progress}" if progress else ""

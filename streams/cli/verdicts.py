"""What programs read: ``verdicts``, ``realignments``, ``compare``, ``watch``, ``schemas``."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import orjson
import typer
from typer import Argument, Option

from ..settings import settings
from .options import Since, utc
from .output import complain, file_or_stdout, open_outputs, print_line, print_table

if TYPE_CHECKING:
    from ..verdicts.extractor_scores import ExtractorScore

VerdictTopic = Literal["all", "accepted", "quarantine"]


def verdicts(
    topic: Annotated[VerdictTopic, Option("--topic", "-t", help="Which topic to read.")] = "all",
    out: Annotated[
        Path | None, Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
    latest: Annotated[
        bool,
        Option("--latest", help="One verdict per extraction: a person's, else the last scorer's."),
    ] = False,
) -> None:
    """Write the verdicts as JSON lines, each once, however often it was delivered.

    Exits 1 if two records with one id say different things, or a record is no verdict.
    """
    counts: Counter[str] = Counter()
    with file_or_stdout(out) as stream:
        asyncio.run(_write_verdicts(topic, stream, counts, latest=latest))
    _tell_counts(counts, "no verdicts")


def _tell_counts(counts: Counter[str], nothing: str) -> None:
    problems = counts.pop("problem", 0)
    complain.print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or nothing)
    if problems:
        complain.print(f"{problems} records were left out, see above")
        raise typer.Exit(1)


async def _write_verdicts(
    topic: VerdictTopic, stream: BinaryIO, counts: Counter[str], *, latest: bool
) -> None:
    from ..kafka.records import Received
    from ..verdicts.deduplication import VERDICT_TOPICS, read_verdicts
    from ..verdicts.latest import latest_verdicts

    chosen = [t for t in VERDICT_TOPICS if topic in ("all", t.name)]
    async for result in (latest_verdicts if latest else read_verdicts)(settings(), chosen):
        if not isinstance(result, Received):
            counts["problem"] += 1
            complain.print(str(result), soft_wrap=True)
            continue
        counts[result.event.decision] += 1
        stream.write(result.event.to_json() + b"\n")
    stream.flush()


def realignments(
    out: Annotated[
        Path | None, Option("--out", "-o", help="Where they go; stdout if omitted.")
    ] = None,
) -> None:
    """Write what became of accepted values in new versions as JSON lines, each once.

    Exits 1 if a record is no realignment.
    """
    counts: Counter[str] = Counter()
    with file_or_stdout(out) as stream:
        asyncio.run(_write_realignments(stream, counts))
    _tell_counts(counts, "none")


async def _write_realignments(stream: BinaryIO, counts: Counter[str]) -> None:
    from safepassage.schemas import Realignment

    from ..kafka.reading import read_topics
    from ..kafka.records import UnreadableRecord, decode
    from ..topics import REALIGNMENTS
    from ..verdicts.deduplication import LastIds

    with contextlib.closing(LastIds()) as seen:
        async for record in read_topics(settings(), [REALIGNMENTS]):
            try:
                event = decode(record, Realignment).event
            except UnreadableRecord as error:
                counts["problem"] += 1
                complain.print(f"{record.coordinates} is no realignment: {error}")
                continue
            if seen.first(event.id) is None:
                counts[event.outcome] += 1
                stream.write(event.to_json() + b"\n")
    stream.flush()


def compare(
    since: Since = None,
    json: Annotated[Path | None, Option("--json", help="Where the table goes as JSON.")] = None,
) -> None:
    """Compare extractors: the share of extractions accepted, per model and prompt.

    From the live verdicts, each extraction once. Reviews do not count: they are people's. The share
    also rises where the guardrail lets wrong values pass: see the spot checks on the console.
    """
    from ..verdicts.extractor_scores import as_json, compare_extractors

    open_outputs(files=[json])
    rows = asyncio.run(compare_extractors(settings(), utc(since)))
    _print_scores(rows)
    if json:
        json.write_bytes(orjson.dumps(as_json(rows), option=orjson.OPT_INDENT_2) + b"\n")


def _print_scores(rows: Sequence[ExtractorScore]) -> None:
    columns = ("model · prompt", "extractions", "accepted", "quarantined", "undetermined")
    cells = []
    for row in rows:
        low, high = row.score.interval
        counts = (row.score.total, row.accepted, row.quarantined, row.undetermined)
        share, interval = f"{row.score.share or 0.0:.3f}", f"{low:.3f} to {high:.3f}"
        cells.append((row.name, *map(str, counts), share, interval))
    print_table("Share accepted per extractor", (*columns, "share", "95% interval"), cells)


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


def schemas(
    event: Annotated[
        str | None, Argument(help="An event, such as Verdict; all topics if left out.")
    ] = None,
) -> None:
    """Print the JSON Schema of one kind of event, or an AsyncAPI 3 document of all topics."""
    from ..asyncapi import asyncapi_document, event_schema

    made = event_schema(event) if event else asyncapi_document(metadata.version("safepassage"))
    print_line(dumps(made, indent=2, ensure_ascii=False))

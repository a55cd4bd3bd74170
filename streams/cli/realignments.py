"""``realignments``: what became of accepted values in new versions of their documents."""

import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from safepassage.streams.cli.options import Follow
from safepassage.streams.cli.output import complain, file_or_stdout
from safepassage.streams.settings import settings


def realignments(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where they go; stdout if omitted.")
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
    from safepassage.streams.kafka.reading import follow_topics, read_topics
    from safepassage.streams.kafka.records import UnreadableRecord, decode
    from safepassage.streams.topics import REALIGNMENTS
    from safepassage.streams.verdicts.deduplication import LastIds

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

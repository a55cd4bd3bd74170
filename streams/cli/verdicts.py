"""``verdicts``: what was decided, for a program."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from safepassage.streams.cli.options import Follow
from safepassage.streams.cli.output import complain, file_or_stdout
from safepassage.streams.settings import settings

VerdictTopic = Literal["all", "accepted", "quarantine"]


def verdicts(
    topic: Annotated[
        VerdictTopic, typer.Option("--topic", "-t", help="Which topic to read.")
    ] = "all",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
    follow: Follow = False,
    latest: Annotated[
        bool,
        typer.Option(
            "--latest", help="One verdict per extraction: a person's, else the last scorer's."
        ),
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
    from safepassage.streams.kafka.records import Received
    from safepassage.streams.verdicts.deduplication import VERDICT_TOPICS, read_verdicts
    from safepassage.streams.verdicts.latest import latest_verdicts

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

"""``submit`` and ``check``: documents and extractions from files."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from schemas import Coordinates, DeadLetter, Document, Response
from streams.settings import settings

if TYPE_CHECKING:
    from schemas import Verdict

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models

complain = Console(stderr=True, highlight=False)


def register(app: typer.Typer) -> None:
    app.command()(submit)
    app.command()(check)


def submit(
    paths: Annotated[
        list[Path],
        typer.Argument(help='Files, folders, or JSON lines (.gz) of {"id","text"}.'),
    ],
    responses: Annotated[
        bool,
        typer.Option("--responses", help='Rows are answers to judge: {"id","context","response"}.'),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the verdicts on every document.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait before giving up (with --wait).")
    ] = 600,
) -> None:
    """Put documents onto the topic `documents`. Exits 1 if an input was refused or lost."""
    accepted, refused = asyncio.run(_submit(paths, responses))
    print_line(f"{len(accepted)} submitted, {refused} refused")
    failed = asyncio.run(_wait(accepted, timeout)) if wait and accepted else 0
    if refused or failed:
        raise typer.Exit(1)


async def _submit(paths: list[Path], responses: bool) -> tuple[set[Coordinates], int]:
    """Publish what can be; returns where it stands and how many inputs were refused."""
    from streams.submit import Rejected, read_documents
    from streams.submit import submit as publish

    refused: list[Rejected] = []

    def readable() -> Iterator[Document | Response]:
        for found in read_documents(paths, settings(), Response if responses else Document):
            if isinstance(found, Rejected):
                refused.append(found)
                complain.print(f"refused {found}", markup=False, soft_wrap=True)
            else:
                yield found

    places = {place async for place, _ in publish(readable(), settings())}
    return places, len(refused)


async def _wait(pending: set[Coordinates], patience: float) -> int:
    """Show progress until every document ended; returns how many ended without verdicts."""
    from streams.submit import wait_for_reports

    decisions: Counter[str] = Counter()
    missing = set(pending)
    with Progress(console=complain, disable=not complain.is_terminal) as progress:
        bar = progress.add_task("waiting for verdicts", total=len(pending))
        try:
            async with asyncio.timeout(patience):
                async for event in wait_for_reports(pending, settings()):
                    progress.advance(bar)
                    _note(event, decisions, missing)
        except TimeoutError:
            complain.print(
                f"{len(missing)} documents have no verdicts after {patience:.0f} s; are all the "
                "workers running? (`safepassage doctor` checks the rest)"
            )
    print_line(", ".join(f"{count} {name}" for name, count in decisions.items()) or "no verdicts")
    return len(missing) + decisions["documents dead-lettered"]


def _note(event: object, decisions: Counter[str], missing: set[Coordinates]) -> None:
    from schemas import DocumentReport

    if isinstance(event, DeadLetter):
        decisions["documents dead-lettered"] += 1
        missing.discard(event.source)
        complain.print(f"dead letter {event.doc_id}: {event.error}: {event.detail}", markup=False)
    elif isinstance(event, DocumentReport) and event.document.coordinates:
        missing.discard(event.document.coordinates)
        decisions["documents"] += 1
        for name in ("accepted", "quarantined", "undetermined", "dead_lettered"):
            decisions[name] += getattr(event, name)


def check(
    documents: Annotated[
        list[Path], typer.Option("--documents", "-d", help='JSON lines (.gz) of {"id","text"}.')
    ] = [],  # noqa: B006 - typer copies it
    extractions: Annotated[
        list[Path],
        typer.Option(
            "--extractions",
            "-e",
            help='JSON lines (.gz) of {"id","doc_id","entity_type","value","context"}.',
        ),
    ] = [],  # noqa: B006 - typer copies it
    responses: Annotated[
        list[Path],
        typer.Option("--responses", "-r", help='JSON lines (.gz) of {"id","context","response"}.'),
    ] = [],  # noqa: B006 - typer copies it
    scorer: Annotated[
        str | None, typer.Option("--scorer", "-s", help="A scorer's name or folder.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the verdicts go; stdout if omitted.")
    ] = None,
) -> None:
    """Align and score without Kafka. Exits 1 if a row of the input was refused."""
    if not (responses or (documents and extractions)):
        raise typer.BadParameter("give --documents with --extractions, or --responses")
    from scoring_worker import load_scorer
    from streams.check import check as run_check
    from streams.check import read_input
    from streams.wiring import new_aligner

    given = read_input(documents, extractions, responses)
    for line in given.refused:
        complain.print(f"refused {line}", markup=False, soft_wrap=True)
    loaded = load_scorer(scorer or settings().scorer)
    verdicts = asyncio.run(run_check(given, new_aligner(settings()), loaded))
    _write(verdicts, out)
    counts = Counter(verdict.decision for verdict in verdicts)
    summary = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    complain.print(f"{len(verdicts)} verdicts: {summary or 'none'}")
    if given.refused:
        raise typer.Exit(1)


def _write(verdicts: list[Verdict], out: Path | None) -> None:
    with out.open("wb") if out else nullcontext(sys.stdout.buffer) as stream:
        stream.writelines(verdict.to_json() + b"\n" for verdict in verdicts)
        stream.flush()


def print_line(text: str) -> None:
    """One line of a command's result on stdout."""
    sys.stdout.write(text + "\n")

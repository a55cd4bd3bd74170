"""``submit``: documents from files onto their topic."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from safepassage.schemas import Coordinates, DeadLetter, Document, Response
from safepassage.streams.cli.output import (
    complain,
    has_fonts,
    print_line,
    tell_omissions,
    tell_uncompared,
)
from safepassage.streams.settings import settings


def submit(  # noqa: PLR0917 - typer's options
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="PDF, Word, HTML, e-mail, images, text, OCR outputs; folders of them; or JSON "
            'lines (.gz) of {"id", "text"}.'
        ),
    ],
    responses: Annotated[
        bool,
        typer.Option(
            "--responses", help='Rows are answers to judge: {"id", "context", "response"}.'
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the verdicts on every document.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait before giving up (with --wait).")
    ] = 600,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache", help="Take what the LLM answered on the same text in a week."
        ),
    ] = True,
    realign: Annotated[
        bool,
        typer.Option(
            "--realign",
            help="These are new versions: ask no LLM, and judge again what was accepted before.",
        ),
    ] = False,
) -> None:
    """Put documents onto the topic `documents`. Exits 1 if an input was refused or lost."""
    if realign and responses:
        raise typer.BadParameter("answers have no versions", param_hint="--responses --realign")
    reported, submitted, refused = asyncio.run(
        _submit(paths, responses, anew=not cache, realign=realign)
    )
    print_line(f"{submitted} submitted, {refused} refused")
    failed = asyncio.run(_wait(reported, timeout)) if wait and reported else 0
    if refused or failed:
        raise typer.Exit(1)


async def _submit(
    paths: list[Path], responses: bool, *, anew: bool, realign: bool
) -> tuple[set[Coordinates], int, int]:
    """Publish what can be; returns where that stands of which a report comes, and how many inputs
    were submitted and refused."""
    from safepassage.files import Rejected
    from safepassage.streams.kafka.reading import read_erasures
    from safepassage.streams.offline.documents import read_documents
    from safepassage.streams.offline.submit import is_reported
    from safepassage.streams.offline.submit import submit as publish

    refused: list[Rejected] = []
    with_fonts = 0
    known = await read_erasures(settings())

    def allowed(found: Document | Response | Rejected) -> Document | Response | Rejected:
        if isinstance(found, Rejected) or not known.erased(found.id):
            return found
        return Rejected(found.id, "a document of this id was erased; submit it under another id")

    def readable() -> Iterator[Document | Response]:
        nonlocal with_fonts
        for read in read_documents(paths, settings(), Response if responses else Document):
            found = allowed(read)
            if isinstance(found, Rejected):
                refused.append(found)
                complain.print(f"refused {found}", soft_wrap=True)
            else:
                tell_omissions(found)
                with_fonts += has_fonts(found)
                yield found.model_copy(update={"realign": True}) if realign else found

    sent = [each async for each in publish(readable(), settings(), anew=anew)]
    tell_uncompared(with_fonts, settings().ocr)
    return {place for place, given in sent if is_reported(given)}, len(sent), len(refused)


async def _wait(pending: set[Coordinates], patience: float) -> int:
    """Show progress until every document ended; returns how many of them, and of their
    extractions, ended without a verdict."""
    from safepassage.streams.offline.submit import wait_for_reports

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
    return len(missing) + decisions["documents dead-lettered"] + decisions["dead_lettered"]


def _note(event: object, decisions: Counter[str], missing: set[Coordinates]) -> None:
    from safepassage.schemas import DocumentReport

    if isinstance(event, DeadLetter):
        decisions["documents dead-lettered"] += 1
        missing.discard(event.source)
        complain.print(f"dead letter {event.doc_id}: {event.error}: {event.detail}")
    elif isinstance(event, DocumentReport) and event.document.coordinates:
        missing.discard(event.document.coordinates)
        decisions["documents"] += 1
        if event.from_cache:
            decisions["documents answered from the cache"] += 1
        if event.realigned is not None:
            decisions["documents aligned again"] += 1
            decisions.update(event.realigned)
        if not event.extractions:
            nothing = "without a finding" if event.realigned is None else "without a former value"
            decisions[f"documents {nothing}"] += 1
        for name in ("accepted", "quarantined", "undetermined", "dead_lettered"):
            decisions[name] += getattr(event, name)

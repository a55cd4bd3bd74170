"""``submit``: documents from files onto their topic; ``files``: their ids and texts."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn
from typer import Argument, Option

from safepassage.schemas import Coordinates, DeadLetter, Document, Response

from ..settings import settings
from .label_options import SECONDS_BETWEEN_LINES
from .output import complain, has_fonts, print_line, tell_omissions, tell_uncompared

if TYPE_CHECKING:
    from aiokafka import TopicPartition

    from safepassage.files import Rejected

    from ..kafka.records import Record
    from ..offline.submit import SubmissionProgress


def submit(  # noqa: PLR0917 - typer's options
    paths: Annotated[
        list[Path],
        Argument(
            help="PDF, Word, HTML, e-mail, images, text, OCR outputs; folders of them; or JSON "
            'lines (.gz) of {"id", "text"}.'
        ),
    ],
    responses: Annotated[
        bool,
        Option("--responses", help='Rows are answers to judge: {"id", "context", "response"}.'),
    ] = False,
    wait: Annotated[
        bool, Option("--wait", help="Wait for the verdicts on every document.")
    ] = False,
    timeout: Annotated[
        float, Option(help="Seconds without progress before giving up (with --wait).")
    ] = 600,
    cache: Annotated[
        bool,
        Option("--cache/--no-cache", help="Take what the LLM answered on the same text in a week."),
    ] = True,
    realign: Annotated[
        bool,
        Option(
            "--realign",
            help="These are new versions: ask no LLM, and judge again what was accepted before.",
        ),
    ] = False,
) -> None:
    """Put documents onto the topic `documents`. Exits 1 if an input was refused or lost."""
    if realign and responses:
        raise typer.BadParameter("answers have no versions", param_hint="--responses --realign")
    from ..offline.submit import step_starts

    starts = asyncio.run(step_starts(settings())) if wait else {}
    reported, submitted, refused = asyncio.run(
        _submit(paths, responses, anew=not cache, realign=realign)
    )
    print_line(f"{submitted} submitted, {refused} refused")
    failed = asyncio.run(_wait(reported, timeout, starts)) if wait and reported else 0
    if refused or failed:
        raise typer.Exit(1)


async def _submit(
    paths: list[Path], responses: bool, *, anew: bool, realign: bool
) -> tuple[dict[Coordinates, str], int, int]:
    """Publish what can be; returns the ids of those of which a report comes, by where they are,
    and how many inputs were submitted and refused."""
    from safepassage.files import Rejected

    from ..kafka.reading import read_erasures
    from ..offline.documents import read_documents
    from ..offline.submit import is_reported
    from ..offline.submit import submit as publish

    refused: list[Rejected] = []
    with_fonts = 0
    known = await read_erasures(settings())

    def allowed(found: Document | Response | Rejected) -> Document | Response | Rejected:
        if isinstance(found, Rejected) or not known.erased(found.id):
            return found
        return Rejected(found.id, "a document of this id was erased; submit it under another id")

    def refuse(found: Rejected) -> None:
        refused.append(found)
        complain.print(f"refused {found}", soft_wrap=True)

    def readable() -> Iterator[Document | Response]:
        nonlocal with_fonts
        for read in read_documents(paths, settings(), Response if responses else Document):
            found = allowed(read)
            if isinstance(found, Rejected):
                refuse(found)
            else:
                tell_omissions(found)
                with_fonts += has_fonts(found)
                yield found.model_copy(update={"realign": True}) if realign else found

    submitted = 0
    reported: dict[Coordinates, str] = {}
    async for place, given in publish(readable(), settings(), anew=anew):
        if isinstance(place, Rejected):
            refuse(place)
            continue
        submitted += 1
        if is_reported(given):
            reported[place] = given.id
    tell_uncompared(with_fonts, settings().ocr)
    return reported, submitted, len(refused)


async def _wait(
    submitted: dict[Coordinates, str], patience: float, starts: dict[TopicPartition, int]
) -> int:
    """Show progress until all ended; returns how many things ended without a verdict."""
    from ..offline.submit import SubmissionProgress, about, wait_for_reports

    decisions = Counter(documents=0)
    missing = set(submitted)
    documents = SubmissionProgress(submitted, settings())
    loop = asyncio.get_running_loop()
    with _shown_progress(documents) as show:
        try:
            async with asyncio.timeout(patience) as deadline:

                def note(record: Record) -> None:
                    before = documents.counts
                    said = documents.note(record)
                    if said or documents.counts != before:
                        deadline.reschedule(loop.time() + patience)
                        show(f"LLM: {said}" if said else None)

                async for event in wait_for_reports(missing, settings(), starts, note):
                    deadline.reschedule(loop.time() + patience)
                    _note(event, decisions, missing)
                    if place := about(event):
                        documents.ended(place)
                    show(None)
        except TimeoutError:
            complain.print(
                f"{len(missing)} documents have no verdicts, and nothing came for {patience:.0f} s;"
                " are all the workers running? (`safepassage doctor` checks the rest)",
                soft_wrap=True,
            )
    print_line(", ".join(f"{count} {name}" for name, count in decisions.items()))
    lost = decisions["documents dead-lettered"] + decisions["extractions dead-lettered"]
    return len(missing) + lost


@contextmanager
def _shown_progress(documents: SubmissionProgress) -> Iterator[Callable[[str | None], None]]:
    """A bar where there is a terminal, else a line every half a minute; what is given is told."""
    told, watched = time.monotonic(), complain.is_terminal
    sent, *_ = documents.counts
    columns = TextColumn("{task.description}"), BarColumn()
    with Progress(*columns, console=complain, disable=not watched) as progress:
        bar = progress.add_task(str(documents), total=3 * sent)

        def show(said: str | None) -> None:
            nonlocal told
            if said:
                complain.print(said, soft_wrap=True)
            _, *steps = documents.counts
            progress.update(bar, description=str(documents), completed=sum(steps))
            if not watched and time.monotonic() - told >= SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                complain.print(str(documents), soft_wrap=True)

        yield show


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
        for name in ("accepted", "quarantined", "undetermined"):
            decisions[name] += getattr(event, name)
        if event.dead_lettered:
            decisions["extractions dead-lettered"] += event.dead_lettered


def files(
    paths: Annotated[
        list[Path], Argument(help="Files and folders, as `submit` and `check` take them.")
    ],
    text: Annotated[
        bool,
        Option(
            "--text", help='Print {"id", "text"}, for an LLM of yours and for `check --documents`.'
        ),
    ] = False,
) -> None:
    """Print a JSON line for each document of files: its id, and what it is.

    The ids alone take no OCR. Exits 1 if a file was refused.
    """
    from safepassage.files import Rejected

    refused = 0
    for row in _texts(paths) if text else _ids(paths):
        if isinstance(row, Rejected):
            refused += 1
            complain.print(f"refused {row}", soft_wrap=True)
        else:
            print_line(json.dumps(row, ensure_ascii=False))
    if refused:
        raise typer.Exit(1)


def _ids(paths: list[Path]) -> Iterator[dict[str, str] | Rejected]:
    from ..offline.documents import document_ids

    for found in document_ids(paths, settings()):
        yield {"id": found[0], "media_type": found[1]} if isinstance(found, tuple) else found


def _texts(paths: list[Path]) -> Iterator[dict[str, str] | Rejected]:
    from safepassage.files import Rejected

    from ..offline.documents import read_documents

    for found in read_documents(paths, settings()):
        yield found if isinstance(found, Rejected) else {"id": found.id, "text": found.text}

"""``erase``: a document out of every place that can be reached."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import By
from .output import print_line

if TYPE_CHECKING:
    from ..privacy.erasure import Remains, Report


MAX_DOCUMENTS = 10_000


def erase(
    documents: Annotated[
        list[str] | None,
        Argument(
            metavar="DOC_ID",
            help="Ids of documents; without one, what a run that was cut off left.",
        ),
    ] = None,
    reason: Annotated[str, Option(help="Why, for those who read it later; kept for ever.")] = "",
    by: By = "",
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would be erased, and change nothing.")
    ] = False,
) -> None:
    """Erase documents: no role works on them any more, and what can be deleted is.

    Says of every topic what is gone and what remains until when. It reads every topic once, and may
    be repeated. Exits 1 if a place could not be reached.
    """
    from ..privacy.erasure import erase as run
    from ..privacy.erasure import unfinished

    chosen = list(dict.fromkeys(documents or asyncio.run(unfinished(settings()))))
    if not chosen:
        print_line("nothing to erase: no document is named, and no erasure was cut off")
        return
    if documents and not reason.strip() and not dry_run:
        raise OperatorError("give a --reason: an erasure says why")
    if len(chosen) > MAX_DOCUMENTS:
        raise OperatorError(f"more than {MAX_DOCUMENTS} documents: give fewer at a time")
    report = asyncio.run(run(settings(), chosen, by, reason.strip(), dry_run=dry_run))
    for line in _lines(report):
        print_line(line)
    if report.unreached:
        raise typer.Exit(1)


def _lines(report: Report) -> list[str]:
    would = "would be " if report.dry_run else ""
    lines = [f"{len(report.documents)} documents {would}erased"]
    lines += [
        f"{topic}: {count} tombstones {would}written; the records go when the broker compacts"
        for topic, count in sorted(report.tombstones.items())
    ]
    lines.append(f"Redis: {report.texts} texts and {report.answers} answers {would}deleted")
    lines += [f"original {would}deleted: {uri}" for uri in report.originals]
    lines += [
        f"original not deleted, another document was read from it: {uri}" for uri in report.shared
    ]
    if report.lines:
        lines.append(f"learn folder: {report.lines} lines {would}deleted")
    lines += [_remaining(remains) for remains in report.remains if remains.records]
    lines += [
        f"{one.topic}: {one.sealed} sealed records {would}unreadable, their key {would}deleted"
        for one in report.remains
        if one.sealed and not report.unreached
    ]
    for scorer in report.scorers:
        name = f"scorer {scorer.revision} in {scorer.folder}"
        if scorer.learnt:
            lines.append(f"{name} learnt from them: train it again without, or retire it")
        elif scorer.learnt is None:
            lines.append(f"{name} may have learnt from them: {scorer.why}")
    lines.append(
        "not looked at: files that you exported, reports, logs, backups, other machines' folders, "
        "your LLM's provider"
    )
    lines += [f"not reached: {line}" for line in report.unreached]
    if report.unreached:
        lines.append("the erasure is not done: mend that and run it again")
    return lines


def _remaining(remains: Remains) -> str:
    if remains.untold:
        until = "until its retention is over, which the broker does not tell"
    elif remains.until is None:
        until = "for ever: the topic has no retention"
    else:
        until = f"until {remains.until:%Y-%m-%d %H:%M} UTC"
    return f"{remains.topic}: {remains.records} records remain {until}"


keys_app = typer.Typer(
    help="Keys that seal records, so that deleting them erases.", no_args_is_help=True, name="keys"
)


@keys_app.command("create")
def create() -> None:
    """Make the keys of documents, once, wrapped by the first key of SAFEPASSAGE_KEYS_FILE."""
    from ..privacy.keys import create_keys

    name = asyncio.run(create_keys(settings()))
    print_line(f"keys made, wrapped by {name}: back up the file and the topic keys apart")


@keys_app.command("rewrap")
def rewrap() -> None:
    """Wrap all keys under the first key of SAFEPASSAGE_KEYS_FILE, to retire the others."""
    from ..privacy.keys import rewrap_keys

    count, name = asyncio.run(rewrap_keys(settings()))
    print_line(f"{count} keys wrapped by {name}; the other lines can go after a day")

"""``dead-letters``: what could not be processed, and how to put it back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..settings import settings
from .options import By, Reason, Since, Until, utc
from .output import complain, print_line, print_table

if TYPE_CHECKING:
    from ..redrive.engine import Plan, RedriveRequest, RedriveResult
    from ..redrive.letters import Letter, Selection

dead_letters_app = typer.Typer(
    help="Records that could not be processed.", no_args_is_help=True, name="dead-letters"
)

Errors = Annotated[list[str] | None, Option("--error", help="Only this error; may be repeated.")]
Stages = Annotated[
    list[str] | None, Option("--stage", help="Only what failed in this stage; may be repeated.")
]
Ids = Annotated[list[str] | None, Option("--id", help="Only this letter; may be repeated.")]


@dead_letters_app.command("list")
def list_letters(
    errors: Errors = None,
    stages: Stages = None,
    since: Since = None,
    until: Until = None,
    as_json: Annotated[
        bool, Option("--json", help="One line of JSON for each letter instead.")
    ] = False,
) -> None:
    """Count dead letters by stage and error. Texts are not printed."""
    chosen = _selection(errors, stages, since, until)
    letters, done = asyncio.run(_listed(chosen))
    if as_json:
        for letter in letters:
            print_line(json.dumps(_row(letter, letter.id in done)))
    else:
        _print_counts(letters, done)


@dead_letters_app.command("show")
def show(
    letter_id: Annotated[str, Argument(metavar="ID", help="The letter's id.")],
    text: Annotated[
        bool, Option("--text", help="Print the record's value itself, and nothing else.")
    ] = False,
) -> None:
    """Print a dead letter as JSON: what failed, where, and the size and digest of its record.

    The record may hold a document. It is printed only with --text.
    """
    from ..delivery.dead_letter_event import contents
    from ..kafka.erasures_and_seals import protection
    from ..redrive.letters import letter_by_id
    from ..sealing.frame import is_sealed

    letter = asyncio.run(letter_by_id(settings(), letter_id))
    if letter is None:
        raise OperatorError(f"there is no dead letter {letter_id}")
    key, value = contents(letter)
    if is_sealed(value):
        source = letter.source.topic
        value = protection(settings()).opened(value or b"", source, key)
    if text:
        sys.stdout.buffer.write(value or b"")
        return
    about = letter.model_dump(mode="json", exclude={"key", "value"})
    about["bytes"] = None if value is None else len(value)
    about["sha256"] = None if value is None else hashlib.sha256(value).hexdigest()
    print_line(json.dumps(about, indent=2))


@dead_letters_app.command("redrive")
def redrive(
    *,
    errors: Errors = None,
    stages: Stages = None,
    since: Since = None,
    until: Until = None,
    ids: Ids = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would be put back, and change nothing.")
    ] = False,
    canary: Annotated[
        int, Option(help="How many go first; the rest follows if they end well. 0: none.", min=0)
    ] = 5,
    watch: Annotated[float, Option(help="Seconds to wait for the canary's outcome.", min=1)] = 300,
    rate: Annotated[float, Option(help="Records a second.", min=0.1)] = 50,
    limit: Annotated[int | None, Option(help="At most so many, the oldest first.", min=1)] = None,
    max_redrives: Annotated[
        int, Option(help="Refuse what was redriven so often already and failed again.", min=1)
    ] = 3,
    by: By = "",
    reason: Reason = "",
) -> None:
    """Put the records of dead letters back onto the topics that they came from.

    Each letter is put back once. Each batch is an event on `redrives`, before and after, which
    the audit chains. Exits 1 if the canary did not end well, or the broker refused a record.
    """
    from ..redrive.engine import RedriveRequest

    request = RedriveRequest(
        run=f"d{datetime.now(UTC):%Y%m%d-%H%M%S-%f}",
        by=by,
        selection=_selection(errors, stages, since, until, ids),
        reason=reason,
        max_redrives=max_redrives,
        canary=canary,
        watch_seconds=watch,
        rate=rate,
        limit=limit,
    )
    result = asyncio.run(_redrive(request, dry_run=dry_run))
    if result and (result.canary_failed or result.refused):
        raise typer.Exit(1)


def _selection(
    errors: list[str] | None,
    stages: list[str] | None,
    since: datetime | None,
    until: datetime | None,
    ids: list[str] | None = None,
) -> Selection:
    from ..redrive.letters import Selection

    return Selection(
        errors=frozenset(errors or ()),
        stages=frozenset(stages or ()),
        ids=frozenset(ids or ()),
        since=utc(since),
        until=utc(until),
    )


async def _listed(chosen: Selection) -> tuple[list[Letter], set[str]]:
    from ..redrive.engine import put_back_before
    from ..redrive.letters import survey

    found, unread = await survey(settings(), chosen)
    if unread:
        complain.print(f"{unread} records on the topic are no dead letters")
    return list(found.values()), await put_back_before(settings())


async def _redrive(request: RedriveRequest, *, dry_run: bool) -> RedriveResult | None:
    from ..redrive.engine import plan, put_back_before, redrive

    planned = await plan(settings(), await put_back_before(settings()), request)
    _tell_plan(planned, request, dry_run=dry_run)
    if dry_run:
        return None
    result = await redrive(settings(), planned.letters, request, _tell_progress)
    _tell_result(result, request)
    return result


def _tell_plan(planned: Plan, request: RedriveRequest, *, dry_run: bool) -> None:
    kinds = Counter((letter.stage, letter.error) for letter in planned.letters)
    for (stage, error), count in sorted(kinds.items()):
        print_line(f"{count} {stage} {_printable(error)}")
    for why, count in sorted(planned.refusals.items()):
        print_line(f"{count} refused: {why}")
    verb = "would be put back" if dry_run else "to put back"
    print_line(
        f"run {request.run}: {len(planned.letters)} {verb}, {planned.done} were put back before, "
        f"{planned.beyond_limit} beyond the limit"
    )


def _tell_progress(result: RedriveResult) -> None:
    ended = f", {len(result.canary)} canaries ended" if result.canary else ""
    complain.print(f"{len(result.published)} put back{ended}")


def _tell_result(result: RedriveResult, request: RedriveRequest) -> None:
    failed = Counter(_printable(error) for error in result.canary.values() if error)
    for error, count in sorted(failed.items()):
        print_line(f"canary: {count} failed again: {error}")
    if result.unwatched:
        print_line(
            f"canary: nothing was heard of {result.unwatched} within {request.watch_seconds:.0f} s"
        )
    refused = Counter(result.refused.values())
    for error, count in sorted(refused.items()):
        print_line(f"{count} refused by the broker: {error}")
    print_line(f"{len(result.published)} put back, {result.held_back} held back")


def _print_counts(letters: list[Letter], done: set[str]) -> None:
    rows = []
    kinds: dict[tuple[str, str], list[Letter]] = {}
    for letter in letters:
        kinds.setdefault((letter.stage, letter.error), []).append(letter)
    for (stage, error), of_kind in sorted(kinds.items()):
        written = sorted(letter.written for letter in of_kind)
        put_back = sum(letter.id in done for letter in of_kind)
        counts = (str(len(of_kind)), str(put_back))
        times = (f"{time:%Y-%m-%d %H:%M:%S}" for time in (written[0], written[-1]))
        rows.append((stage, _printable(error), *counts, *times))
    columns = ("stage", "error", "letters", "put back", "first", "last")
    print_table(None, columns, rows, texts=(0, 1, 4, 5))


def _row(letter: Letter, done: bool) -> dict[str, object]:
    named = ("stage", "error", "detail", "doc_id", "extraction_id", "attempts", "redriven")
    return {
        "id": letter.id,
        "written": letter.written.isoformat(),
        "source": str(letter.source),
        **{name: getattr(letter, name) for name in named},
        "bytes": letter.bytes,
        "put_back": done,
    }


def _printable(text: str) -> str:
    """A letter is untrusted: no control character of it reaches a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)

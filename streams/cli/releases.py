"""``promote``, ``rollback``, ``shadow`` and ``scorers``: which scorer decides."""

from __future__ import annotations

import asyncio
import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streams.cli.documents import print_line
from streams.errors import OperatorError
from streams.settings import settings

if TYPE_CHECKING:
    from schemas import ScorerRelease
    from streams.gate import Bounds, GateResult
    from streams.promotion import Signature

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models

By = Annotated[str | None, typer.Option("--by", help="Who releases; your login if omitted.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for those who read it later.")]


def register(app: typer.Typer) -> None:
    for command in (promote, rollback, shadow, scorers):
        app.command()(command)


def promote(
    scorer: Annotated[str, typer.Argument(help="The candidate: a scorer's name or folder.")],
    *,
    labels: Annotated[
        list[Path] | None,
        typer.Option(help="Files of labelled extractions or pairs (JSON lines, .gz)."),
    ] = None,
    documents: Annotated[
        list[Path] | None, typer.Option(help="The documents of labelled extractions.")
    ] = None,
    reviews: Annotated[
        bool, typer.Option(help="Count the standing reviews as gold labels.")
    ] = True,
    reviews_since: Annotated[
        datetime | None,
        typer.Option(help="Only reviews made from this time (UTC) on: leave out those it learnt."),
    ] = None,
    max_recall_loss: Annotated[
        float, typer.Option(help="By how much recall of unsupported may fall.", min=0, max=1)
    ] = 0.02,
    min_f1_gain: Annotated[
        float, typer.Option(help="F1 must rise by more than this.", min=-1, max=1)
    ] = 0.0,
    min_labels: Annotated[
        int, typer.Option(help="Labels of each class that are needed.", min=1)
    ] = 20,
    confidence: Annotated[
        float, typer.Option(help="Of the bound on recall, one-sided.", min=0.51, max=0.999)
    ] = 0.95,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, but change nothing.")] = False,
    by: By = None,
    reason: Reason = "",
) -> None:
    """Make a scorer live, if it beats the live one on the gold labels within the bounds.

    Running workers take it over between two batches. Exits 1, with the reason, if it does not
    pass.
    """
    from streams.gate import Bounds

    bounds = Bounds(
        max_recall_loss=max_recall_loss,
        min_f1_gain=min_f1_gain,
        min_labels=min_labels,
        confidence=confidence,
    )
    since = reviews_since.replace(tzinfo=UTC) if reviews_since else None
    result = asyncio.run(
        _promote(
            scorer,
            _Gold(labels or [], documents or [], reviews, since),
            bounds,
            None if dry_run else _signature(by, reason),
        )
    )
    if not result.passed:
        raise typer.Exit(1)


def rollback(by: By = None, reason: Reason = "") -> None:
    """Make the scorer live again that was live before the last promotion."""
    from streams.promotion import rollback as roll_back

    release = asyncio.run(roll_back(settings(), _signature(by, reason)))
    print_line(f"live: {_named(release)}")


def shadow(
    scorer: Annotated[
        str | None, typer.Argument(help="The candidate: a scorer's name or folder.")
    ] = None,
    *,
    off: Annotated[bool, typer.Option("--off", help="End shadowing.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Instead, report on what it judged so far, into a folder.")
    ] = None,
    by: By = None,
    reason: Reason = "",
) -> None:
    """Let a candidate judge live traffic beside the live scorer, without deciding."""
    if sum((scorer is not None, off, report is not None)) != 1:
        raise typer.BadParameter("give one of: a scorer, --off, --report")
    if report is not None:
        _report_on_shadow(report)
        return
    from scoring_worker import load_scorer
    from streams.promotion import absolute
    from streams.promotion import shadow as release_shadow

    candidate = absolute(scorer) if scorer else None
    signed = _signature(by, reason)
    release = asyncio.run(release_shadow(settings(), candidate, load_scorer, signed))
    print_line(f"shadow: {_named(release)}")


def scorers() -> None:
    """Show which scorer is live and which one shadows."""
    from streams.releases import releases_in_force

    held = asyncio.run(releases_in_force(settings())).releases
    live, beside = held.get("live"), held.get("shadow")
    print_line(f"live: {_named(live) if live else f'{settings().scorer} (as configured)'}")
    print_line(f"shadow: {_named(beside) if beside else settings().shadow_scorer or 'none'}")


class _Gold:
    """Where the gold labels come from."""

    def __init__(
        self, labels: list[Path], documents: list[Path], reviews: bool, since: datetime | None
    ) -> None:
        self.labels = labels
        self.documents = documents
        self.reviews = reviews
        self.since = since


async def _promote(
    scorer: str, gold: _Gold, bounds: Bounds, signed: Signature | None
) -> GateResult:
    from scoring_worker import load_scorer
    from streams import promotion

    cases = await promotion.reviewed_gold(settings(), gold.since) if gold.reviews else []
    cases += await asyncio.to_thread(
        promotion.labelled_gold, gold.labels, gold.documents, settings()
    )
    if not cases:
        raise OperatorError("there are no gold labels: review some verdicts, or give --labels")
    scorer = promotion.absolute(scorer)
    live, result = await promotion.hold_against(settings(), scorer, cases, bounds, load_scorer)
    Console().print(_table(result))
    if not result.passed:
        missed = [bound.explanation for bound in result.bounds if not bound.passed]
        print_line(f"refused: {'; '.join(missed)}")
    elif signed is None:
        print_line("it would be promoted")
    else:
        release = await promotion.promote(settings(), live, result, scorer, signed)
        print_line(f"live: {_named(release)}")
    return result


def _table(result: GateResult) -> Table:
    table = Table("", "live", "candidate", "", title_justify="left")
    old, new = result.incumbent, result.candidate
    table.add_row("scorer", Text(old.scorer), Text(new.scorer), "")
    table.add_row("revision", old.revision, new.revision, "")
    for name in ("recall", "precision", "f1"):
        table.add_row(name, f"{getattr(old, name):.3f}", f"{getattr(new, name):.3f}", "")
    for bound in result.bounds:
        table.add_row(bound.name, "", "passed" if bound.passed else "missed", bound.explanation)
    return table


def _report_on_shadow(folder: Path) -> None:
    from streams.cli.replaying import show_report
    from streams.replay.comparison import compare
    from streams.topics import SHADOW

    subject = "Shadow: the candidate against the live verdicts"
    show_report(asyncio.run(compare(settings(), SHADOW, subject=subject)), folder)


def _signature(by: str | None, reason: str) -> Signature:
    from streams.promotion import Signature

    return Signature(by or getpass.getuser(), reason)


def _named(release: ScorerRelease) -> str:
    if release.scorer is None:
        return "none"
    return f"{release.scorer}, revision {release.revision}, by {release.released_by}"

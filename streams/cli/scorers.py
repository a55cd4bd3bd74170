"""``scorers``: which scorer is live and which shadows; ``scorers list``: what there is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer

from ..settings import settings
from .options import named
from .output import print_line, print_table

if TYPE_CHECKING:
    from safepassage.scoring_worker.detectors.registry import Declarations

scorers_app = typer.Typer(
    help="Which scorer is live and which one shadows; `list` shows the detectors there are.",
    invoke_without_command=True,
    name="scorers",
)


@scorers_app.callback()
def scorers(context: typer.Context) -> None:
    """Show which scorer is live and which one shadows."""
    if context.invoked_subcommand is not None:
        return
    from ..release.releases import releases_in_force

    held = asyncio.run(releases_in_force(settings()))
    live, beside = held.live, held.releases.get("shadow")
    print_line(f"live: {named(live) if live else f'{settings().judge} (as configured)'}")
    print_line(f"shadow: {named(beside) if beside else settings().shadow_scorer or 'none'}")


@scorers_app.command("list")
def scorers_list() -> None:
    """Show the detectors of answers: what each needs, judges and costs. Scorers are not listed."""
    from safepassage.scoring_worker.detectors.registry import declarations

    show_detectors(declarations())


def show_detectors(known: Declarations) -> None:
    """Print a table of them, and which are broken."""
    columns = ("detector", "what it is", "source", "needs", "judges", "cost", "latency")
    rows = []
    for one in known.detectors.values():
        needs, judges = (", ".join(sorted(names)) for names in (one.needs, one.judges))
        about = (one.name, one.summary, one.paper, needs or "nothing", judges)
        rows.append((*about, one.cost, one.latency))
    print_table(None, columns, rows, texts=range(len(columns)))
    for broken in known.broken:
        print_line(f"broken: {broken.name}: {broken.why}")

"""``watch``: the live stream, for a person."""

import asyncio
from typing import Annotated

import typer

from safepassage.streams.cli.output import complain
from safepassage.streams.settings import settings


def watch(
    once: Annotated[bool, typer.Option("--once", help="Print one view and end.")] = False,
) -> None:
    """Show the live stream: rates, lag, what is stopped, the latest verdicts, warnings."""
    from rich.console import Console

    from safepassage.streams.verdicts.live_view import snapshot

    if once:
        Console().print(asyncio.run(snapshot(settings(), _learning)))
        return
    try:
        asyncio.run(_watch())
    except KeyboardInterrupt:
        complain.print("stopped")


async def _watch() -> None:
    from rich.live import Live

    from safepassage.streams.verdicts.live_view import watch as views

    with Live(auto_refresh=False) as live:
        async for view in views(settings(), _learning):
            live.update(view, refresh=True)


async def _learning() -> str:
    from safepassage.streams.learning.events import read_runs

    progress = (await read_runs(settings())).progress
    return f"learning · {progress}" if progress else ""

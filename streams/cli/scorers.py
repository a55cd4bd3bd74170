"""``scorers``: which scorer is live, and which one shadows."""

from __future__ import annotations

import asyncio

from streams.cli.output import print_line
from streams.cli.signature import named
from streams.settings import settings

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def scorers() -> None:
    """Show which scorer is live and which one shadows."""
    from streams.release.releases import releases_in_force

    held = asyncio.run(releases_in_force(settings()))
    live, beside = held.live, held.releases.get("shadow")
    print_line(f"live: {named(live) if live else f'{settings().scorer} (as configured)'}")
    print_line(f"shadow: {named(beside) if beside else settings().shadow_scorer or 'none'}")

"""``demo``, ``up`` and ``worker``: what runs until it is done or told to stop."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.logs import configure_logging
from streams.settings import settings
from streams.wiring import ROLE_NAMES


def register(app: typer.Typer) -> None:
    app.command()(demo)
    app.command()(up)
    app.command()(worker)


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the verdicts as JSON lines in ./var/demo.")
    ] = False,
) -> None:
    """Run the whole flow on an embedded broker and Redis, with bundled documents."""
    from streams.demo.run import run_demo  # noqa: PLC0415 - brings the embedded servers

    run_demo(keep=keep)


def up() -> None:
    """Start the same stack and leave it running, with the review console."""
    from streams.demo.run import run_up  # noqa: PLC0415 - brings the embedded servers

    run_up()


def worker(
    roles: Annotated[
        list[str], typer.Argument(help=f"One or several of: {', '.join(ROLE_NAMES)}.")
    ],
) -> None:
    """Run one or several roles against KAFKA_BOOTSTRAP_SERVERS and REDIS_URL until stopped."""
    unknown = [role for role in roles if role not in ROLE_NAMES]
    if unknown:
        raise typer.BadParameter(
            f"no role {unknown[0]!r}; there are: {', '.join(ROLE_NAMES)}", param_hint="ROLE"
        )
    from streams.worker import run_worker  # noqa: PLC0415 - slow to import

    configure_logging(settings(), roles=",".join(dict.fromkeys(roles)))
    run_worker(list(dict.fromkeys(roles)), settings())

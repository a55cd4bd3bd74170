"""``worker``: roles in production."""

from typing import Annotated

import typer
from typer import Argument, Option

from ..runtime.logs import configure_logging
from ..settings import settings
from ..topics import ROLE_NAMES


def worker(
    roles: Annotated[list[str], Argument(help=f"One or several of: {', '.join(ROLE_NAMES)}.")],
    alone: Annotated[
        bool,
        Option(
            "--alone",
            help="`report` without audit, drift and realign: these have workers of their own.",
        ),
    ] = False,
) -> None:
    """Run one or several roles until stopped. `report` runs audit, drift and realign as well.

    `audit` chains the verdicts by hashes, `drift` warns when verdicts change as a whole, and
    `realign` judges accepted values again in a new version of their document.

    Kafka and Redis are those of KAFKA_BOOTSTRAP_SERVERS and REDIS_URL.
    """
    unknown = [role for role in roles if role not in ROLE_NAMES]
    if unknown:
        raise typer.BadParameter(
            f"no role {unknown[0]!r}; there are: {', '.join(ROLE_NAMES)}", param_hint="ROLE"
        )
    if alone and "report" not in roles:
        raise typer.BadParameter("is about the role report", param_hint="--alone")
    from ..worker import run_worker

    configure_logging(settings(), roles=",".join(dict.fromkeys(roles)))
    run_worker(roles, settings(), alone=alone)

"""``worker``: roles in production; ``doctor``: what is in the way, and what to mend."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..runtime.logs import configure_logging
from ..settings import settings
from ..topics import ROLE_NAMES
from .output import print_line

if TYPE_CHECKING:
    from ..doctor.examination import Alteration
    from ..doctor.services import Diagnosis


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


def doctor(
    create_topics: Annotated[
        bool, Option("--create-topics", help="Create the topics that are missing.")
    ] = False,
    alter_topics: Annotated[
        bool,
        Option(
            "--alter-topics",
            help="Say which settings topics would get, as far as no record can be lost by it.",
        ),
    ] = False,
    apply: Annotated[bool, Option("--apply", help="Together with --alter-topics: do it.")] = False,
    acls: Annotated[
        bool, Option("--acls", help="Only print the commands that give each role its rights.")
    ] = False,
) -> None:
    """Check broker, topics, Redis, model, LLM endpoint and clocks; say what to mend.

    Exits 1 if something has to be mended.
    """
    if acls:
        from ..doctor.acls import acl_commands

        for line in acl_commands(settings()):
            print_line(line)
        return
    from ..doctor.examination import needs_mending

    if apply and not alter_topics:
        raise typer.BadParameter("is about --alter-topics", param_hint="--apply")
    alteration: Alteration = "no"
    if alter_topics:
        alteration = "done" if apply else "told"
    diagnoses = asyncio.run(_examine(create_topics, alteration))
    if needs_mending(diagnoses):
        raise typer.Exit(1)


async def _examine(create_topics: bool, alteration: Alteration) -> list[Diagnosis]:
    """Print each diagnosis as soon as it is known."""
    from ..doctor.examination import diagnose

    diagnoses = []
    async for diagnosis in diagnose(
        settings(), create_missing_topics=create_topics, alteration=alteration
    ):
        diagnoses.append(diagnosis)
        print_line(f"{diagnosis.state:<8} {diagnosis.subject:<8} {diagnosis.found}")
        if diagnosis.remedy:
            print_line(f"{'':<17} → {diagnosis.remedy}")
    return diagnoses

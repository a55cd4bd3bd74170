"""``doctor``: what is in the way, and what to mend."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..settings import settings
from .output import print_line

if TYPE_CHECKING:
    from ..doctor.examination import Alteration
    from ..doctor.services import Diagnosis


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

"""``doctor``: what stands in the way, and what to mend."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from safepassage.streams.cli.output import print_line
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.streams.doctor.diagnosis import Diagnosis


def doctor(
    create_topics: Annotated[
        bool, typer.Option("--create-topics", help="Create the topics that are missing.")
    ] = False,
    acls: Annotated[
        bool,
        typer.Option("--acls", help="Only print the commands that give each role its rights."),
    ] = False,
) -> None:
    """Check broker, topics, Redis, model, LLM endpoint and clocks; say what to mend.

    Exits 1 if something has to be mended.
    """
    if acls:
        _print_acls()
        return
    from safepassage.streams.doctor.examination import needs_mending

    diagnoses = asyncio.run(_examine(create_topics))
    if needs_mending(diagnoses):
        raise typer.Exit(1)


def _print_acls() -> None:
    from safepassage.streams.doctor.acls import acl_commands

    for line in acl_commands(settings()):
        print_line(line)


async def _examine(create_topics: bool) -> list[Diagnosis]:
    """Print each diagnosis as soon as it is known."""
    from safepassage.streams.doctor.examination import diagnose

    diagnoses = []
    async for diagnosis in diagnose(settings(), create_missing_topics=create_topics):
        diagnoses.append(diagnosis)
        print_line(f"{diagnosis.state:<8} {diagnosis.subject:<8} {diagnosis.found}")
        if diagnosis.remedy:
            print_line(f"{'':<17} → {diagnosis.remedy}")
    return diagnoses

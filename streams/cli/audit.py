"""``audit verify`` and ``audit head``: the tamper-evident record of verdicts."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ..settings import settings
from .output import print_line

audit_app = typer.Typer(
    help="The tamper-evident record of verdicts.", no_args_is_help=True, name="audit"
)


@audit_app.command("verify")
def audit_verify(
    heads: Annotated[
        Path | None, Option(help="Heads kept elsewhere (from `audit head`), to compare with.")
    ] = None,
) -> None:
    """Find changed, removed, inserted and reordered verdicts. Exits 1 if there is any."""
    from ..audit.chain import Head
    from ..audit.verification import verify

    lines = heads.read_text().splitlines() if heads else []
    anchored = [Head.model_validate_json(line) for line in lines if line.strip()]
    result = asyncio.run(verify(settings(), anchored))
    for finding in result.findings:
        print_line(str(finding))
    found = len(result.findings) + result.more
    if result.more:
        print_line(f"… and {result.more} more, which are not named")
    print_line(
        f"{result.verified} verified, {found} findings, "
        f"{result.pending} not recorded yet, {result.expired} gone by retention, "
        f"{result.erased} of erased documents"
    )
    if result.findings:
        raise typer.Exit(1)


@audit_app.command("head")
def audit_head() -> None:
    """Print each chain's head as a JSON line, to be kept where the broker cannot reach."""
    from ..audit.chain import read_chains

    async def heads() -> None:
        async with read_chains(settings()) as chains:
            for chain in chains.all():
                print_line(chain.head.model_dump_json())

    asyncio.run(heads())

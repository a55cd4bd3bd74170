"""``doctor`` and ``recorded-llm``: what an operator uses around the workers."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from starlette.applications import Starlette

from streams.cli.documents import print_line
from streams.logs import configure_logging
from streams.settings import settings
from streams.signals import stop_event

if TYPE_CHECKING:
    from streams.diagnosis import Diagnosis

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


audit_app = typer.Typer(
    help="The tamper-evident record of verdicts.", no_args_is_help=True, name="audit"
)


def register(app: typer.Typer) -> None:
    app.command()(doctor)
    app.add_typer(audit_app)
    app.command("recorded-llm")(recorded_llm)


def doctor(
    create_topics: Annotated[
        bool, typer.Option("--create-topics", help="Create the topics that are missing.")
    ] = False,
) -> None:
    """Check broker, topics, Redis, model, LLM endpoint and clocks; say what to mend.

    Exits 1 if something has to be mended.
    """
    from streams.doctor import needs_mending

    diagnoses = asyncio.run(_examine(create_topics))
    if needs_mending(diagnoses):
        raise typer.Exit(1)


async def _examine(create_topics: bool) -> list[Diagnosis]:
    """Print each diagnosis as soon as it is known."""
    from streams.doctor import diagnose

    diagnoses = []
    async for diagnosis in diagnose(settings(), create_missing_topics=create_topics):
        diagnoses.append(diagnosis)
        print_line(f"{diagnosis.state:<8} {diagnosis.subject:<8} {diagnosis.found}")
        if diagnosis.remedy:
            print_line(f"{'':<17} → {diagnosis.remedy}")
    return diagnoses


def recorded_llm(
    documents: Annotated[Path, typer.Option("--documents", "-d", help="The recorded documents.")],
    extractions: Annotated[
        Path, typer.Option("--extractions", "-e", help="What the LLM said of them.")
    ],
    port: Annotated[int, typer.Option("--port", "-p", help="Port on the loopback interface.")] = 0,
    faults: Annotated[
        str, typer.Option(help="Faults to answer with, e.g. rate=0.2,kinds=rate_limit+hang,seed=7.")
    ] = "",
) -> None:
    """Serve recorded extractions as an OpenAI-compatible endpoint on the loopback interface.

    It is a recording, for trying and testing: it answers only for the documents it was given.
    """
    from agents.recording.faults import Faults
    from agents.recording.recording import Recording
    from agents.recording.server import recorded_app

    configure_logging(settings(), role="recorded-llm")
    recording = Recording.read(documents, extractions)
    if recording.unmatched:
        sys.stderr.write(f"{recording.unmatched} extractions name other documents: left out\n")
    app = recorded_app(recording, faults=Faults.parse(faults))
    asyncio.run(_serve_recording(app, port, len(recording)))


async def _serve_recording(app: Starlette, port: int, documents: int) -> None:
    from agents.recording.server import serve

    stop = stop_event()
    async with serve(app, port=port) as base_url:
        sys.stdout.write(
            f"a recording, not an LLM: answers for {documents} documents at {base_url}\n"
            f"use it with  export OPENAI_BASE_URL={base_url} SAFEPASSAGE_MODEL=recorded\n"
        )
        sys.stdout.flush()
        await stop.wait()


@audit_app.command("verify")
def audit_verify(
    heads: Annotated[
        Path | None,
        typer.Option(help="Heads kept elsewhere (from `audit head`), to compare with."),
    ] = None,
) -> None:
    """Find changed, removed, inserted and reordered verdicts. Exits 1 if there is any."""
    from streams.audit import parse_heads
    from streams.audit_verification import verify

    anchored = list(parse_heads(heads.read_text().splitlines())) if heads else []
    result = asyncio.run(verify(settings(), anchored))
    for finding in result.findings:
        print_line(str(finding))
    print_line(
        f"{result.verified} verified, {len(result.findings)} findings, "
        f"{result.pending} not recorded yet, {result.expired} no longer held by the broker"
    )
    if result.findings:
        raise typer.Exit(1)


@audit_app.command("head")
def audit_head() -> None:
    """Print each chain's head as a JSON line, to be kept where the broker cannot reach."""
    from streams.audit import read_chains

    chains = asyncio.run(read_chains(settings()))
    for name in sorted(chains):
        print_line(chains[name].head.model_dump_json())

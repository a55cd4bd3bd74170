"""``doctor`` and ``recorded-llm``: what an operator uses around the workers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from streams.logs import configure_logging
from streams.settings import settings

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def register(app: typer.Typer) -> None:
    app.command("recorded-llm")(recorded_llm)


def recorded_llm(
    documents: Annotated[Path, typer.Option("--documents", "-d", help="The recorded documents.")],
    extractions: Annotated[
        Path, typer.Option("--extractions", "-e", help="What the LLM said of them.")
    ],
    port: Annotated[int, typer.Option("--port", "-p", help="Port on the loopback interface.")],
) -> None:
    """Serve recorded extractions as an OpenAI-compatible endpoint on the loopback interface.

    It is a recording, for trying and testing: it answers only for the documents it was given.
    """
    from agents.recorded_llm import serve

    configure_logging(settings(), role="recorded-llm")
    asyncio.run(serve(documents, extractions, port=port))

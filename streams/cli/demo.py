"""``demo`` and ``up``: the whole flow on embedded servers; ``recorded-llm``: their LLM."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from ..runtime.logs import configure_logging
from ..settings import settings


def demo() -> None:
    """Run the whole flow on an embedded broker and Redis, with bundled documents."""
    from ..demo.run import run_demo

    run_demo()


def up(
    empty: Annotated[
        bool, Option("--empty", help="Without the bundled documents, for yours and for your LLM.")
    ] = False,
) -> None:
    """Start an embedded broker, Redis, every role and the review console, and keep them running."""
    from ..demo.run import run_up

    run_up(empty=empty)


def recorded_llm(
    *,
    documents: Annotated[Path, Option("--documents", "-d", help="The recorded documents.")],
    extractions: Annotated[Path, Option("--extractions", "-e", help="What the LLM said of them.")],
    port: Annotated[int, Option("--port", "-p", help="Port on the loopback interface.")] = 0,
) -> None:
    """Serve recorded answers as an OpenAI-compatible endpoint on the loopback interface.

    It is a recording, for trying and testing: it answers only for the documents that it was given.
    """
    from safepassage.service.serving import listen, serve

    from ..demo.recorded_llm import Endpoint, Recording
    from ..runtime.signals import stop_event

    configure_logging(settings(), role="recorded-llm")
    recording = Recording.read(documents, extractions)
    if recording.unmatched:
        sys.stderr.write(f"{recording.unmatched} extractions name other documents: left out\n")
    listener = listen("127.0.0.1", port)
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    sys.stdout.write(
        f"a recording, not an LLM: answers for {len(recording)} documents at {base_url}\n"
        f"use it with  export OPENAI_BASE_URL={base_url} SAFEPASSAGE_MODEL=recorded\n"
    )
    sys.stdout.flush()

    async def serving() -> None:
        await serve(Endpoint(recording).app, listener, stop_event(), drain_seconds=1)

    asyncio.run(serving())

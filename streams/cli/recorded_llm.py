"""``recorded-llm``: a recording served as an LLM's endpoint."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.runtime.logs import configure_logging
from safepassage.streams.runtime.signals import stop_event
from safepassage.streams.settings import settings


def recorded_llm(
    documents: Annotated[
        Path | None, typer.Option("--documents", "-d", help="The recorded documents.")
    ] = None,
    extractions: Annotated[
        Path | None, typer.Option("--extractions", "-e", help="What the LLM said of them.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Answers to other questions, such as those of detectors.")
    ] = None,
    port: Annotated[int, typer.Option("--port", "-p", help="Port on the loopback interface.")] = 0,
    faults: Annotated[
        str, typer.Option(help="Faults to answer with, e.g. rate=0.2,kinds=rate_limit+hang,seed=7.")
    ] = "",
) -> None:
    """Serve recorded answers as an OpenAI-compatible endpoint on the loopback interface.

    It is a recording, for trying and testing: it answers only for what it was given: documents
    with their extractions, or questions with their answers.
    """
    from safepassage.streams.demo.recorded_llm.by_question import RecordedAnswers
    from safepassage.streams.demo.recorded_llm.faults import Faults
    from safepassage.streams.demo.recorded_llm.recording import Recording
    from safepassage.streams.demo.recorded_llm.server import recorded_app, serve

    configure_logging(settings(), role="recorded-llm")
    if (documents is None) != (extractions is None) or (documents is None and answers is None):
        raise OperatorError("give --documents with --extractions, or --answers, or all three")
    recording = (
        Recording.read(documents, extractions) if documents and extractions else Recording([], [])
    )
    told = RecordedAnswers.read(answers) if answers else RecordedAnswers()
    if recording.unmatched:
        sys.stderr.write(f"{recording.unmatched} extractions name other documents: left out\n")
    app = recorded_app(recording, faults=Faults.parse(faults), answers=told)

    async def serving() -> None:
        stop = stop_event()
        async with serve(app, port=port) as base_url:
            sys.stdout.write(
                f"a recording, not an LLM: answers for {len(recording)} documents "
                f"and {len(told)} questions at {base_url}\n"
                f"use it with  export OPENAI_BASE_URL={base_url} SAFEPASSAGE_MODEL=recorded\n"
            )
            sys.stdout.flush()
            await stop.wait()

    asyncio.run(serving())

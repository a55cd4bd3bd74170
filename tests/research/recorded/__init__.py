"""Four answers written for these tests, and what an LLM was made to say of them: a recording."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.streams.demo.recorded_llm import Recording
from tests.recorded_llm.by_question import RecordedAnswers
from tests.recorded_llm.faults import Faults
from tests.recorded_llm.server import recorded_app
from tests.recorded_llm.serving import serve

ROWS = Path(__file__).with_name("rows.jsonl")
ANSWERS = Path(__file__).with_name("answers.jsonl")


def rows() -> list[dict]:
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]


def answers() -> list[Answer]:
    return [Answer((row["context"],), row["response"], row["query"]) for row in rows()]


@contextmanager
def recorded_llm(faults: str = "", path: Path = ANSWERS) -> Iterator[str]:
    """The recorded LLM on the loopback interface, in a thread of its own: its base URL."""
    loop, started, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    address: list[str] = []
    app = recorded_app(
        Recording([], []), faults=Faults.parse(faults), answers=RecordedAnswers.read(path)
    )

    async def run() -> None:
        async with serve(app) as url:
            address.append(url)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    try:
        assert started.wait(20)
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()

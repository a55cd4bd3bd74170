"""SIGTERM ends the score role while a scorer is in native code, which nothing interrupts."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS
from tests.stack import environment
from tests.streams.judged import aligned, publish

PATIENCE_SECONDS = 120
WORKER = """
import sys, torch
from safepassage import scoring_worker
from safepassage.streams import cli
from tests.streams.judged import FakeScorer

def for_ever():
    matrix = torch.randn(400, 400)
    print("in native code", flush=True)
    while True:
        torch.mm(matrix, matrix)

class Native(FakeScorer):
    def assess(self, pairs):
        for_ever()

def load(name, *, packs=(), strict=False):
    return {"live": FakeScorer, "shadow": Native, "slow": for_ever}[name]()

scoring_worker.load_scorer = load
sys.argv = ["safepassage", "worker", "score"]
cli.main()
"""


@contextmanager
def worker(settings: Settings, **changes: str) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env=environment(settings) | changes,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen, words: str) -> str:
    """What was said up to the line with ``words``."""
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"it ended before it said {words!r}:\n{said}")


def ended(process: subprocess.Popen) -> tuple[int, str]:
    process.terminate()
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, said


async def test_while_a_shadow_works(kafka: Settings):
    """A daemon thread that came back from C++ while the interpreter was taken down aborted it."""
    await create_topics(kafka)
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    with worker(kafka, SAFEPASSAGE_SCORER="live", SAFEPASSAGE_SHADOW_SCORER="shadow") as process:
        await asyncio.to_thread(until, process, "in native code")
        status, said = await asyncio.to_thread(ended, process)
    assert status == 0, said
    assert "worker_stopped" in said


async def test_while_the_scorer_loads(kafka: Settings):
    """It neither waits for the scorer nor joins the group before it ends."""
    await create_topics(kafka)
    with worker(kafka, SAFEPASSAGE_SCORER="slow") as process:
        await asyncio.to_thread(until, process, "in native code")
        status, said = await asyncio.to_thread(ended, process)
    assert status == 0, said
    assert "stopped_while_starting" in said
    assert "worker_started" not in said

"""What a replay costs live traffic: the p99 from alignment to verdict, without and with one.

    python benchmarks/replay_load.py [--seconds 30] [--rate 40] [--backlog 20000] [--json FILE]

On the embedded broker: a score worker and a replay, each a process of its own with the default
scorer, and live alignments at a steady rate from here. Wanted: at most 1.2 times the p99 without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Coordinates,
    Document,
    Extraction,
    Span,
    Verdict,
)
from safepassage.streams.demo.embedded import embedded_stack, stop_process
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import UnknownTopic, ends, read_topics
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS, QUARANTINE

BATCH = 500


def aligned(number: int) -> AlignedExtraction:
    """A made-up extraction, different for each number."""
    text = f"On May {number % 28 + 1}, {1990 + number % 30}, the tribunal heard appeal {number}."
    ref = Document(id=f"doc-{number}", text=text).ref(
        Coordinates(topic="documents", partition=0, offset=number)
    )
    extraction = Extraction(
        id=f"live-{number}",
        doc_id=ref.id,
        entity_type="Hearing Date",
        value={"yyyy": 1990 + number % 30, "mm": 5, "dd": number % 28 + 1},
        context=text,
        document=ref,
    )
    alignment = Alignment(
        score=1.0,
        matches=len(text),
        length=len(text),
        unaligned=0,
        threshold=0.6,
        spans=(Span(start=0, end=len(text), text=text),),
        route="verbatim",
    )
    return AlignedExtraction(extraction=extraction, document=ref, alignment=alignment)


def outgoing(numbers: Sequence[int]) -> list[Outgoing]:
    return [Outgoing(ALIGNMENTS, f"doc-{n}", aligned(n)) for n in numbers]


async def live_traffic(
    publisher: KafkaPublisher, first: int, rate: float, seconds: float
) -> list[int]:
    """One alignment after the other, at a steady rate; returns their numbers."""
    numbers = list(range(first, first + int(rate * seconds)))
    started = time.monotonic()
    for position, number in enumerate(numbers):
        await asyncio.sleep(max(0.0, started + position / rate - time.monotonic()))
        await publisher.publish(outgoing([number]))
    return numbers


async def latencies(settings: Settings, numbers: Sequence[int]) -> list[float]:
    """Milliseconds from the record of each alignment to that of its verdict, ascending."""
    wanted = {f"live-{n}" for n in numbers}
    aligned_at: dict[str, int] = {}
    async for record in read_topics(settings, [ALIGNMENTS]):
        event = AlignedExtraction.model_validate_json(record.value or b"")
        if event.extraction.id in wanted:
            aligned_at[event.extraction.id] = record.timestamp
    found = {}
    while found.keys() < wanted:
        async for record in read_topics(settings, [ACCEPTED, QUARANTINE]):
            identity = Verdict.model_validate_json(record.value or b"").extraction_id
            if identity in wanted:
                found.setdefault(identity, float(record.timestamp - aligned_at[identity]))
    return sorted(found.values())


async def caught_up(settings: Settings, count: int) -> None:
    """Wait until the worker has judged ``count`` alignments."""
    while sum((await ends(settings, [ACCEPTED, QUARANTINE])).values()) < count:  # noqa: ASYNC110
        await asyncio.sleep(1)


def start(environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "safepassage", *words],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def measure(options: argparse.Namespace) -> dict[str, object]:
    with embedded_stack() as stack:
        environment = stack.environment() | {"OMP_NUM_THREADS": "1"}
        os.environ.update(environment)
        settings = Settings()
        await create_topics(settings)
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        for first in range(0, options.backlog, BATCH):
            await publisher.publish(outgoing(range(first, first + BATCH)))
        worker = start(environment, "worker", "score")
        try:
            await caught_up(settings, options.backlog)
            first = options.backlog
            alone = await live_traffic(publisher, first, options.rate, options.seconds)
            replay = start(environment, "replay", "--id", "load")
            await replay_began(settings)
            beside = await live_traffic(
                publisher, first + len(alone), options.rate, options.seconds
            )
            went_on = replay.poll() is None
            stop_process(replay)
            result = {
                "without": quantiles(await latencies(settings, alone)),
                "with": quantiles(await latencies(settings, beside)),
                "replayed": await replayed(settings),
                "replay_ran_all_the_time": went_on,
            }
        finally:
            stop_process(worker)
            await publisher.stop()
        return result | {"cores": os.cpu_count(), "load": os.getloadavg()[0]}


async def replayed(settings: Settings) -> int:
    return sum((await ends(settings, [verdicts_topic("load")])).values())


async def replay_began(settings: Settings) -> None:
    while True:
        try:
            if await replayed(settings):
                return
        except UnknownTopic:
            await asyncio.sleep(1)


def quantiles(ascending: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds."""
    last = len(ascending) - 1
    return {
        "n": len(ascending),
        "p50_ms": ascending[int(0.5 * last)],
        "p99_ms": ascending[int(0.99 * last)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=40)
    parser.add_argument("--backlog", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    text = json.dumps(asyncio.run(measure(options)), indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()

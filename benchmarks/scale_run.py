"""One and three `score` processes under a flood on Apache Kafka: for `scale_model.py --bench`.

    python -m tests.kafka_server -- python benchmarks/scale_run.py --json FILE

Each run is `safepassage bench` on topics of its own: a process of `extract`, one of `align` and so
many of `score`, a recorded LLM, and more documents than `score` can judge.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from safepassage.streams.bench.load import Workload
from safepassage.streams.bench.run import Bench, BenchRequest, new_run
from safepassage.streams.demo import corpus
from safepassage.streams.demo.embedded import LOOPBACK, embedded_redis, free_port
from safepassage.streams.demo.run import corpus_schema
from safepassage.streams.demo.stack import Processes
from safepassage.streams.settings import Settings

PARTITIONS = 12
BATCH = 4  # a batch that is not over when the time is counts for nothing
MEMORY = "process_resident_memory_bytes "


def run(count: int, request: BenchRequest, redis_url: str, folder: Path) -> dict[str, Any]:
    """The figures with ``count`` processes of `score`, and the most memory of each role's."""
    llm, topics = free_port(), f"scale-{uuid.uuid4().hex[:8]}-"
    environment = corpus_schema() | {
        "OPENAI_BASE_URL": f"http://{LOOPBACK}:{llm}/v1",
        "REDIS_URL": redis_url,
        "SAFEPASSAGE_MODEL": "recorded",
        "SAFEPASSAGE_PARTITIONS": str(PARTITIONS),
        "SAFEPASSAGE_SCORE_BATCH_RECORDS": str(BATCH),
        "SAFEPASSAGE_TOPIC_PREFIX": topics,
    }
    workload = Workload(corpus.documents(), corpus.extractions())
    documents = workload.take(new_run(), request.documents())
    texts, answers = workload.record(documents, folder)
    os.environ.update(environment)
    with Processes(environment, folder) as processes:
        recorded = ("--documents", str(texts), "--extractions", str(answers), "--port", str(llm))
        processes.start("recorded-llm", "recorded-llm", *recorded)
        ports: dict[str, int] = {}
        for name in ("extract", "align", *(f"score-{number}" for number in range(count))):
            ports[name] = free_port()
            port = {"SAFEPASSAGE_HEALTH_PORT": str(ports[name])}
            processes.start(name, "worker", name.partition("-")[0], **port)
        urls = {name: f"http://{LOOPBACK}:{port}/metrics" for name, port in ports.items()}
        asked = BenchRequest(
            request.rates, request.seconds, drain=0, warm_up=4 * count, metrics=tuple(urls.values())
        )
        bench = Bench(Settings(), asked, documents, processes.check)
        (figures,) = asyncio.run(bench.measure(lambda _: None))
        memory: dict[str, int] = {}
        for name, url in urls.items():
            role = name.partition("-")[0]
            memory[role] = max(memory.get(role, 0), _memory(url))
    return {"score": count, "partitions": PARTITIONS, "memory": memory, **figures.model_dump()}


def _memory(url: str) -> int:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own worker
        lines = answer.read().decode().splitlines()
    return int(float(next(line for line in lines if line.startswith(MEMORY)).split()[1]))


def main() -> None:
    """Run with each number of processes, and write the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--score", type=int, nargs="+", default=[1, 3], help="processes of a run")
    parser.add_argument("--rate", type=float, default=1.5, help="documents a second")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long they come")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    # Room for the warm-up of the largest run, and for the longest.
    request = BenchRequest([options.rate], options.seconds, warm_up=4 * max(options.score))
    found = []
    with embedded_redis() as redis_url, tempfile.TemporaryDirectory() as folder:
        for count in options.score:
            below = Path(folder, str(count))
            below.mkdir()
            found.append(run(count, request, redis_url, below))
            sys.stdout.write(f"{count}: {found[-1]['verdicts_per_second']:.1f} verdicts/s\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

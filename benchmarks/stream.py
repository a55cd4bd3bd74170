"""Throughput of the streaming roles, end to end on a broker, and what streaming costs them.

    python benchmarks/stream.py [--role align] [--role score] [--json FILE]

Each role gets a topic full of events and runs in this process, as a worker does, until all of
their results are acknowledged. Rates are per second of this process's CPU time (all threads),
which is what one core would do; the wall clock of a shared machine says less. The broker is the
embedded one, or KAFKA_BOOTSTRAP_SERVERS. Wanted: align at least 500 extractions a second on one
core at 90/5/5; score at least 80% of the bare scorer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alignment_cases import CONTEXTS, Case, cases, source

from safepassage.pipeline import new_aligner
from safepassage.schemas import (
    AlignedExtraction,
    Coordinates,
    Document,
    DocumentRef,
    Event,
    Extraction,
)
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.streams import agent_factory as configured
from safepassage.streams import wiring
from safepassage.streams.delivery.delivery import Delivery
from safepassage.streams.demo.embedded import EmbeddedStack, embedded_stack
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.records import Record
from safepassage.streams.runtime.logs import configure_command_logging
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS, DOCUMENTS, EXTRACTIONS, Topic

Outcome = dict[str, float]


@dataclass
class Watch:
    """Times a role between its first batch and its last acknowledgement."""

    wanted: int
    done: int = 0
    first: tuple[float, float] | None = None
    last: tuple[float, float] = (0.0, 0.0)
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    def around(
        self, handle: Callable[[Delivery, Sequence[Record]], Awaitable[None]]
    ) -> Callable[[Delivery, Sequence[Record]], Awaitable[None]]:
        """`Delivery.handle`, watched."""

        async def watched(delivery: Delivery, records: Sequence[Record]) -> None:
            self.first = self.first or _clocks()
            await handle(delivery, records)
            self.done += len(records)
            self.last = _clocks()
            if self.done >= self.wanted:
                self.stop.set()

        return watched

    def rates(self) -> Outcome:
        """Records per second, by the wall and by the CPU clock."""
        assert self.first
        wall, cpu = (after - before for before, after in zip(self.first, self.last, strict=True))
        return {
            "records": self.done,
            "per_second": self.done / wall,
            "per_cpu_second": self.done / cpu,
        }


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def main() -> None:
    options = _options()
    with embedded_stack() as stack:
        settings = stack_settings(stack)
        results: dict[str, Any] = {}
        if "align" in options.role:
            results["align"] = asyncio.run(align(fresh_topics(settings), options.documents))
        if "score" in options.role:
            results["score"] = asyncio.run(_score(fresh_topics(settings), options.pairs))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--role", action="append", choices=("align", "score"))
    parser.add_argument("--documents", type=int, default=280, help="of 20,000 characters, to align")
    parser.add_argument("--pairs", type=int, default=4_000, help="to score")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    options.role = options.role or ["align", "score"]
    return options


def stack_settings(stack: EmbeddedStack) -> Settings:
    """Settings of a worker on the embedded broker and Redis, with a command's quiet logging."""
    settings = Settings(
        kafka_bootstrap_servers=stack.bootstrap_servers,
        redis_url=stack.redis_url,  # type: ignore[arg-type]  # made a secret by pydantic
        kafka_idempotence=False,
        partitions=4,
        kafka_session_timeout_seconds=6,
    )
    configure_command_logging(settings)
    return settings


def fresh_topics(settings: Settings) -> Settings:
    """The same with topics of its own."""
    return settings.model_copy(update={"topic_prefix": f"b{uuid.uuid4().hex[:8]}-"})


async def align(settings: Settings, count: int) -> Outcome:
    """The align role at 90/5/5: texts from Redis, alignment, verdicts and alignments out."""
    kind, texts = source()
    await create_topics(settings)
    made = cases(texts, 20_000, count, "90/5/5", seed=3)
    documents = [Document(id=f"d{number}", text=case.text) for number, case in enumerate(made)]
    places = await _send(settings, DOCUMENTS, [(document.id, document) for document in documents])
    extractions: list[tuple[str, Event]] = []
    async with AsyncExitStack() as resources:
        store = await configured.document_store(settings, resources)
        for case, document, place in zip(made, documents, places, strict=True):
            ref = document.ref(place)
            await store.put(ref, document.text)
            extractions += _extractions(case, ref)
    await _send(settings, EXTRACTIONS, extractions)
    rates = await _run_role("align", settings, len(extractions))
    _print(f"align, {kind} of 20,000 characters, {CONTEXTS} contexts each, 90/5/5", rates, 500)
    return rates


def _extractions(case: Case, ref: DocumentRef) -> list[tuple[str, Event]]:
    return [
        (
            ref.id,
            Extraction(
                id=f"{ref.id}-{n}",
                doc_id=ref.id,
                entity_type="Quote",
                value="a value",
                context=context,
                document=ref,
            ),
        )
        for n, (_, context) in enumerate(case.contexts)
    ]


async def _score(settings: Settings, count: int) -> dict[str, Any]:
    _, texts = source()
    return await score(settings, await _aligned(texts, count))


async def score(settings: Settings, aligned: Sequence[AlignedExtraction]) -> dict[str, Any]:
    """The score role against its scorer alone, on the same pairs in the same batches."""
    count = len(aligned)
    scorer = load_scorer(settings.scorer)
    pairs = [Pair.of(event) for event in aligned]
    size = settings.score_batch_records
    scorer.assess(pairs[:size])  # warm up
    before = _clocks()
    for start in range(0, len(pairs), size):
        scorer.assess(pairs[start : start + size])
    wall, cpu = (b - a for a, b in zip(before, _clocks(), strict=True))
    bare = {"per_second": count / wall, "per_cpu_second": count / cpu}
    scorer.close()
    await create_topics(settings)
    await _send(settings, ALIGNMENTS, [(event.extraction.doc_id, event) for event in aligned])
    rates = await _run_role("score", settings, count)
    share = rates["per_cpu_second"] / bare["per_cpu_second"]
    _print(f"score, {scorer.name} in batches of {size}", rates, None)
    sys.stdout.write(
        f"  bare scorer {bare['per_cpu_second']:,.0f}/CPU s, {bare['per_second']:,.0f}/s: the role "
        f"reaches {share:.0%} of it (wanted: 80%), by the wall clock "
        f"{rates['per_second'] / bare['per_second']:.0%}\n"
    )
    return {"role": rates, "bare": bare, "share": share}


async def _aligned(texts: Sequence[str], count: int) -> list[AlignedExtraction]:
    aligner = new_aligner(Settings())
    made: list[AlignedExtraction] = []
    per_document = CONTEXTS - 1
    for number, case in enumerate(
        cases(texts, 20_000, 1 + count // per_document, "90/5/5", seed=4)
    ):
        document = Document(id=f"d{number}", text=case.text)
        extractions = [
            Extraction(
                id=f"d{number}-{n}",
                doc_id=document.id,
                entity_type="Quote",
                value=context.split()[-1],
                context=context,
            )
            for n, (_, context) in enumerate(case.contexts)
        ]
        results = await aligner.align(document.text, document.ref(), extractions)
        made += [result for result in results if isinstance(result, AlignedExtraction)]
    aligner.close()
    return made[:count]


async def _run_role(role: str, settings: Settings, wanted: int) -> Outcome:
    watch = Watch(wanted)
    handle = Delivery.handle
    Delivery.handle = watch.around(handle)  # type: ignore[method-assign, assignment]
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        async with AsyncExitStack() as resources:
            resources.push_async_callback(publisher.stop)
            running = await wiring.source(role, publisher, settings, resources)
            await running.run(watch.stop)
    finally:
        Delivery.handle = handle  # type: ignore[method-assign]
    return watch.rates()


async def _send(settings: Settings, topic: Topic, events: Sequence[tuple[str, Event]]) -> list[Any]:
    producer = new_producer(settings)
    await producer.start()
    try:
        name = settings.topic(topic.name)
        sent = [await producer.send(name, event.to_json(), key.encode()) for key, event in events]
        acknowledged = await asyncio.gather(*sent)
    finally:
        await producer.stop()
    return [
        Coordinates(topic=a.topic, partition=a.partition, offset=a.offset) for a in acknowledged
    ]


def _print(what: str, rates: Outcome, wanted: int | None) -> None:
    goal = f" (wanted: {wanted})" if wanted else ""
    sys.stdout.write(
        f"{what}: {rates['per_cpu_second']:,.0f} records per CPU second{goal}, "
        f"{rates['per_second']:,.0f} per second, {rates['records']:,.0f} records\n"
    )


if __name__ == "__main__":
    main()

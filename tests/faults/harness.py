"""One run: a load under a fault, until everything ended, and the history of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from pydantic import SecretStr

from safepassage.schemas import Coordinates, Document
from safepassage.streams.demo.embedded import LOOPBACK, embedded_redis, free_port
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_group_consumer, new_producer
from safepassage.streams.kafka.reading import ends, read_topics
from safepassage.streams.offline.submit import wait_for_reports
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    ALIGNMENTS,
    DEAD_LETTERS,
    DOCUMENTS,
    EXTRACTIONS,
    MANIFESTS,
    QUARANTINE,
    REALIGNMENTS,
    REPORTS,
    Topic,
)
from tests.kafka_server.cluster import Node
from tests.kafka_server.links import LinkedCluster
from tests.recorded_llm.faults import Faults
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve
from tests.stack import Stack

from .broker import Broker, Storage, durable_storage
from .history import Entry, History
from .link import Link, open_link
from .load import Load, make_load
from .workers import ROLES, Plan, Worker

READ_BACK = (
    DOCUMENTS,
    EXTRACTIONS,
    MANIFESTS,
    ALIGNMENTS,
    ACCEPTED,
    QUARANTINE,
    REALIGNMENTS,
    REPORTS,
    DEAD_LETTERS,
)
OUTPUTS = {"extract": EXTRACTIONS, "align": ALIGNMENTS, "score": QUARANTINE, "report": REPORTS}
INPUTS: dict[str, tuple[Topic, ...]] = {
    "extract": (DOCUMENTS,),
    "align": (EXTRACTIONS,),
    "score": (ALIGNMENTS,),
}

# Only a broken run takes so long; a busy machine must not look like one.
PATIENCE_SECONDS = 180.0
# Longer than a worker needs to start again and join its groups.
QUIET_SECONDS = 12.0

Raw = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a fault needs of its run, beside what it does. ``crews`` are the processes and the
    roles of each; ``extra`` are records sent among the documents; a ``durable`` broker of its own
    has its records after a restart. What needs ``several_brokers`` runs on Apache Kafka alone."""

    documents: int = 40
    seconds: float = 1.5
    keys: int | None = None
    copies: int = 1
    crews: Sequence[tuple[str, ...]] = (ROLES,)
    llm: Faults | None = None
    poison_pairs: bool = False
    realign: bool = False
    extra: Sequence[Raw] = ()
    own_servers: bool = False
    durable: bool = False
    several_brokers: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    plan: Callable[[Plan], Plan] = lambda plan: plan
    patience: float = PATIENCE_SECONDS


@dataclass
class Run:
    """What a fault has in hand while the load is being sent."""

    settings: Settings
    draw: random.Random
    workers: list[Worker]
    folder: Path
    links: Sequence[Link] = ()
    brokers: Sequence[Broker | Node] = ()
    cluster: LinkedCluster | None = None
    patience: float = PATIENCE_SECONDS
    _plan: Callable[[Plan], Plan] = lambda plan: plan

    def worker(self, role: str) -> Worker:
        """A process that runs ``role``."""
        return next(worker for worker in self.workers if role in worker.plan.roles)

    async def output(self, role: str, records: int) -> None:
        """Wait until ``role`` has written so many more records (or until patience ends): it is
        at work then, with records in hand that it has not committed."""
        topic = OUTPUTS[role]
        start = await self._written(topic)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                while await self._written(topic) < start + records:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

    async def _written(self, topic: Topic) -> int:
        return sum((await ends(self.settings, [topic])).values())

    def add_worker(self, *roles: str) -> Worker:
        """Start one more process of ``roles``."""
        log = self.folder / f"worker-{len(self.workers)}.log"
        worker = Worker(self._plan(Plan(roles, self.settings, log)))
        self.workers.append(worker)
        worker.start()
        return worker


Fault = Callable[[Run], Awaitable[None]]


async def run_fault(
    stack: Stack,
    fault: Fault,
    shape: Shape,
    *,
    seed: int,
    logs: Path,
    cluster: LinkedCluster | None = None,
) -> History:
    """Run ``fault`` under load, and tell what happened. The workers' logs go to ``logs``. The fault
    may do to the ``cluster``, if ``stack`` is one, what it likes: it is mended afterwards."""
    async with AsyncExitStack() as resources:
        if cluster:
            resources.push_async_callback(cluster.mend)
        run, load = await _prepare(stack, shape, resources, seed=seed, logs=logs, cluster=cluster)
        return await _observe(run, load, fault, shape)


async def _prepare(
    stack: Stack,
    shape: Shape,
    resources: AsyncExitStack,
    *,
    seed: int,
    logs: Path,
    cluster: LinkedCluster | None,
) -> tuple[Run, Load]:
    load = make_load(
        seed,
        shape.documents,
        keys=shape.keys,
        poison_pairs=shape.poison_pairs,
        realign=shape.realign,
    )
    asked = [document for document in load.documents if not document.realign]
    app = create_app(asked, load.recording(), faults=shape.llm)
    llm = await resources.enter_async_context(serve(app))
    settings = stack.settings(
        partitions=2,
        openai_base_url=llm,
        model="recorded",
        llm_timeout_seconds=1.0,
        llm_concurrency=8,
        score_batch_records=32,
        stalled_after_seconds=30,
        log_level="warning",
        publish_patience_seconds=30,
        drain_seconds=5,
        **shape.settings,
    )
    run = Run(settings, random.Random(seed), [], logs, patience=shape.patience, _plan=shape.plan)
    if cluster:
        run.links, run.brokers, run.cluster = cluster.links, cluster.cluster.nodes, cluster
        if shape.own_servers:
            redis_url = resources.enter_context(embedded_redis())
            run.settings = settings.model_copy(update={"redis_url": SecretStr(redis_url)})
    elif shape.own_servers:
        await _own_servers(run, shape.durable, resources)
    await create_topics(run.settings)
    resources.push_async_callback(_stop_all, run)
    for roles in shape.crews:
        run.add_worker(*roles)
    return run, load


async def _own_servers(run: Run, durable: bool, resources: AsyncExitStack) -> None:
    """A broker behind a link, and a Redis, that nobody else uses."""
    advertised, address = (f"{LOOPBACK}:{free_port()}" for _ in range(2))
    storage = resources.enter_context(durable_storage()) if durable else Storage()
    broker = Broker(address, advertised, storage)
    resources.callback(broker.stop)
    broker.start()
    link = await resources.enter_async_context(open_link(advertised, address))
    redis_url = resources.enter_context(embedded_redis())
    changes = {
        "kafka_bootstrap_servers": advertised,
        # This broker is the embedded one, whatever the others of the run are.
        "kafka_idempotence": False,
        "redis_url": SecretStr(redis_url),
    }
    run.settings = run.settings.model_copy(update=changes)
    run.links, run.brokers = [link], [broker]


async def _observe(run: Run, load: Load, fault: Fault, shape: Shape) -> History:
    # The fault meets workers at work: some of the load goes through before it begins.
    first = shape.documents // 8
    places = await _send(run, _encoded(load.documents[:first], 1), 0)
    await _drained(run.settings, places, shape.patience)
    records = [*_encoded(load.documents[first:], shape.copies), *shape.extra]
    if shape.extra:
        run.draw.shuffle(records)
    sending = asyncio.create_task(_send(run, records, shape.seconds))
    await fault(run)
    disturbed_until = time.monotonic()
    places = await sending
    drained = await _drained(run.settings, places, shape.patience)
    recovery = max(0.0, time.monotonic() - disturbed_until) if drained else None
    if drained:
        await _caught_up(run.settings, shape.patience)
        if shape.realign:
            await _quiet(run.settings, shape.patience)
    await _stop_all(run)
    async with asyncio.timeout(shape.patience):  # a broker that lost its records never answers
        records_back = await read_back(run.settings)
        undrained = await _behind(run.settings)
    return History(
        [row.model_dump(mode="json") for row in load.expected],
        records_back,
        undrained=undrained,
        recovery_seconds=recovery,
        grown_bytes=max(worker.grown_bytes for worker in run.workers),
        restarts=sum(worker.restarts for worker in run.workers),
        exit_codes=[code for worker in run.workers for code in worker.exit_codes],
    )


async def _send(run: Run, records: Sequence[Raw], seconds: float) -> set[Coordinates]:
    """Send ``records`` evenly over ``seconds``; returns where everything stands."""
    producer = new_producer(run.settings)
    try:
        await _patiently(producer.start)
        topic, acknowledged = run.settings.topic(DOCUMENTS.name), []
        for key, value in records:
            acknowledged.append(await producer.send(topic, value, key))
            await asyncio.sleep(seconds / len(records))
        sent = await asyncio.gather(*acknowledged)
    finally:
        await producer.stop()
    return {Coordinates(topic=m.topic, partition=m.partition, offset=m.offset) for m in sent}


def _encoded(documents: Iterable[Document], copies: int) -> list[Raw]:
    return [(d.id.encode(), d.to_json()) for d in documents for _ in range(copies)]


async def _patiently(connect: Callable[[], Awaitable[None]]) -> None:
    """Connect through a link that may be cut at the moment."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await connect()
            except KafkaError:
                await asyncio.sleep(0.2)


async def _drained(settings: Settings, places: set[Coordinates], patience: float) -> bool:
    """Whether every record ended in a report or a dead letter in time."""
    try:
        async with asyncio.timeout(patience):
            async for _ in wait_for_reports(places, settings):
                pass
    except TimeoutError:
        return False
    return True


async def _stop_all(run: Run) -> None:
    await asyncio.gather(*(worker.stop() for worker in run.workers))


async def read_back(settings: Settings) -> list[Entry]:
    """Every record of the flow's topics, from the earliest offset."""
    names = {settings.topic(topic.name): topic.name for topic in READ_BACK}
    return [
        Entry(
            names[record.topic],
            record.partition,
            record.offset,
            (record.key or b"").decode("utf-8", "replace"),
            _event(record.value),
        )
        async for record in read_topics(settings, READ_BACK)
    ]


def _event(value: bytes | None) -> dict[str, Any] | None:
    try:
        event = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


async def _caught_up(settings: Settings, patience: float) -> None:
    """Wait for the commits: a worker that was killed at the end has to come back for them."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience):
            while await _behind(settings):  # noqa: ASYNC110
                await asyncio.sleep(0.3)


async def _behind(settings: Settings) -> int:
    """Records that the groups did not commit, over all roles."""
    behind = 0
    for role, topics in INPUTS.items():
        there = await ends(settings, topics)
        consumer = new_group_consumer(settings, role)
        await consumer.start()
        try:
            for tp, end in there.items():
                behind += end - (await consumer.committed(TopicPartition(*tp)) or 0)
        finally:
            await consumer.stop()
    return behind


async def _quiet(settings: Settings, patience: float) -> None:
    """Wait until nothing more is written: what was accepted after its document's next version
    came is taken over when nobody waits for it any more."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience):
            before: dict[Any, int] = {}
            while before != (now := await ends(settings, READ_BACK)):
                before = now
                await asyncio.sleep(QUIET_SECONDS)

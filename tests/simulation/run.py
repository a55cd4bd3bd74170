"""One run: documents, workers, reviewers and faults of a seed, and what became of the promises."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiokafka import TopicPartition

from safepassage.schemas import ReviewerLogin, ScorerRelease, Verdict
from safepassage.streams import agent_factory, worker
from safepassage.streams.console.index.case_filter import CaseFilter
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.review_desk import Answer, DeskError, ReviewDesk
from safepassage.streams.console.review_source import ReviewSource, _accepted_at
from safepassage.streams.console.session import Session
from safepassage.streams.delivery.faust_source import FaustSource
from safepassage.streams.kafka.point_reader import point_reader
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.release.releases import publish_release
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.topics import ALL_TOPICS, DOCUMENTS, WITH_REPORT
from tests.faults.load import Load, make_load

from .broker import REFUSED, Broker
from .clients import Producer
from .invariants import VERDICTS, Broken, Watch, after_the_run, by_reading
from .loop import EPOCH, OutOfSteps, Process, VirtualLoop, virtual_time
from .schedule import ROLES, SECONDS, Fault, schedule
from .stand_ins import (
    SimulatedExtractor,
    SimulatedRedis,
    load_scorer,
    settings_of_a_run,
    stand_ins,
)

RESTART_SECONDS = (0.1, 1.0)
RECOVERY_SECONDS = 240.0
STOP_SECONDS = 60.0
MOST_STEPS = 400_000
REALIGNED = 3  # of as many seeds one asks an LLM for the first version of a document alone
DISORDER = (0.0, 0.2, 1.0)
DONE_BY = {
    "extract": ("documents",),
    "align": ("extractions",),
    "score": ("alignments",),
    "report": ("manifests", *VERDICTS, "dead-letters"),
    "audit": VERDICTS,
    "realign": ("versions", *VERDICTS),
}
POISON = (b"{not json", b'{"id":"x","text":"t","version":99}', None, b'{"id":"x","text":"  "}')


@dataclass(frozen=True, slots=True)
class Result:
    """``digest`` is of the trace: each step's time, each record, each commit."""

    seed: int
    steps: int
    seconds: float
    digest: str
    records: int
    restarts: int
    broken: tuple[Broken, ...]


class NoRest:
    """A replay that takes what it gets."""

    async def rest(self, records: int, seconds: float) -> None:
        """Go on."""


@dataclass(eq=False)
class Worker:
    """A place at which processes of one role run, one after the other."""

    name: str
    role: str
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    process: Process | None = None
    sources: list[Any] = field(default_factory=list)
    wanted: bool = True
    ended: bool = True


def run(
    seed: int,
    faults: Sequence[Fault] | None = None,
    most_steps: int = MOST_STEPS,
    *,
    approvals: int = 1,
) -> Result:
    """The run of ``seed``; ``faults`` instead of its own where they are shrunk. ``approvals``
    people have to decide the same before a stopped value passes."""
    draw = random.Random(f"run {seed}")
    loop = VirtualLoop(draw, disorder=draw.choice(DISORDER), most_steps=most_steps)
    broker = Broker(loop, draw)
    load = _load(seed, draw)
    recorded: dict[str, list[Any]] = {document.text: [] for document in load.documents}
    for document, rows in zip(load.documents, _rows(load), strict=True):
        recorded[document.text] = rows
    cache = SimulatedRedis(broker.latency)
    extractor = SimulatedExtractor(recorded, draw)
    gc.freeze()
    gc.disable()  # its clean-up would run in the middle, at times of its own
    try:
        with stand_ins(loop, broker, cache, extractor), virtual_time(loop):
            random.seed(seed)  # the jitter of retries
            SimulatedExtractor.away = False
            simulation = _Simulation(loop, broker, draw, load, cache, approvals=approvals)
            chosen = schedule(seed) if faults is None else faults
            try:
                loop.run_until_complete(simulation.run(chosen))
            except OutOfSteps as error:
                simulation.watch.broken.append(("P6", str(error)))
            broken = tuple(dict.fromkeys(simulation.watch.broken))
            loop.close()
    finally:
        gc.enable()
        gc.unfreeze()
    return Result(
        seed,
        loop.steps,
        loop.time(),
        loop.digest.hexdigest(),
        len(simulation.watch.entries),
        simulation.restarts,
        broken,
    )


def _load(seed: int, draw: random.Random) -> Load:
    load = make_load(
        seed,
        draw.randint(4, 14),
        keys=draw.choice((None, 3)),
        poison_pairs=draw.random() < 0.5,
        realign=seed % REALIGNED == 0,
    )
    expected = list(load.expected)
    if draw.random() < 0.3:
        row = expected[0]
        value = f"{row.value} {REFUSED.decode()}"
        expected.insert(1, row.model_copy(update={"id": f"{row.id}-large", "value": value}))
    return Load(load.documents, expected)


def _rows(load: Load) -> list[list[Any]]:
    extractions = {row.id: row for row in load.recording()}
    rows: list[list[Any]] = [[] for _ in load.documents]
    for row in load.expected:
        serial = int(row.id.removeprefix(f"{row.doc_id}-").split("-")[0])
        rows[serial].append(extractions[row.id])
    return rows


class _Simulation:
    def __init__(
        self,
        loop: VirtualLoop,
        broker: Broker,
        draw: random.Random,
        load: Load,
        cache: SimulatedRedis,
        *,
        approvals: int,
    ) -> None:
        self.watch = Watch(broker)
        self.restarts = 0
        self._loop = loop
        self._broker = broker
        self._draw = draw
        self._load = load
        self._cache = cache
        changes = {"console_approvals": approvals}
        self._settings = settings_of_a_run().model_copy(update=changes)
        self._workers = [
            Worker(f"{role}-{number}", role)
            for role in ROLES
            for number in range(1 if role == "review" else draw.randint(1, 2))
        ]
        self._context = copy_context()  # of no process
        self._desk: ReviewDesk | None = None
        self._stores: list[CaseStore] = []

    async def run(self, faults: Sequence[Fault]) -> None:
        for topic in ALL_TOPICS:
            self._broker.create(topic.name, 1 if topic.single else self._settings.partitions)
        for one in self._workers:
            self._start(one)
        background = [
            asyncio.create_task(work)
            for work in (self._submit(), self._watch_bounds(), *map(self._fault, faults))
        ]
        await asyncio.sleep(SECONDS)
        self._mend()
        undrained = await self._drained()
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        await self._stop_all()
        broken = self.watch.broken
        broken += after_the_run(self.watch, self._load.expected, undrained)
        broken += await by_reading(self._settings, self.watch, load_scorer(self._settings.scorer))
        broken += await self._replayed()
        for store in self._stores:
            store.close()

    # Workers

    def _start(self, one: Worker) -> None:
        one.stop, one.ended, one.sources = asyncio.Event(), False, []
        work = self._review if one.role == "review" else self._work
        one.process = self._loop.spawn(one.name, partial(self._ending, one, one.stop, work))

    async def _ending(self, one: Worker, stop: asyncio.Event, work: Any) -> None:
        process = one.process
        try:
            await work(one, stop)
        except OperatorError as error:
            if "unexpected" in str(error):
                self.watch.broken.append(("crash", str(error)))
        except Exception as error:  # noqa: BLE001 - a worker may only end in ways that it tells
            self.watch.broken.append(("crash", f"{one.name}: {type(error).__name__}: {error}"))
        self._loop.note("ended", one.name)
        self._outside(self._gone, one, process)

    def _outside(self, call: Any, *arguments: Any) -> None:
        self._loop.call_soon(call, *arguments, context=self._context)

    def _gone(self, one: Worker, process: Process | None) -> None:
        """A process ended or was killed: the next one takes its place, as under a supervisor."""
        if one.process is not process or one.ended:
            return
        one.ended, one.sources = True, []
        if one.wanted:
            self.restarts += 1
            self._loop.call_later(
                self._draw.uniform(*RESTART_SECONDS), self._again, one, context=self._context
            )

    def _again(self, one: Worker) -> None:
        if one.wanted and one.ended:
            self._start(one)

    async def _work(self, one: Worker, stop: asyncio.Event) -> None:
        async with AsyncExitStack() as resources:
            with_report = WITH_REPORT if one.role == "report" else ()
            roles = [one.role, *with_report]
            sources = await worker._start(roles, self._settings, resources)
            one.sources = sources
            await worker._serve(sources, stop)

    async def _review(self, one: Worker, stop: asyncio.Event) -> None:
        """The console without its pages: what it reads and publishes, and people at its desk."""
        async with AsyncExitStack() as resources:
            publisher = KafkaPublisher(Producer(self._broker), self._settings)  # type: ignore[arg-type]
            await publisher.start()
            resources.push_async_callback(publisher.stop)
            texts = await agent_factory.document_store(self._settings, resources)
            points = point_reader(self._settings, resources)
            source = ReviewSource(publisher, self._settings, texts, points)
            store = CaseStore(self._settings.leakage_sample)
            self._stores.append(store)
            reading = partial(_accepted_at, points)
            desk = ReviewDesk(
                store, publisher, self._settings, read_accepted=reading, chance=self._draw
            )
            self._desk = desk
            working = [
                asyncio.create_task(source._read(desk, stop)),
                asyncio.create_task(source._publish_outcomes(desk, stop)),
                *(
                    asyncio.create_task(self._reviewer(desk, f"reviewer-{n}"))
                    for n in range(self._settings.console_approvals + 1)
                ),
            ]
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait([*working[:2], stopping], return_when=asyncio.FIRST_COMPLETED)
            stop.set()
            for task in (stopping, *working[2:]):
                task.cancel()
            await asyncio.gather(*working[:2])

    async def _reviewer(self, desk: ReviewDesk, name: str) -> None:
        draw = self._draw
        login = ReviewerLogin(way="proxy", subject=name)
        session = Session(f"session of {name}", name, 2**40, "reviewer", login)
        made: list[str] = []
        while True:
            await asyncio.sleep(draw.uniform(0.1, 3.0))
            if not desk.ready or self._loop.time() > SECONDS:
                continue
            try:
                if made and draw.random() < 0.3:
                    review = await desk.undo(session, made.pop())
                    self._loop.note("undone", review.id)
                    continue
                case = await desk.next_case(
                    session, CaseFilter(pool=draw.choice(("queue", "checks")))
                )
                if case is None:
                    continue
                await desk.bring([case.id])
                decision: Any = draw.choice(("supports", "insufficient", "corrected", "skipped"))
                value = f"corrected {draw.randrange(10)}" if decision == "corrected" else None
                seen = case.standing.id if case.standing else ""
                opened = EPOCH + self._loop.time()
                answer = Answer(case.id, decision, value, seen, opened)
                made.append((await desk.decide(session, answer)).id)
            except DeskError:
                continue

    # Load and faults

    async def _submit(self) -> None:
        producer = Producer(self._broker)
        for document in self._load.documents:
            for _ in range(self._draw.choice((1, 1, 1, 2))):
                key, value = document.id.encode(), document.to_json()
                await producer.send(DOCUMENTS.name, value, key)
            if self._draw.random() < 0.2:
                await producer.send(DOCUMENTS.name, self._draw.choice(POISON), b"poison")
            await asyncio.sleep(self._draw.uniform(0, 1.5))

    async def _fault(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at)
        self._loop.note(fault)
        match fault.kind:
            case "kill" | "stop" | "pause" | "slow" | "clock":
                own = [w for w in self._workers if w.role == fault.target and w.process]
                self._to_process(fault, own[int(fault.at * 1_000) % len(own)])
            case "join":
                await self._join(fault)
            case "refuse" | "lose-answer" | "repeat":
                self._broker.faults[fault.target] = fault.kind  # type: ignore[assignment]
                await asyncio.sleep(fault.seconds)
                self._broker.faults.pop(fault.target, None)
            case "silent":
                self._broker.silent_until = self._loop.time() + fault.seconds
            case "llm":
                SimulatedExtractor.away = True
                await asyncio.sleep(fault.seconds)
                SimulatedExtractor.away = False
            case "redis-away":
                self._cache.away = True
                await asyncio.sleep(fault.seconds)
                self._cache.away = False
            case "redis-flush":
                self._cache.texts.clear()
            case "redis-lies":
                self._cache.swap()
            case "release":
                await self._release(f"cue-{fault.amount:.0f}")

    def _to_process(self, fault: Fault, one: Worker) -> None:
        process = one.process
        if process is None or one.ended:
            return
        match fault.kind:
            case "kill":
                self._loop.kill(process)
                self._gone(one, process)
            case "stop":
                one.stop.set()
            case "pause":
                self._loop.pause(process, fault.seconds)
            case "slow":
                process.slowness = fault.amount
                self._loop.call_later(fault.seconds, setattr, process, "slowness", 1.0)
            case "clock":
                process.clock_ahead = fault.amount

    async def _join(self, fault: Fault) -> None:
        """Another member, for a while: the partitions of its role move twice."""
        if fault.target == "review":
            return
        one = Worker(f"{fault.target}-joined-{fault.at:.3f}", fault.target)
        self._workers.append(one)
        self._start(one)
        await asyncio.sleep(fault.seconds)
        one.wanted = False
        one.stop.set()

    async def _release(self, scorer: str) -> None:
        release = ScorerRelease(
            slot="live",
            scorer=scorer,
            revision=load_scorer(scorer).revision,
            released_at=EPOCH + self._loop.time(),  # type: ignore[arg-type]
            released_by="simulation",
            reason="simulated",
        )
        await publish_release(self._settings, release)

    def _mend(self) -> None:
        self._broker.faults.clear()
        self._broker.silent_until = 0.0
        self._cache.away = SimulatedExtractor.away = False
        for process in (one.process for one in self._workers):
            if process and process.alive:
                self._loop.resume(process)
                process.slowness = 1.0

    # The end

    async def _drained(self) -> int:
        """Wait until every group did all there is; returns how many records are left."""
        until = self._loop.time() + RECOVERY_SECONDS
        quiet = 0
        while quiet < 4 and self._loop.time() < until:
            await asyncio.sleep(1)
            self._broker.faults.clear()
            left = sum(self._behind().values())
            desk = self._desk
            due = desk is None or not desk.ready or desk.owes
            busy = any(s.progress.outstanding for one in self._workers for s in one.sources)
            quiet = 0 if left or due or busy else quiet + 1
        left = sum(self._behind().values())
        if not left and quiet < 4:
            self.watch.broken.append(("P6", "what was decided is not out"))
        return left

    def _behind(self) -> dict[str, int]:
        behind = {}
        for role, topics in DONE_BY.items():
            committed = self._broker.groups[self._settings.group(role)].committed
            for tp, log in self._broker.logs.items():
                if tp.topic in topics and log:
                    done = committed[tp].offset if tp in committed else 0
                    behind[f"{role} {tp.topic}-{tp.partition}"] = len(log) - done
        return behind

    async def _stop_all(self) -> None:
        for one in self._workers:
            one.wanted = False
            one.stop.set()
        until = self._loop.time() + STOP_SECONDS
        while not all(one.ended for one in self._workers) and self._loop.time() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.5)
        for one in self._workers:
            if not one.ended:
                self.watch.broken.append(("P6", f"{one.name} does not stop"))
                if one.process:
                    self._loop.kill(one.process)

    async def _watch_bounds(self) -> None:
        """P5: no role holds more than its lanes do."""
        while True:
            await asyncio.sleep(0.25)
            for source in (source for one in self._workers for source in one.sources):
                inner = getattr(source, "_source", source)
                if isinstance(inner, FaustSource):
                    most = inner.role.lanes * 2 * inner.role.batch + len(inner.role.topics)
                    if inner.progress.outstanding > most:
                        held = inner.progress.outstanding
                        self.watch.broken.append(("P5", f"{inner.role.name} holds {held} records"))

    async def _replayed(self) -> list[Broken]:
        """P7: a replay with the memory that verdicts name gives their bytes, and touches no live
        topic."""
        live = {tp: len(log) for tp, log in self._broker.logs.items()}
        made: dict[tuple[str, str], set[tuple[str, bytes]]] = {}
        for topic in VERDICTS:
            for number in range(self._settings.partitions):
                for record in self._broker.logs[TopicPartition(topic, number)]:
                    verdict = Verdict.model_validate_json(record.value or b"", extra="ignore")
                    if verdict.review or not verdict.scorer_revision:
                        continue
                    name = verdict.memory.snapshot if verdict.memory else "none"
                    own = made.setdefault((verdict.scorer_revision, name), set())
                    own.add((verdict.id, record.value or b""))
        broken: list[Broken] = []
        for number, ((revision, name), verdicts) in enumerate(sorted(made.items())[:4]):
            request = ReplayRequest(f"r{number}", memory=name)
            try:
                await run_replay(request, load_scorer(f"cue-{revision}"), self._settings, NoRest())
            except OperatorError as error:
                broken.append(("P7", str(error)))
                continue
            again = self._records(verdicts_topic(request.id).name)
            if other := verdicts - again:
                broken.append(("P7", f"verdict {min(other)[0]} is another in a replay"))
        if live != {tp: len(self._broker.logs[tp]) for tp in live}:
            broken.append(("P7", "a replay wrote to a live topic"))
        return broken

    def _records(self, topic: str) -> set[tuple[str, bytes]]:
        return {
            (
                Verdict.model_validate_json(record.value or b"", extra="ignore").id,
                record.value or b"",
            )
            for tp, log in self._broker.logs.items()
            if tp.topic == topic
            for record in log
        }

"""The run of a replay: read a range, judge it with the live roles' steps, note how far it is."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, closing
from dataclasses import asdict, dataclass, replace
from typing import Any

import structlog
from aiokafka.errors import KafkaError

from safepassage.pipeline import new_aligner
from safepassage.schemas import Event, Verdict
from safepassage.scoring_worker import Scorer
from safepassage.scoring_worker.memory.learning import memory_revision, remembering

from ..agent_factory import document_store
from ..delivery.record_outcomes import Failed, Step
from ..kafka.admin import create_topics
from ..kafka.publisher import Publisher, PublishFailed, open_publisher
from ..kafka.reading import read_between
from ..kafka.records import Outgoing, Received, Record, UnreadableRecord, decode
from ..memory.live import Snapshots, memory_as_it_stands
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topology import align_role, score_role
from ..wiring import assess_off_the_loop
from .plan import (
    ORIGIN_TOPICS,
    Origin,
    ReplayPlan,
    ReplayState,
    last_state,
    progress_topic,
    resolve_ranges,
    verdicts_topic,
)
from .throttle import LiveGuard

log = structlog.get_logger(__name__)

REMEMBERED_BATCHES = 200
# Small beside the live role's: brokers are shared, and a large batch holds up who comes after it.
BATCH_RECORDS = 64
MEMORY_NOW = "now"
MEMORY_NONE = "none"


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What the operator asked for; see `ReplayPlan`."""

    id: str
    origin: Origin = "alignments"
    since: Any = None
    until: Any = None
    offsets: str | None = None
    alignment_threshold: float | None = None
    memory: str = MEMORY_NOW


async def run_replay(
    request: ReplayRequest,
    scorer: Scorer,
    settings: Settings,
    pace: LiveGuard,
    on_progress: Callable[[ReplayState], None] = lambda _: None,
) -> ReplayState:
    """Replay to the end, going on where an earlier run of the same id stopped.

    A crash costs at most the repetition of one batch, with the same verdicts under the same ids."""
    topics = (verdicts_topic(request.id), progress_topic(request.id))
    await create_topics(settings, topics)
    memory = await _remember(request.memory, scorer, settings)
    state = await _begin(request, scorer, memory, settings)
    async with AsyncExitStack() as resources, open_publisher(settings) as publisher:
        steps = await _steps(state.plan, scorer, settings, resources)
        replay = _Replay(state, steps, publisher, settings)
        on_progress(replay.state)
        await replay.run(pace, on_progress)
        return replay.state


async def _remember(wanted: str, scorer: Scorer, settings: Settings) -> str | None:
    """Let ``scorer`` judge by the memory that is ``wanted``: as decisions are now, none, or the
    snapshot of that name. Returns the name of what it holds."""
    remembers = remembering(scorer)
    if remembers is None or wanted == MEMORY_NONE:
        return None
    if wanted == MEMORY_NOW:
        memory = await memory_as_it_stands(settings, remembers)
    else:
        with closing(Snapshots()) as snapshots:
            found = await snapshots.read(settings)
            memory = found.memory(wanted, memory_revision(remembers))
    remembers.remember(memory)
    return memory.name or None


async def _begin(
    request: ReplayRequest, scorer: Scorer, memory: str | None, settings: Settings
) -> ReplayState:
    known = await last_state(settings, request.id)
    if known:
        ranges = known.plan.ranges
    else:
        ranges = await resolve_ranges(settings, request.origin, request.offsets, request.since)
    tau = request.alignment_threshold
    if request.origin == "extractions" and tau is None:
        tau = settings.alignment_threshold  # fixed now: the setting may be another when it goes on
    judged_by = {"scorer": scorer.name, "revision": scorer.revision, "memory": memory}
    fixed = {"ranges": ranges, "alignment_threshold": tau}
    plan = ReplayPlan(**asdict(request) | judged_by | fixed)
    if known is None:
        return ReplayState(plan=plan, positions=ranges)
    for name in ReplayPlan.model_fields:
        before, now = getattr(known.plan, name), getattr(plan, name)
        if before != now:
            raise OperatorError(
                f"replay {request.id} was begun with {name} {before}, not {now}; "
                "give another --id for another replay"
            )
    return known


async def _steps(
    plan: ReplayPlan, scorer: Scorer, settings: Settings, resources: AsyncExitStack
) -> list[Step]:
    """The live roles' own steps, which is what makes their verdicts equal."""
    score = score_role(assess_off_the_loop(scorer), batch=BATCH_RECORDS).step
    if plan.origin == "alignments":
        return [score]
    aligning = settings.model_copy(update={"alignment_threshold": plan.alignment_threshold})
    aligner = new_aligner(aligning)
    resources.callback(aligner.close)
    return [align_role(aligner, await document_store(aligning, resources)).step, score]


async def _batches(records: AsyncIterator[Record]) -> AsyncIterator[list[Record]]:
    batch: list[Record] = []
    async for record in records:
        batch.append(record)
        if len(batch) >= BATCH_RECORDS:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(slots=True)
class _Replay:
    state: ReplayState
    steps: Sequence[Step]
    publisher: Publisher
    settings: Settings

    async def run(self, pace: LiveGuard, on_progress: Callable[[ReplayState], None]) -> None:
        started = time.perf_counter()
        async with aclosing(read_between(self.settings, self.state.remaining)) as records:
            async for batch in _batches(records):
                batch_started = time.perf_counter()
                verdicts = await self._replay(batch)
                taken = time.perf_counter() - batch_started
                await self._note(batch, verdicts, taken, time.perf_counter() - started)
                started = time.perf_counter()
                on_progress(self.state)
                await pace.rest(len(batch), taken)
        await self._save(self.state.model_copy(update={"done": True, "positions": ()}))
        on_progress(self.state)

    async def _replay(self, batch: Sequence[Record]) -> int:
        """How many verdicts on ``batch`` were published."""
        events = self._decode([r for r in batch if self.state.plan.covers(r.timestamp)])
        verdicts = await _isolated(self.steps, events)
        topic = verdicts_topic(self.state.plan.id)
        outgoing = [Outgoing(topic, verdict.doc_id, verdict) for verdict in verdicts]
        refused = await self.publisher.publish(outgoing)
        for position, error in refused.items():
            log.warning("not_replayed", problem=error, verdict_id=verdicts[position].id)
        return len(verdicts) - len(refused)

    def _decode(self, records: Sequence[Record]) -> list[Received[Event]]:
        """What could be read; the rest was a dead letter when it was live."""
        topics = ORIGIN_TOPICS[self.state.plan.origin]
        models = {self.settings.topic(topic.name): topic.model for topic in topics}
        events = []
        for record in records:
            try:
                events.append(decode(record, models[record.topic]))
            except UnreadableRecord as error:
                log.warning("not_replayed", problem=str(error), **record.coordinates.model_dump())
        return events

    async def _note(
        self, batch: Sequence[Record], verdicts: int, taken: float, passed: float
    ) -> None:
        reached = {(r.topic, r.partition): r.offset + 1 for r in batch}
        positions = tuple(
            at.model_copy(update={"start": reached.get((at.topic, at.partition), at.start)})
            for at in self.state.positions
        )
        latencies = (*self.state.batch_milliseconds, round(taken * 1000, 1))[-REMEMBERED_BATCHES:]
        changes: dict[str, object] = {
            "positions": positions,
            "batch_milliseconds": latencies,
            "seconds": self.state.seconds + passed,
            "verdicts": self.state.verdicts + verdicts,
            "skipped": self.state.skipped + len(batch) - verdicts,
        }
        await self._save(self.state.model_copy(update=changes))

    async def _save(self, state: ReplayState) -> None:
        topic = progress_topic(state.plan.id)
        if await self.publisher.publish([Outgoing(topic, state.plan.id, state)]):
            raise PublishFailed("the broker refuses the replay's progress")
        self.state = state


async def _isolated(steps: Sequence[Step], events: list[Received[Event]]) -> list[Verdict]:
    """The verdicts on ``events`` but those on which steps break: live, these were letters."""
    try:
        return await _through(steps, events)
    except (KafkaError, OperatorError):
        raise
    except Exception as error:  # noqa: BLE001 - no error of one record may end the replay
        if len(events) == 1:
            where = events[0].record.coordinates.model_dump()
            log.warning("not_replayed", problem=type(error).__name__, **where)
            return []
    verdicts = [one for event in events for one in await _isolated(steps, [event])]
    if not verdicts:
        raise OperatorError("the scorer or aligner is broken: it fails on every record of a batch")
    return verdicts


async def _through(steps: Sequence[Step], events: list[Received[Event]]) -> list[Verdict]:
    """The verdicts on ``events``, in order. What a step makes no verdict of goes to the next."""
    verdicts: dict[int, Verdict] = {}
    waiting = dict(enumerate(events))
    for step in steps:
        outcomes = await step(list(waiting.values())) if waiting else []
        following: dict[int, Received[Event]] = {}
        for (position, received), outcome in zip(waiting.items(), outcomes, strict=True):
            if isinstance(outcome, Failed):
                where = received.record.coordinates
                raise OperatorError(f"cannot judge {where}: {outcome.error} {outcome.detail}")
            (made,) = outcome
            if isinstance(made.event, Verdict):
                verdicts[position] = made.event
            else:
                following[position] = replace(received, event=made.event)
        waiting = following
    return [verdicts[position] for position in sorted(verdicts)]

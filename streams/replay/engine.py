"""The run of a replay: read a range, judge it with the live roles' steps, note how far it is."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import structlog
from aiokafka.errors import KafkaError

from safepassage.pipeline import new_aligner
from safepassage.schemas import Event, Verdict
from safepassage.scoring_worker import Scorer
from safepassage.scoring_worker.memory.learning import memory_revision, remembering
from safepassage.streams.agent_factory import document_store
from safepassage.streams.delivery.record_outcomes import Failed, Outcome, Step
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import Publisher, PublishFailed, open_publisher
from safepassage.streams.kafka.reading import read_between
from safepassage.streams.kafka.records import Outgoing, Received, Record, UnreadableRecord, decode
from safepassage.streams.memory.live import memory_as_it_stands
from safepassage.streams.memory.snapshots import Snapshots
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topology import align_role, score_role
from safepassage.streams.wiring import assess_off_the_loop

from .plan import (
    ORIGIN_TOPICS,
    Origin,
    ReplayPlan,
    ReplayState,
    SourceRange,
    last_state,
    progress_topic,
    resolve_ranges,
    verdicts_topic,
)

log = structlog.get_logger(__name__)

REMEMBERED_BATCHES = 200
# Small beside the live role's: brokers are shared, and a large batch holds up who comes after it.
BATCH_RECORDS = 64
MEMORY_NOW = "now"
MEMORY_NONE = "none"


class Pace(Protocol):
    """Makes a replay rest between batches."""

    async def rest(self, records: int, seconds: float) -> None: ...


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
    pace: Pace,
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
    """The state to go on from; a new one where it is missing."""
    known = await last_state(settings, request.id)
    if known is None:
        ranges = await resolve_ranges(settings, request.origin, request.offsets, request.since)
        plan = _plan(request, scorer, memory, ranges, settings)
        return ReplayState(plan=plan, positions=ranges)
    wanted = _plan(request, scorer, memory, known.plan.ranges, settings)
    for name in _FIXED:
        before, now = getattr(known.plan, name), getattr(wanted, name)
        if before != now:
            raise OperatorError(
                f"replay {request.id} was begun with {name} {before}, not {now}; "
                "give another --id for another replay"
            )
    return known


_FIXED = (
    *("origin", "since", "until", "offsets", "scorer", "revision", "memory"),
    "alignment_threshold",
)


def _plan(
    request: ReplayRequest,
    scorer: Scorer,
    memory: str | None,
    ranges: tuple[SourceRange, ...],
    settings: Settings,
) -> ReplayPlan:
    tau = request.alignment_threshold
    if request.origin == "extractions" and tau is None:
        tau = settings.alignment_threshold  # fixed now: the setting may be another when it goes on
    return ReplayPlan(
        id=request.id,
        origin=request.origin,
        ranges=ranges,
        since=request.since,
        until=request.until,
        offsets=request.offsets,
        scorer=scorer.name,
        revision=scorer.revision,
        memory=memory,
        alignment_threshold=tau,
    )


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


class _Replay:
    def __init__(
        self, state: ReplayState, steps: Sequence[Step], publisher: Publisher, settings: Settings
    ) -> None:
        self.state = state
        self._steps = steps
        self._publisher = publisher
        self._settings = settings
        self._out = verdicts_topic(state.plan.id)
        self._models = {
            settings.topic(topic.name): topic.model for topic in ORIGIN_TOPICS[state.plan.origin]
        }

    async def run(self, pace: Pace, on_progress: Callable[[ReplayState], None]) -> None:
        started = time.perf_counter()
        async for batch in self._batches():
            batch_started = time.perf_counter()
            await self._replay(batch)
            taken = time.perf_counter() - batch_started
            await self._note(batch, taken, time.perf_counter() - started)
            started = time.perf_counter()
            on_progress(self.state)
            await pace.rest(len(batch), taken)
        await self._save(self.state.model_copy(update={"done": True, "positions": ()}))
        on_progress(self.state)

    async def _batches(self) -> AsyncIterator[list[Record]]:
        batch: list[Record] = []
        async for record in read_between(self._settings, self.state.remaining):
            batch.append(record)
            if len(batch) >= BATCH_RECORDS:
                yield batch
                batch = []
        if batch:
            yield batch

    async def _replay(self, batch: Sequence[Record]) -> None:
        events = self._decode([r for r in batch if self.state.plan.covers(r.timestamp)])
        verdicts = await _isolated(self._steps, events)
        outgoing = [Outgoing(self._out, verdict.doc_id, verdict) for verdict in verdicts]
        refused = await self._publisher.publish(outgoing)
        for position, error in refused.items():
            log.warning("not_replayed", problem=error, verdict_id=verdicts[position].id)
        verdicts = [one for position, one in enumerate(verdicts) if position not in refused]
        self.state = self.state.model_copy(
            update={
                "verdicts": self.state.verdicts + len(verdicts),
                "skipped": self.state.skipped + len(batch) - len(verdicts),
            }
        )

    def _decode(self, records: Sequence[Record]) -> list[Received[Event]]:
        """What could be read; the rest was a dead letter when it was live."""
        events = []
        for record in records:
            try:
                events.append(decode(record, self._models[record.topic]))
            except UnreadableRecord as error:
                log.warning("not_replayed", problem=str(error), **record.coordinates.model_dump())
        return events

    async def _note(self, batch: Sequence[Record], taken: float, passed: float) -> None:
        reached = {(r.topic, r.partition): r.offset + 1 for r in batch}
        positions = tuple(
            position.model_copy(
                update={"start": reached.get((position.topic, position.partition), position.start)}
            )
            for position in self.state.positions
        )
        latencies = (*self.state.batch_milliseconds, round(taken * 1000, 1))
        await self._save(
            self.state.model_copy(
                update={
                    "positions": positions,
                    "seconds": self.state.seconds + passed,
                    "batch_milliseconds": latencies[-REMEMBERED_BATCHES:],
                }
            )
        )

    async def _save(self, state: ReplayState) -> None:
        topic = progress_topic(state.plan.id)
        if await self._publisher.publish([Outgoing(topic, state.plan.id, state)]):
            raise PublishFailed("the broker refuses the replay's progress")
        self.state = state


async def _isolated(steps: Sequence[Step], events: list[Received[Event]]) -> list[Verdict]:
    """The verdicts on ``events``, without those on which the steps break: live, each of these
    became a dead letter by itself."""
    try:
        return await _through(steps, events)
    except (KafkaError, OperatorError):
        raise
    except Exception as error:  # noqa: BLE001 - pinned on its record below
        log.warning("batch_not_replayed", problem=type(error).__name__, records=len(events))
    verdicts: list[Verdict] = []
    for event in events:
        try:
            verdicts += await _through(steps, [event])
        except (KafkaError, OperatorError):
            raise
        except Exception as error:  # noqa: BLE001 - no error may end the replay
            where = event.record.coordinates.model_dump()
            log.warning("not_replayed", problem=type(error).__name__, **where)
    if not verdicts and len(events) > 1:
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
            made = _single(outcome, received.record)
            if isinstance(made, Verdict):
                verdicts[position] = made
            else:
                following[position] = replace(received, event=made)
        waiting = following
    return [verdicts[position] for position in sorted(verdicts)]


def _single(outcome: Outcome, record: Record) -> Event:
    """The one event that a record led to."""
    if isinstance(outcome, Failed):
        raise OperatorError(f"cannot judge {record.coordinates}: {outcome.error} {outcome.detail}")
    (made,) = outcome
    return made.event

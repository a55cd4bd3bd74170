"""The review role: reads four topics into an index, serves the console, publishes outcomes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from safepassage.agents.document_store import DocumentStore
from safepassage.schemas import Coordinates, Review, StandingDecision, Verdict
from safepassage.service.quiet_server import quiet_server

from ..agent_factory import redis_client, reread_document
from ..delivery.lag import LagMeter
from ..kafka.erasures_and_seals import protection
from ..kafka.point_reader import PointReader, Unreadable
from ..kafka.publisher import Publisher, PublishFailed, WriteRefused
from ..kafka.reading import POLL_MILLISECONDS, assign, ends, read_at, reader, to_record
from ..kafka.records import ErasedRecord, UnreadableRecord, decode, outcome_of
from ..runtime import metrics
from ..runtime.health import open_listener
from ..runtime.progress import Progress
from ..runtime.signals import pause
from ..settings import Settings
from ..topics import ACCEPTED, READ_BY, RoleName
from .index.index_file import Place, Position
from .index.measures import agreements, open_cases
from .index.store import CaseStore
from .leases import Leases, LeasesAway, RedisLeases
from .login.modes import login_of
from .promise import Promise
from .review_desk import ReviewDesk
from .web.app import Console, console_app
from .web.originals import Originals

if TYPE_CHECKING:
    from ..learning.candidates import Candidates

log = structlog.get_logger(__name__)

ROLE: RoleName = "review"
BATCH_RECORDS = 500
OUTCOME_SECONDS = 0.5
AWAY_SECONDS = 5.0
PROMISE_SECONDS = 30.0


class ReviewSource:
    """Reads outside every consumer group: its state is what the topics say, and there is nothing to
    commit. It reads from the beginning, or on from an index that was kept. Each console reads
    everything; one of several at a time publishes what decisions lead to."""

    def __init__(
        self,
        publisher: Publisher,
        settings: Settings,
        texts: DocumentStore,
        points: PointReader,
        candidates: Candidates | None = None,
    ) -> None:
        self.progress = Progress(ROLE)
        self._lag = LagMeter(self.progress)
        self._publisher = publisher
        self._settings = settings
        self._candidates = candidates
        self._texts = texts
        self._points = points
        reading = partial(reread_document, points)
        self._originals = Originals(settings, reading) if settings.originals else None
        self._models = {settings.topic(topic.name): topic.model for topic in READ_BY[ROLE]}

    async def run(self, stop: asyncio.Event) -> None:
        login = login_of(self._settings)
        await login.way.check()
        async with contextlib.AsyncExitStack() as resources:
            desk = self._opened(resources)
            host, port = self._settings.console_host, self._settings.console_port
            listener = open_listener("the console", host, port, "SAFEPASSAGE_CONSOLE")
            resources.callback(listener.close)
            promise = Promise(desk.store, self._publisher, self._settings)
            beside = (promise, self._originals, self._candidates)
            console = Console(desk, self._texts, login, self._settings, *beside)
            app = console_app(console, self.progress)
            server = quiet_server(app, *listener.getsockname()[:2])
            _announce(listener, login.shown)
            ending = asyncio.Event()
            working = [
                asyncio.create_task(self._read(desk, ending)),
                asyncio.create_task(self._publish_outcomes(desk, ending)),
                asyncio.create_task(self._keep_promise(desk, promise, ending)),
                asyncio.create_task(server.serve(sockets=[listener])),
            ]
            stopped = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait([*working, stopped], return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.set()
                server.should_exit = True
                stopped.cancel()
                # Not cancelled at once: a Kafka client in the middle of its start cannot clean up.
                await asyncio.wait(working, timeout=self._settings.drain_seconds)
                for task in working:
                    task.cancel()
                await asyncio.gather(*working, return_exceptions=True)
        for task in working:
            if not task.cancelled():
                try:
                    task.result()
                except sqlite3.DatabaseError as error:
                    raise desk.store.unusable(error) from error

    def _opened(self, resources: contextlib.AsyncExitStack) -> ReviewDesk:
        settings, state = self._settings, self._settings.console_state
        if self._originals:
            resources.callback(self._originals.close)
        file = state / "console" / "index.sqlite" if state else None
        store = CaseStore(settings.leakage_sample, file, self._models)
        resources.callback(store.close)
        leases = _leases(settings, store)
        resources.push_async_callback(leases.close)
        reading = partial(_accepted_at, self._points)
        desk = ReviewDesk(store, self._publisher, settings, read_accepted=reading, leases=leases)
        resources.push_async_callback(desk.leave)
        listen = protection(settings).listen
        resources.callback(listen(desk.erase))
        if self._originals:
            resources.callback(listen(self._originals.forget))
        resources.callback(self._lag.clear)
        return desk

    async def _read(self, desk: ReviewDesk, ending: asyncio.Event) -> None:
        missing = await ends(self._settings, READ_BY[ROLE])
        start = await offsets_to_read_on(desk.store, self._settings, missing)
        # What was erased while nobody listened goes before anything is shown.
        desk.erase(*protection(self._settings).erasures)
        async with reader(self._settings) as consumer:
            assigned = await assign(consumer, list(self._models), start)
            # The reviews first: of a verdict that nobody will be shown only the figures are kept,
            # unless it is known by then that somebody decided on it.
            later = [tp for tp in assigned if self._models[tp.topic] is Verdict]
            consumer.pause(*later)
            while not ending.is_set():
                await self._read_batch(consumer, desk)
                await self._lag.measure(consumer)
                for tp in [tp for tp in missing if not desk.ready]:
                    if await consumer.position(tp) >= missing[tp]:
                        del missing[tp]
                if later and missing.keys() <= set(later):
                    consumer.resume(*later)
                    later = []
                if not missing and not desk.ready:
                    desk.ready = True
                    log.info("console_ready", **open_cases(desk.store))

    async def _read_batch(self, consumer: AIOKafkaConsumer, desk: ReviewDesk) -> None:
        fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS, max_records=BATCH_RECORDS)
        self.progress.polled()
        with metrics.timed_batch(ROLE) if fetched else contextlib.nullcontext(), desk.store.batch():
            for tp, messages in fetched.items():
                self._note(desk, messages)
                first, last = messages[0], messages[-1]
                desk.store.move_on(Place(*tp), first.offset, last.offset, last.timestamp)

    def _note(self, desk: ReviewDesk, messages: Iterable[ConsumerRecord]) -> None:
        for message in messages:
            record = to_record(message, protection(self._settings))
            try:
                match decode(record, self._models[record.topic]).event:
                    case Verdict() as verdict:
                        place = f"{record.partition}:{record.offset}"
                        desk.note_verdict(verdict, record.timestamp, place)
                    case Review() as review:
                        desk.note_review(review)
                    case StandingDecision() as decision:
                        desk.note_decision(decision)
                metrics.RECORDS.labels(ROLE, "counted").inc()
            except UnreadableRecord as error:
                metrics.RECORDS.labels(ROLE, outcome_of(error)).inc()
                if not isinstance(error, ErasedRecord):
                    where = record.coordinates.model_dump()
                    log.warning("unreadable_record", **where, problem=str(error))

    async def _publish_outcomes(self, desk: ReviewDesk, ending: asyncio.Event) -> None:
        while not ending.is_set():
            if desk.refused:
                raise desk.refused
            if desk.ready:
                for pool, count in open_cases(desk.store).items():
                    metrics.OPEN_CASES.labels(pool).set(count)
                try:
                    if await desk.leads():
                        await desk.publish_due()
                except WriteRefused:
                    raise
                except PublishFailed as error:
                    log.warning("outcomes_wait_for_kafka", detail=str(error))
                except LeasesAway:
                    log.warning("outcomes_wait_for_redis")
                    await pause(ending, AWAY_SECONDS)
            await pause(ending, OUTCOME_SECONDS)

    async def _keep_promise(
        self, desk: ReviewDesk, promise: Promise, ending: asyncio.Event
    ) -> None:
        while not ending.is_set():
            if desk.ready:
                every = agreements(desk.store)[0]
                metrics.DOUBLE_REVIEWS.set(every.cases)
                if every.kappa is not None and every.interval is not None:
                    metrics.set_estimate(metrics.KAPPA, every.kappa, every.interval)
                try:
                    await promise.watch(acts=await desk.leads())
                except WriteRefused:
                    raise
                except (PublishFailed, KafkaError) as error:
                    log.warning("promise_waits_for_kafka", detail=str(error))
                except LeasesAway:
                    log.warning("promise_waits_for_redis")
            await pause(ending, PROMISE_SECONDS)


def _leases(settings: Settings, store: CaseStore) -> Leases:
    """In Redis wherever one is named: nobody knows here whether there are other consoles."""
    if "redis_url" not in settings.model_fields_set:
        return Leases(settings.console_lease_seconds)
    prefix, seconds = settings.topic_prefix, settings.console_lease_seconds
    return RedisLeases(redis_client(settings), prefix, seconds, store.knows_review)


async def _accepted_at(points: PointReader, place: str) -> Verdict | None:
    partition, _, offset = place.partition(":")
    where = Coordinates(
        topic=points.settings.topic(ACCEPTED.name), partition=int(partition), offset=int(offset)
    )
    try:
        return decode(await points.read(where), Verdict).event
    except (Unreadable, UnreadableRecord, KafkaError) as error:
        log.warning("accepted_verdict_unread", place=place, error=type(error).__name__)
        return None


def _announce(listener: socket.socket, token: str | None) -> None:
    """The only place where a generated token is ever shown."""
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    secret = f"  token: {token}" if token else ""
    sys.stdout.write(f"review console: {address}{secret}\n")
    sys.stdout.flush()


async def offsets_to_read_on(
    store: CaseStore, settings: Settings, ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """The next offset of each partition that the index was read from. Where the topics are others
    now it is emptied, with a line that says why, and there are no offsets.

    Args:
        ends: one past the last offset of every partition that is read.
    """
    read = store.positions()
    if read and (reason := await _difference(read, settings, ends)):
        store.begin_anew(reason)
        return {}
    return {TopicPartition(*place): position.last + 1 for place, position in read.items()}


async def _difference(
    read: Mapping[Place, Position], settings: Settings, ends: Mapping[TopicPartition, int]
) -> str | None:
    places = {place: TopicPartition(*place) for place in read}
    for place, (_, last, _) in read.items():
        named = f"partition {place.partition} of {place.topic}"
        if (end := ends.get(places[place])) is None:
            return f"{named} is gone"
        if last >= end:
            return f"{named} ends at {end}, and was read to {last + 1}: it was made anew"
    async with reader(settings) as consumer:
        beginnings = await consumer.beginning_offsets(places.values())
    for place, (first, _, _) in read.items():
        if (begins := beginnings[places[place]]) > first:
            # What a retention took from the topic must not stay here. A compaction moves nothing.
            return (
                f"partition {place.partition} of {place.topic} begins at {begins}, and was read "
                f"from {first}: the broker deleted records"
            )
    last_ones = {
        Coordinates(topic=place.topic, partition=place.partition, offset=position.last): position
        for place, position in read.items()
    }
    for where, record in (await read_at(settings, last_ones)).items():
        if record.timestamp != last_ones[where].timestamp:
            return f"another record is at {where.topic}/{where.partition}/{where.offset}"
    return None

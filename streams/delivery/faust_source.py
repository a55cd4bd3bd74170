"""Faust as the source of the roles whose work per event is large, made safe.

Faust 0.15.3 as shipped loses events (measured on Apache Kafka 3.3.1, 400 messages each): an
exception that escapes an agent acknowledges its event and, with ``take()``, 350 of 400 with it;
with concurrency above 1 a kill -9 loses every slow message in flight, because the commit jumps
a gap (faust-streaming issue #606); a rejected produce is a warning (#323 and others); a
rebalance commits only after the partitions are gone and so repeats a third of the work (#502).

Here Faust only delivers. `SafeConsumer` commits what the `OffsetLedger` calls safe and nothing
else, regardless of what Faust believes was acknowledged; agents hand records to `Lanes` and never
raise; results are published by our own producer, with the acknowledgement awaited.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import faust
import structlog
from aiokafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.types import TP, Message

from ..kafka.clients import METADATA_MILLISECONDS, ssl_context, token_provider
from ..kafka.contact import contact
from ..kafka.erasures_and_seals import protection
from ..kafka.records import Record
from ..runtime.errors import OperatorError
from ..runtime.progress import Progress
from ..settings import Settings
from .lag import LagMeter
from .lanes import Lanes
from .ledger import OffsetLedger
from .record_outcomes import Delivery, Role

log = structlog.get_logger(__name__)

LAG_SECONDS = 1.0
ABANDON_SECONDS = 5.0
AWAY_SECONDS = 1.0


class JoinRefused(OperatorError):
    """The role gets no partitions; the message says why and what to grant."""

    def __init__(self, group: str, why: str) -> None:
        super().__init__(
            f"group {group} cannot be joined: {why}; `safepassage doctor --acls` prints the rights "
            "that the role needs"
        )


class CommittedConsumerThread(AIOKafkaConsumerThread):
    """Faust reads what transactions took back, unless it runs them itself; we never do. Nor has it
    a setting for static members."""

    instance: str | None

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        # Both are read when it starts.
        consumer._isolation_level = "read_committed"
        consumer._group_instance_id = self.instance
        return consumer


class SafeConsumer(FaustConsumer):
    """Faust's consumer with its offset arithmetic replaced by an `OffsetLedger`.

    Overrides private methods of faust-streaming 0.15.3, which is therefore pinned exactly.
    """

    source: FaustSource

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        thread = CommittedConsumerThread(self, loop=self.loop, beacon=self.beacon)
        thread.instance = self.source.instance
        return thread

    async def _wait_next_records(self, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's own name
        """Faust's fetch loop came round: the consumer is alive, with or without records."""
        fetched = await super()._wait_next_records(timeout)
        self.source.progress.polled()
        self._note_positions(fetched[0] or {})
        return fetched

    def _note_positions(self, fetched: Mapping[TP, Sequence[Any]]) -> None:
        """Tell the ledger what was read without a record: a transaction's marker counts as lag."""
        for tp, state in self._states():
            partition = TP(tp.topic, tp.partition)
            if not state.has_valid_position:
                continue
            if records := fetched.get(partition):
                self.source.fetched[partition] = records[-1].offset + 1
            # Not behind what the ledger knows: of what was fetched, a part may still be queued.
            start = self.source.fetched.get(partition)
            if start is not None and start < state.position:
                self.source.ledger.skipped(partition, start, state.position)

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        chosen = self.source.ledger.partitions()
        return (tp for tp in chosen if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        # Faust's own lists would only grow: nothing else empties them.
        self._acked[tp].clear()
        self._acked_index[tp].clear()
        self._gap.pop(tp, None)
        return self.source.ledger.committable(tp)

    def _should_commit(self, tp: TP, offset: int) -> bool:
        # The ledger asks again until a commit succeeded; Faust forgets one that failed.
        return True

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        assignment = self.source.assignments
        committed: bool = await super()._commit(offsets)
        # Faust leaves out, and calls committed, what is not assigned at the moment. A commit that
        # ends after a rebalance says nothing about what was delivered since.
        if committed and assignment == self.source.assignments:
            for tp, offset in offsets.items():
                self.source.ledger.committed(tp, offset)
        return committed

    def behind(self) -> list[tuple[str, int, int]]:
        """Of each partition assigned now, how many records are not done as the last fetch saw."""
        return [
            (tp.topic, tp.partition, state.highwater - self._reached(tp, state))
            for tp, state in self._states()
            if state.highwater is not None
        ]

    def unplaced(self) -> list[Any]:
        """The partitions assigned now of which aiokafka does not know where to read."""
        return [tp for tp, state in self._states() if not state.has_valid_position]

    def _states(self) -> list[tuple[Any, Any]]:
        consumer = getattr(self._thread, "_consumer", None)
        subscription = consumer._subscription.subscription if consumer else None
        assignment = subscription.assignment if subscription else None
        states = [(tp, assignment.state_value(tp)) for tp in assignment.tps] if assignment else []
        return [(tp, state) for tp, state in states if state is not None]

    def _reached(self, tp: Any, state: Any) -> int:
        done = self.source.ledger.reached(TP(tp.topic, tp.partition))
        if done is not None:
            return done
        return int(state.position if state.has_valid_position else state.highwater)

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Nothing: `Progress` watches. Faust's own look, every 1.25 s, ends the role by an
        AssertionError where a partition has no position."""

    def note_fetch(self) -> None:
        """Let aiokafka believe that a fetch has just ended."""
        consumer = getattr(self._thread, "_consumer", None)
        if consumer is not None:
            consumer._subscription._last_fetch_ended = time.monotonic()

    async def commit_all(self) -> None:
        """Commit everything that is finished now. While a commit is under way, another one only
        waits for it, so the second makes sure of what finished in between."""
        await self.commit()
        await self.commit()

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Finish and commit what is being handled before the partitions go (#502)."""
        self.stop_flow()
        await self.source.settle()
        await self.commit_all()
        self.source.release()
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Start afresh: all that was not committed is delivered again."""
        self.source.take_up()
        await super().on_partitions_assigned(assigned, generation_id)
        log.info("assigned", partitions=sorted(f"{tp.topic}-{tp.partition}" for tp in assigned))


class FaustSource:
    """One role on a Faust app of its own: its consumer group, agents, lanes and ledger."""

    def __init__(
        self, role: Role, delivery: Delivery, settings: Settings, progress: Progress | None = None
    ) -> None:
        self.role = role
        self.ledger: OffsetLedger[TP] = OffsetLedger()
        self.progress = progress or Progress(role.name)
        self.progress.oldest_timestamp = self._oldest_timestamp
        self.instance = settings.group_instance(role.name)
        self.fetched: dict[TP, int] = {}  # one past the last record, in this assignment
        self.assignments = 0
        self._lag = LagMeter(self.progress)
        self._assigned = False
        # What is under way of the present assignment, by place: no more than the lanes hold.
        self._delivered: dict[tuple[str, int, int], Record] = {}
        self._settings = settings
        self._directory = tempfile.TemporaryDirectory(prefix="safepassage-")
        self._lanes = Lanes(role.lanes, role.batch, delivery.handle, self._finished)
        self._app = self._new_app()
        for topic in role.topics:
            self._subscribe(settings.topic(topic.name))

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until ``stop`` is set, then finish what is being handled and commit it."""
        self._lanes.start()
        began = False
        try:
            began = await self._started(stop)
        finally:
            if not began:
                await self._stop(ABANDON_SECONDS, Exception)
        if began:
            await self._deliver_until(stop)

    async def _deliver_until(self, stop: asyncio.Event) -> None:
        crashed = asyncio.ensure_future(self._app.wait_until_stopped())
        stopping = asyncio.ensure_future(stop.wait())
        staying = asyncio.create_task(self._stay_a_member())
        measuring = asyncio.create_task(self._measure_lag())
        try:
            await asyncio.wait(
                (self._lanes.failure, crashed, stopping), return_when=asyncio.FIRST_COMPLETED
            )
            if self._lanes.failure.done():
                self._lanes.failure.result()
            if crashed.done() and not stopping.done():
                raise self._app.crash_reason or RuntimeError(f"the {self.role.name} app stopped")
        finally:
            for task in (crashed, stopping, staying, measuring):
                task.cancel()
            self._lag.clear()
            await self._shut_down()

    async def _started(self, stop: asyncio.Event) -> bool:
        """Start Faust; False where ``stop`` was set meanwhile.

        It waits for its partitions without an end and without a word, also where the broker will
        never give it any: starting races a stop, a limit, and what aiokafka knows of the refusal.
        """
        group = self._settings.group(self.role.name)
        limit = 2 * self._settings.kafka_rebalance_timeout_seconds
        starting = asyncio.ensure_future(self._app.start())
        stopping = asyncio.ensure_future(stop.wait())
        try:
            async with asyncio.timeout(limit):
                while not starting.done() and not stop.is_set():
                    await asyncio.wait(
                        (starting, stopping), timeout=1, return_when=asyncio.FIRST_COMPLETED
                    )
                    self._raise_refusal(group)
        except TimeoutError as error:
            raise JoinRefused(group, f"no partitions within {limit:.0f} s") from error
        finally:
            stopping.cancel()
            starting.cancel()  # unless it is done
        if starting.done():
            starting.result()
            return not stop.is_set() or self._assigned
        return False

    def _raise_refusal(self, group: str) -> None:
        thread = getattr(self._app.consumer, "_thread", None)
        consumer = getattr(thread, "_consumer", None)
        coordinator = getattr(consumer, "_coordinator", None)
        failed = getattr(coordinator, "_pending_exception", None)
        if isinstance(failed, GroupAuthorizationFailedError):
            raise JoinRefused(group, "this user may not Read it")
        if isinstance(failed, TopicAuthorizationFailedError):
            raise JoinRefused(group, f"this user may not Read a topic of it: {failed}")

    async def _stop(self, patience: float | None, forgiven: type[Exception]) -> None:
        """End the lanes and Faust, which may be waiting for a broker that is gone."""
        await self._lanes.stop()
        with contextlib.suppress(forgiven):
            await asyncio.wait_for(self._app.stop(), patience)
        # Its consumer makes the event loop of its thread before there is one, and leaves it open
        # where the thread never began.
        thread = getattr(self._app.consumer, "_thread", None)
        loop = getattr(thread, "thread_loop", None)
        if thread is not None and loop is not None and not thread._thread_started.is_set():
            loop.close()
        self._directory.cleanup()

    async def _measure_lag(self) -> None:
        while True:
            self._lag.show(self._app.consumer.behind(), self._app.consumer.unplaced())
            await asyncio.sleep(LAG_SECONDS)

    async def _stay_a_member(self) -> None:
        """While the lanes are full nothing is fetched, and aiokafka would leave the group for it
        after ``kafka_rebalance_timeout_seconds``, although the role progresses: its work would be
        done a second time. A role that hangs leaves."""
        patience = self._settings.kafka_rebalance_timeout_seconds
        while True:
            if self.progress.age_seconds < patience:
                self._app.consumer.note_fetch()
            await asyncio.sleep(patience / 10)

    async def settle(self) -> None:
        """Drop what was not begun, and wait a bounded time for the rest."""
        self._lanes.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._lanes.idle(), self._patience)

    @property
    def _patience(self) -> float:
        """With what is being handled, in seconds; without a broker none of it can be published."""
        return AWAY_SECONDS if contact.away else self._settings.drain_seconds

    def release(self) -> None:
        """Forget what was delivered. A member that comes back is in a new generation, in which a
        commit of the old one's offsets would undo what others have committed meanwhile."""
        self._assigned = False
        self.assignments += 1
        self.ledger.forget(self.ledger.partitions())
        self._delivered.clear()
        self.fetched.clear()
        self.progress.dropped(self.progress.outstanding)

    def take_up(self) -> None:
        """Take records again, from the committed offsets on."""
        self.release()  # also where nothing was revoked before, as with a first assignment
        self._assigned = True
        self._lanes.reopen()

    async def _shut_down(self) -> None:
        consumer = self._app.consumer
        consumer.stop_flow()
        await self.settle()
        if not self._lanes.failure.done():
            with contextlib.suppress(Exception):  # a broker that is gone cannot take a commit
                await asyncio.wait_for(consumer.commit_all(), self._patience)
        else:
            self._lanes.failure.exception()  # seen: `run` raises it
        await self._stop(AWAY_SECONDS if contact.away else None, TimeoutError)

    def _new_app(self) -> Any:
        settings = self._settings
        app = faust.App(
            settings.group(self.role.name),
            broker=[
                f"kafka://{address}" for address in settings.kafka_bootstrap_servers.split(",")
            ],
            broker_credentials=_credentials(settings),
            broker_session_timeout=settings.kafka_session_timeout_seconds,
            broker_heartbeat_interval=settings.kafka_session_timeout_seconds / 5,
            broker_rebalance_timeout=settings.kafka_rebalance_timeout_seconds,
            broker_request_timeout=settings.kafka_rebalance_timeout_seconds + 30,
            broker_max_poll_interval=settings.kafka_rebalance_timeout_seconds,
            broker_commit_interval=0.5,
            consumer_max_fetch_size=settings.max_record_bytes,
            consumer_metadata_max_age_ms=METADATA_MILLISECONDS,
            consumer_auto_offset_reset="earliest",
            stream_buffer_maxsize=max(16, 2 * self.role.batch),
            value_serializer="raw",
            key_serializer="raw",
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            datadir=self._directory.name,
        )
        consumer = type("Consumer", (SafeConsumer,), {"source": self})
        app.transport.Consumer = consumer  # type: ignore[misc]  # read when the app starts
        return app

    def _subscribe(self, topic_name: str) -> None:
        topic = self._app.topic(topic_name, key_type=bytes, value_type=bytes)

        async def deliver(stream: Any) -> None:
            async for event in stream.events():
                await self._deliver(event.message)

        self._app.agent(topic, name=f"{self.role.name}-{topic_name}")(deliver)

    async def _deliver(self, message: Message) -> None:
        if not self._assigned:
            return  # left over from before a rebalance: delivered again
        # Faust inlines `Consumer.track_message`; this is the first place that sees each message.
        self.ledger.delivered(TP(message.topic, message.partition), message.offset)
        self.progress.delivered()
        record = Record(
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            timestamp=int(message.timestamp * 1000),
            headers=_headers(message.headers),
            protection=protection(self._settings),
        )
        self._delivered[record.topic, record.partition, record.offset] = record
        await self._lanes.put(record)

    def _oldest_timestamp(self) -> int | None:
        return min((record.timestamp for record in self._delivered.values()), default=None)

    def _finished(self, record: Record) -> None:
        place = record.topic, record.partition, record.offset
        if self._delivered.get(place) is not record:
            return  # it outlived a rebalance; what was delivered since is not finished by it
        del self._delivered[place]
        self.ledger.finished(TP(record.topic, record.partition), record.offset)
        self.progress.finished()


def _headers(headers: Any) -> tuple[tuple[str, bytes], ...]:
    """Faust's type says a list or a mapping."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return tuple((name, value) for name, value in pairs)


def _credentials(settings: Settings) -> Any:
    context = ssl_context(settings)
    if settings.kafka_security_protocol.startswith("SASL"):
        if tokens := token_provider(settings):
            return faust.auth.OAuthCredentials(oauth_cb=tokens, ssl_context=context)
        password = settings.kafka_password
        return faust.SASLCredentials(
            username=settings.kafka_username,
            password=password.get_secret_value() if password else None,
            mechanism=settings.kafka_sasl_mechanism,
            ssl_context=context,
        )
    return faust.SSLCredentials(context=context) if context else None

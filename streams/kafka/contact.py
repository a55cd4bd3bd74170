"""How often clients turn to the broker: seldom while it is away, or has nothing new for them.

aiokafka 0.14.0 tries again every 0.1 s and less, in each of its tasks, for as long as the broker
is away: 76 to 258 lines a second and role were seen. Its clients make their connection objects
themselves, so the class is exchanged where they look it up.

A broker answers a fetch as soon as there is a record, or after the wait that the fetch allows. The
embedded one looks only once within that wait, so it has to be short while records come; at 50 ms a
dozen idle consumers kept it and themselves busy for a fifth of a core.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import aiokafka.admin.client
import aiokafka.client
import aiokafka.consumer.consumer
import aiokafka.producer.producer
import structlog
from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.conn import CloseReason, create_conn
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import (
    CommitFailedError,
    KafkaConnectionError,
    RequestTimedOutError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.group import JoinGroupRequest, SyncGroupRequest
from aiokafka.protocol.offset import OffsetRequest

log = structlog.get_logger(__name__)

FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 1.0
IDLE_AFTER_FETCHES = 40
IDLE_FETCH_MILLISECONDS = 500
AWAY_SECONDS = 2.0
UNANSWERED_SECONDS = 5.0  # ten times what an idle fetch may wait for records
SAY_EVERY_SECONDS = 60.0
# aiokafka's default. Faust's consumer has to wait longer for joins, and then waits as long for a
# commit that a frozen broker never answers, while the others of the group wait for it.
REQUEST_SECONDS = 40.0


class Contact:
    """When a broker last answered this process, and what it has not answered. Written by the
    threads of all clients: each field by itself, so that no lock is needed."""

    def __init__(self) -> None:
        self._reached = time.monotonic()
        self._failed = float("-inf")
        self._said = float("-inf")
        self._unanswered: list[float] = []  # since when

    @property
    def away(self) -> bool:
        """No broker answered for a while, and that was tried: it cannot be connected to, or keeps
        its connections and is silent, as a frozen one does."""
        now = time.monotonic()
        oldest = min([*self._unanswered], default=now)
        tried = now - self._failed < AWAY_SECONDS + 2 * LONGEST_WAIT_SECONDS
        waiting = now - oldest > UNANSWERED_SECONDS
        return (tried or waiting) and now - self._reached > AWAY_SECONDS

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """While the block runs, a broker is asked; that it ends without an error is the answer."""
        since = time.monotonic()
        self._unanswered.append(since)
        try:
            yield
            self._answered()
        finally:
            self._unanswered.remove(since)

    def _answered(self) -> None:
        self._reached = time.monotonic()
        if self._said > float("-inf"):
            self._said = float("-inf")
            log.info("broker_is_back")

    def failed(self) -> None:
        """A connection could not be made."""
        self._failed = now = time.monotonic()
        if self.away and now - self._said > SAY_EVERY_SECONDS:
            self._said = now
            log.warning("broker_is_away", seconds=round(now - self._reached))


contact = Contact()


LOGIN_ERRORS = (SaslAuthenticationFailed, UnsupportedSaslMechanismError)


async def _connection(*arguments: Any, **options: Any) -> Any:
    """aiokafka's connection. Its client logs why one cannot be made, and says it to nobody."""
    try:
        connection = await create_conn(*arguments, **options)
    except LOGIN_ERRORS as error:
        _refused_login.set(error)
        raise
    _first.set(connection)
    return connection


_refused_login: ContextVar[Exception | None] = ContextVar("refused_login", default=None)
_first: ContextVar[Any] = ContextVar("first", default=None)
"""The connection over which a client that starts asks for the cluster."""


class PatientClient(AIOKafkaClient):  # type: ignore[misc]
    """Waits longer after each failed connection, and at the broker when nothing comes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waits: dict[Any, float] = {}
        self._empty_fetches = 0

    async def bootstrap(self) -> None:
        """Connect to one of the servers. Raises `SaslAuthenticationFailed` where the last of them
        refuses the login; `KafkaConnectionError` where none can be reached."""
        _refused_login.set(None)
        _first.set(None)
        try:
            await super().bootstrap()
        except KafkaConnectionError as error:
            raise (_refused_login.get() or error) from error
        except asyncio.CancelledError:
            # aiokafka leaves it open, since no list of its own has it yet.
            if connection := _first.get():
                connection.close()
            raise

    async def send(self, node_id: Any, request: Any, **options: Any) -> Any:
        if isinstance(request, (JoinGroupRequest, SyncGroupRequest)):
            # A broker answers these when all members have asked.
            return await super().send(node_id, request, **options)
        if isinstance(request, FetchRequest):
            return await self._fetch(node_id, request, options)
        response = await self._answer(node_id, request, options)
        if isinstance(request, OffsetRequest):
            answers = (answer for _, partitions in response.topics for answer in partitions)
            if any(answer[1] for answer in answers):
                # Of a node that leads the partition no longer: aiokafka would ask it for ever.
                self.force_metadata_update()
        return response

    async def _answer(self, node_id: Any, request: Any, options: dict[str, Any]) -> Any:
        try:
            with contact.asking():
                async with asyncio.timeout(REQUEST_SECONDS):
                    return await super().send(node_id, request, **options)
        except TimeoutError:
            place = node_id, options.get("group", ConnectionGroup.DEFAULT)
            if connection := self._conns.get(place):
                connection.close(reason=CloseReason.CONNECTION_TIMEOUT)
            raise RequestTimedOutError from None

    async def _fetch(self, node_id: Any, request: Any, options: dict[str, Any]) -> Any:
        if self._empty_fetches > IDLE_AFTER_FETCHES:
            request._max_wait_ms = max(request._max_wait_ms, IDLE_FETCH_MILLISECONDS)
        response = await self._answer(node_id, request, options)
        parts = (part for _, partitions in response.topics for part in partitions)
        # The records are the last field in every version of the answer; an error is looked into.
        empty = not any(part[-1] or part[1] for part in parts)
        self._empty_fetches = self._empty_fetches + 1 if empty else 0
        return response

    async def _get_conn(self, node_id: Any, **options: Any) -> Any:
        connection = await super()._get_conn(node_id, **options)
        if connection is not None:
            self._waits.pop(node_id, None)
            return connection
        contact.failed()
        wait = self._waits.get(node_id, FIRST_WAIT_SECONDS)
        self._waits[node_id] = min(2 * wait, LONGEST_WAIT_SECONDS)
        await asyncio.sleep(wait)
        return None


class MemberCoordinator(GroupCoordinator):  # type: ignore[misc]
    """aiokafka commits without a generation once its member was expelled, as one that slept too
    long is. Kafka takes that from anybody while the group has no member: offsets of a former
    generation took back what others had committed, where all of a role were stopped at once."""

    async def _do_commit_offsets(self, assignment: Any, offsets: Any) -> None:
        if self._subscription.partitions_auto_assigned() and self.generation < 0:
            # Faust goes on after these two words; aiokafka's own text breaks the line between them.
            raise CommitFailedError("already rebalanced: this member is in no generation")
        await super()._do_commit_offsets(assignment, offsets)


def back_off() -> None:
    """Let every aiokafka client of this process that is made from now on be patient."""
    for module in (aiokafka.admin.client, aiokafka.consumer.consumer, aiokafka.producer.producer):
        module.AIOKafkaClient = PatientClient
    aiokafka.client.create_conn = _connection
    aiokafka.consumer.consumer.GroupCoordinator = MemberCoordinator

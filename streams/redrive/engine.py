"""Puts the records of dead letters back: a canary first, the rest when that ended well.

Neither lost nor done twice: a batch is announced on ``redrives`` before its records are sent, and
ended when all are acknowledged. Where the process dies in between, the next call looks the records
up by their header, ends the batch with what is there, and takes up the rest. Should a record still
be sent twice, nothing comes of it: ids are made of content, so verdicts are the same (promise P3).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.structs import RecordMetadata

from safepassage.schemas import Coordinates, Redrive, stable_id
from safepassage.schemas.redrive import MAX_BATCH_LETTERS
from safepassage.streams.kafka.publisher import (
    RECORD_ERRORS,
    KafkaPublisher,
    PublishFailed,
    open_publisher,
    place_of,
)
from safepassage.streams.kafka.records import Outgoing, Redriven
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.runtime.tracing import TRACEPARENT
from safepassage.streams.settings import Settings
from safepassage.streams.topics import READ_BY, REDRIVES

from .history import LEASE, History, ends_of, is_under_way, published_of, utc_now
from .letters import Letter, Selection, inputs_of, records_of, survey
from .outcomes import before, outcomes

log = structlog.get_logger(__name__)

# A batch ends well within its lease, however slow the rate.
SEND_SECONDS = LEASE.total_seconds() / 2
BATCH_SECONDS = 10


@dataclass(frozen=True, slots=True)
class RedriveRequest:
    """What to put back, and how. ``rate`` is in records a second, ``limit`` and ``canary`` in
    letters; ``watch_seconds`` is how long the canary's outcome is waited for."""

    run: str
    by: str
    selection: Selection
    reason: str = ""
    max_redrives: int = 3
    canary: int = 5
    watch_seconds: float = 300
    rate: float = 50
    limit: int | None = None

    @property
    def batch(self) -> int:
        """How many letters a batch has: what the rate allows in `BATCH_SECONDS`."""
        return max(1, min(MAX_BATCH_LETTERS, int(self.rate * BATCH_SECONDS)))


@dataclass(slots=True)
class Plan:
    """The letters to put back, the oldest first; how many were put back before, how many are
    refused, by reason, and how many more than the limit there are."""

    letters: list[Letter]
    done: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    beyond_limit: int = 0


@dataclass(slots=True)
class RedriveResult:
    """What a run did. ``canary`` has the end of each canary's record: None where it ended well,
    else the error; ``unwatched`` are canaries of which nothing came in time."""

    published: dict[str, Coordinates] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    canary: dict[str, str | None] = field(default_factory=dict)
    unwatched: int = 0
    held_back: int = 0

    @property
    def canary_failed(self) -> bool:
        return bool(self.unwatched) or any(error for error in self.canary.values())


Tell = Callable[[RedriveResult], None]


async def settle(settings: Settings, history: History) -> int:
    """End the batches that were cut off, with what of them is on the topics; returns how many.

    Raises:
        OperatorError: one may still be under way.
        PublishFailed: the broker did not take it.
    """
    now = utc_now()
    for begun in history.open.values():
        if is_under_way(begun, now):
            wait = (begun.at + LEASE - now) / timedelta(seconds=1)
            raise OperatorError(
                f"run {begun.run} by {begun.by} is under way, or was just cut off: try again in "
                f"{wait:.0f} seconds"
            )
    cut_off = list(history.open.values())
    if cut_off:
        async with open_publisher(settings) as publisher:
            for begun in cut_off:
                found = await published_of(settings, begun)
                log.warning("redrive_cut_off", batch=begun.batch, published=len(found))
                await _publish(publisher, _ended(begun, found, {}))
        await history.update()
    return len(cut_off)


async def plan(settings: Settings, history: History, request: RedriveRequest) -> Plan:
    """What the request selects, with nothing changed."""
    selected = (await survey(settings, request.selection)).letters.values()
    inputs = await inputs_of(settings)
    made = Plan([], done=sum(letter.id in history.done for letter in selected))
    for letter in sorted(selected, key=lambda letter: (letter.written, letter.id)):
        if letter.id in history.done:
            continue
        if why := letter.refusal(inputs, request.max_redrives):
            made.refusals[why] += 1
        else:
            made.letters.append(letter)
    limit = request.limit or len(made.letters)
    made.beyond_limit = max(0, len(made.letters) - limit)
    del made.letters[limit:]
    return made


async def redrive(
    settings: Settings,
    history: History,
    letters: Sequence[Letter],
    request: RedriveRequest,
    tell: Tell = lambda _: None,
) -> RedriveResult:
    """Put the records of ``letters`` back. Where the canary does not end well, the rest stays.

    Raises:
        OperatorError: another run has its turn, or no canary can be watched.
        PublishFailed, aiokafka.errors.KafkaError: the broker did not take them; call again.
    """
    canary = [letter for letter in letters if letter.tells_its_end][: request.canary]
    if request.canary and letters and not canary:
        raise OperatorError(
            "only parts of answers are selected, and none of them tells its end: give --canary 0"
        )
    chosen = {letter.id for letter in canary}
    rest = [letter for letter in letters if letter.id not in chosen]
    async with open_publisher(settings) as publisher:
        run = _Run(publisher, settings, history, request)
        if canary:
            start = await before(settings)
            await run.send(canary, tell, canary=True)
            await _watch(settings, start, canary, request, run.result)
            tell(run.result)
        if run.result.canary_failed:
            run.result.held_back = len(rest)
        else:
            await run.send(rest, tell)
    return run.result


class _Run:
    """The batches of one call, one after another."""

    def __init__(
        self,
        publisher: KafkaPublisher,
        settings: Settings,
        history: History,
        request: RedriveRequest,
    ) -> None:
        self.result = RedriveResult()
        self._settings = settings
        self._history = history
        self._request = request
        self._publisher = publisher
        self._batches = 0

    async def send(self, letters: Sequence[Letter], tell: Tell, *, canary: bool = False) -> None:
        size = self._request.batch
        for first in range(0, len(letters), size):
            await self._batch(letters[first : first + size], canary)
            tell(self.result)

    async def _batch(self, letters: Sequence[Letter], canary: bool) -> None:
        begun = await self._begin(letters, canary)
        await self._history.update()
        if holder := self._history.holder(begun.batch):
            await _publish(self._publisher, _ended(begun, {}, {}))
            raise OperatorError(f"run {holder.run} by {holder.by} began first: try again later")
        fresh = [letter for letter in letters if letter.id not in self._history.done]
        published: dict[str, Coordinates] = {}
        refused: dict[str, str] = {}
        async with asyncio.timeout(SEND_SECONDS):
            await self._send_all(fresh, published, refused)
        await _publish(self._publisher, _ended(begun, published, refused))
        self.result.published |= published
        self.result.refused |= refused

    async def _begin(self, letters: Sequence[Letter], canary: bool) -> Redrive:
        self._batches += 1
        batch = stable_id("redrive-batch", self._request.run, str(self._batches))
        begun = Redrive(
            id=stable_id("redrive", batch, "begun"),
            run=self._request.run,
            batch=batch,
            step="begun",
            canary=canary,
            at=utc_now(),
            by=self._request.by,
            reason=self._request.reason,
            letters=tuple(letter.id for letter in letters),
            ends=await ends_of(self._settings, [letter.source for letter in letters]),
        )
        await _publish(self._publisher, begun)
        return begun

    async def _send_all(
        self, letters: Sequence[Letter], published: dict[str, Coordinates], refused: dict[str, str]
    ) -> None:
        loop = asyncio.get_running_loop()
        start, sending = loop.time(), dict[str, asyncio.Future[RecordMetadata]]()
        async for letter, key, value in records_of(self._settings, letters):
            await asyncio.sleep(max(0.0, start + len(sending) / self._request.rate - loop.time()))
            try:
                sending[letter.id] = await _put_back(self._publisher.producer, letter, key, value)
            except RECORD_ERRORS as error:
                refused[letter.id] = type(error).__name__
        for letter_id, future in sending.items():
            try:
                published[letter_id] = place_of(await future)
            except RECORD_ERRORS as error:
                refused[letter_id] = type(error).__name__


async def _put_back(
    producer: AIOKafkaProducer, letter: Letter, key: bytes | None, value: bytes
) -> asyncio.Future[RecordMetadata]:
    """The very bytes, into the partition that they came from: an order by key stays one. What is
    awaited of the result is the acknowledgement."""
    headers = [Redriven(letter.redriven + 1, letter.id).header()]
    if letter.traceparent:
        headers.append((TRACEPARENT, letter.traceparent.encode()))
    future: asyncio.Future[RecordMetadata] = await producer.send(
        letter.source.topic,
        value=value,
        key=key,
        partition=letter.source.partition,
        headers=headers,
    )
    return future


async def _watch(
    settings: Settings,
    start: Mapping[TopicPartition, int],
    canary: Sequence[Letter],
    request: RedriveRequest,
    result: RedriveResult,
) -> None:
    watched = {
        letter.id: result.published[letter.id] for letter in canary if letter.id in result.published
    }
    topics = {settings.topic(topic.name) for topic in READ_BY["extract"]}
    documents = [x.id for x in canary if x.source.topic in topics and x.id in watched]
    try:
        async with asyncio.timeout(request.watch_seconds):
            async for letter, error in outcomes(settings, start, watched, documents):
                result.canary[letter] = error
    except TimeoutError:
        result.unwatched = len(watched) - len(result.canary)


def _ended(begun: Redrive, published: dict[str, Coordinates], refused: dict[str, str]) -> Redrive:
    ended = {"id": stable_id("redrive", begun.batch, "ended"), "step": "ended", "at": utc_now()}
    return begun.model_copy(update=ended | {"published": published, "refused": refused})


async def _publish(publisher: KafkaPublisher, event: Redrive) -> None:
    if await publisher.publish([Outgoing(REDRIVES, event.run, event)]):
        raise PublishFailed("the broker refuses an event of the redrive")

"""Puts the records of dead letters back at a rate: a canary first, and the rest if that ends well.

Each batch is an event on ``redrives`` before its records are sent, and one when all are
acknowledged. What was not acknowledged is put back again by the next call, and so may be a batch
that two operators send at once: ids are made of content, so verdicts are the same (promise P3).
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.structs import RecordMetadata

from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    DocumentReport,
    Event,
    Redrive,
    Verdict,
    stable_id,
)
from safepassage.schemas.redrive import MAX_BATCH_LETTERS

from ..delivery.record_outcomes import FAULT_REASONS
from ..kafka.publisher import RECORD_ERRORS, KafkaPublisher, PublishFailed, open_publisher, place_of
from ..kafka.reading import ends, follow_topics, read_topics
from ..kafka.records import Outgoing, Record, Redriven, event_of
from ..runtime.errors import OperatorError
from ..runtime.tracing import TRACEPARENT
from ..settings import Settings
from ..topics import ACCEPTED, DEAD_LETTERS, QUARANTINE, READ_BY, REDRIVABLE, REDRIVES, REPORTS
from .letters import Letter, Selection, records_of, survey

OUTCOME_TOPICS = (REPORTS, ACCEPTED, QUARANTINE, DEAD_LETTERS)


async def outcomes(
    settings: Settings,
    start: Mapping[TopicPartition, int],
    letters: Sequence[Letter],
    published: Mapping[str, Coordinates],
) -> AsyncIterator[tuple[str, str | None]]:
    """How the records of those of ``letters`` end that were ``published`` (by id), as it comes: the
    letter's id, and the error where it failed again. A whole document or answer ends with its
    report, all else with a verdict.
    """
    models = {settings.topic(topic.name): topic.model for topic in OUTCOME_TOPICS}
    documents = {settings.topic(topic.name) for topic in READ_BY["extract"]}
    remaining = {letter.id for letter in letters} & published.keys()
    whole = [x.id for x in letters if x.id in remaining and x.source.topic in documents]
    places = {published[letter]: letter for letter in whole}
    async with contextlib.aclosing(follow_topics(settings, OUTCOME_TOPICS, start=start)) as records:
        while remaining:
            record = await anext(records)
            event = event_of(record, models[record.topic])
            letter, error = _end(record, event, places)
            if letter in remaining and not (isinstance(event, Verdict) and letter in whole):
                remaining.discard(letter)
                yield letter, error


def _end(
    record: Record, event: Event | None, places: Mapping[Coordinates, str]
) -> tuple[str | None, str | None]:
    """The letter that ``event`` is the end of, and what went wrong."""
    match event:
        case DeadLetter():
            return event.redrive_of, event.error
        case DocumentReport():
            about = event.document.coordinates
            ended_badly = event.dead_lettered or event.missing
            letter = places.get(about) if about else None
            return letter, "IncompleteReport" if ended_badly else None
        case Verdict():
            told = record.redriven
            faults = [reason for reason in event.reasons if reason in FAULT_REASONS]
            return told.letter if told else None, faults[0] if faults else None
        case _:
            return None, None


SEND_SECONDS = 60.0
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
    """The letters to put back, oldest first; those done, refused, and beyond the limit."""

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


async def put_back_before(settings: Settings) -> set[str]:
    """The letters that were put back, or that the broker refuses for good."""
    done: set[str] = set()
    async for record in read_topics(settings, [REDRIVES]):
        if event := event_of(record, Redrive):
            done |= event.published.keys() | event.refused.keys()
    return done


async def plan(settings: Settings, done: Set[str], request: RedriveRequest) -> Plan:
    """What the request selects, with nothing changed; ``done`` were put back before."""
    found, _ = await survey(settings, request.selection)
    selected = found.values()
    # A letter names its source, and anybody who may write letters could name any topic.
    inputs = frozenset(await ends(settings, REDRIVABLE))
    made = Plan([], done=sum(letter.id in done for letter in selected))
    for letter in sorted(selected, key=lambda letter: (letter.written, letter.id)):
        source, redriven = letter.source, letter.redriven
        if letter.id in done:
            continue
        if TopicPartition(source.topic, source.partition) not in inputs:
            made.refusals["it comes from no input of extract, align or score"] += 1
        elif letter.bytes is None:
            made.refusals["it holds no bytes to put back"] += 1
        elif redriven >= request.max_redrives:
            why = f"redriven {redriven} times before, and --max-redrives is {request.max_redrives}"
            made.refusals[why] += 1
        else:
            made.letters.append(letter)
    limit = request.limit or len(made.letters)
    made.beyond_limit = max(0, len(made.letters) - limit)
    del made.letters[limit:]
    return made


async def redrive(
    settings: Settings,
    letters: Sequence[Letter],
    request: RedriveRequest,
    tell: Callable[[RedriveResult], None] = lambda _: None,
) -> RedriveResult:
    """Put the records of ``letters`` back. Where the canary does not end well, the rest stays."""
    canary = [letter for letter in letters if letter.tells_its_end][: request.canary]
    if request.canary and letters and not canary:
        raise OperatorError(
            "only parts of answers are selected, and none of them tells its end: give --canary 0"
        )
    chosen = {letter.id for letter in canary}
    rest = [letter for letter in letters if letter.id not in chosen]
    result = RedriveResult()
    async with open_publisher(settings) as publisher:

        async def send(letters: Sequence[Letter], *, canary: bool) -> None:
            for first in range(0, len(letters), request.batch):
                batch = letters[first : first + request.batch]
                await _batch(settings, publisher, batch, request, result, canary=canary)
                tell(result)

        if canary:
            start = await ends(settings, OUTCOME_TOPICS)
            await send(canary, canary=True)
            try:
                async with asyncio.timeout(request.watch_seconds):
                    async for letter, error in outcomes(settings, start, canary, result.published):
                        result.canary[letter] = error
            except TimeoutError:
                result.unwatched = len(result.published) - len(result.canary)
            tell(result)
        if result.canary_failed:
            result.held_back = len(rest)
        else:
            await send(rest, canary=False)
    return result


async def _batch(
    settings: Settings,
    publisher: KafkaPublisher,
    letters: Sequence[Letter],
    request: RedriveRequest,
    result: RedriveResult,
    *,
    canary: bool,
) -> None:
    batch = stable_id("redrive-batch", request.run, letters[0].id)
    begun = Redrive(
        id=stable_id("redrive", batch, "begun"),
        run=request.run,
        batch=batch,
        step="begun",
        canary=canary,
        at=datetime.now(UTC),
        by=request.by,
        reason=request.reason,
        letters=tuple(letter.id for letter in letters),
    )
    await _say(publisher, begun)
    published: dict[str, Coordinates] = {}
    refused: dict[str, str] = {}
    sending: dict[str, asyncio.Future[RecordMetadata]] = {}
    clock = asyncio.get_running_loop().time
    start = clock()
    async with asyncio.timeout(SEND_SECONDS):
        async for letter, key, value in records_of(settings, letters):
            await asyncio.sleep(max(0.0, start + len(sending) / request.rate - clock()))
            try:
                sending[letter.id] = await _put_back(publisher.producer, letter, key, value)
            except RECORD_ERRORS as error:
                refused[letter.id] = type(error).__name__
        for letter_id, future in sending.items():
            try:
                published[letter_id] = place_of(await future)
            except RECORD_ERRORS as error:
                refused[letter_id] = type(error).__name__
    ended: dict[str, object] = {"id": stable_id("redrive", batch, "ended"), "step": "ended"}
    ended |= {"at": datetime.now(UTC), "published": published, "refused": refused}
    await _say(publisher, begun.model_copy(update=ended))
    result.published |= published
    result.refused |= refused


async def _put_back(
    producer: AIOKafkaProducer, letter: Letter, key: bytes | None, value: bytes
) -> asyncio.Future[RecordMetadata]:
    """The very bytes, into the partition that they came from: an order by key stays one."""
    headers = [Redriven(letter.redriven + 1, letter.id).header()]
    if letter.traceparent:
        headers.append((TRACEPARENT, letter.traceparent.encode()))
    topic, partition = letter.source.topic, letter.source.partition
    sending = producer.send(topic, value=value, key=key, partition=partition, headers=headers)
    future: asyncio.Future[RecordMetadata] = await sending
    return future


async def _say(publisher: KafkaPublisher, event: Redrive) -> None:
    if await publisher.publish([Outgoing(REDRIVES, event.run, event)]):
        raise PublishFailed("the broker refuses an event of the redrive")

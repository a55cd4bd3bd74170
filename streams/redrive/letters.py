"""The dead letters that there are, and which of them may be redriven."""

import contextlib
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiokafka import TopicPartition

from safepassage.schemas import Coordinates, DeadLetter, Stage
from safepassage.streams.delivery.dead_letter_event import contents
from safepassage.streams.kafka.reading import ends, offsets_since, read_between, read_topics
from safepassage.streams.kafka.records import (
    ErasedRecord,
    Record,
    UnreadableRecord,
    decode,
    event_of,
)
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS, REDRIVABLE

MAX_SELECTED = 100_000


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter without its record's bytes. ``place`` is where the letter itself is,
    ``source`` where its record stood; ``bytes`` is the size of the record's value."""

    id: str
    place: Coordinates
    written: datetime
    stage: Stage
    error: str
    detail: str
    source: Coordinates
    doc_id: str | None
    extraction_id: str | None
    in_parts: bool
    attempts: int
    redriven: int
    bytes: int | None
    readable: bool
    traceparent: str | None

    @property
    def tells_its_end(self) -> bool:
        """Whether something on a topic says what became of its record: of the parts of an answer
        only the last one has a report."""
        return self.extraction_id is not None or not self.in_parts

    def refusal(self, inputs: Collection[TopicPartition], max_redrives: int) -> str | None:
        """Why its record may not be put back, or None; ``inputs`` are those of `inputs_of`."""
        if TopicPartition(self.source.topic, self.source.partition) not in inputs:
            return "it comes from no input of extract, align or score"
        if not self.readable:
            return "it holds no bytes to put back"
        if self.redriven >= max_redrives:
            return f"redriven {self.redriven} times before, and --max-redrives is {max_redrives}"
        return None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which letters: all conditions have to hold; an empty one holds for every letter. Times are
    when the letter was written, the second one exclusive."""

    errors: Collection[str] = ()
    stages: Collection[str] = ()
    ids: Collection[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: Letter) -> bool:
        return (
            (not self.errors or letter.error in self.errors)
            and (not self.stages or letter.stage in self.stages)
            and (not self.ids or letter.id in self.ids)
            and (self.since is None or letter.written >= self.since)
            and (self.until is None or letter.written < self.until)
        )


@dataclass(slots=True)
class Survey:
    """The letters of a selection, each once, by id; ``unread`` counts records on the topic that
    are no letters."""

    letters: dict[str, Letter] = field(default_factory=dict)
    unread: int = 0


async def survey(settings: Settings, selection: Selection) -> Survey:
    """The letters that ``selection`` takes. A repetition of a letter has its id and is left out.

    Raises:
        UnknownTopic: the topic is missing.
        OperatorError: there are more than a command can hold.
    """
    found = Survey()
    since = selection.since
    start = await offsets_since(settings, [DEAD_LETTERS], since) if since else None
    async for record in read_topics(settings, [DEAD_LETTERS], start=start):
        try:
            event = decode(record, DeadLetter).event
        except ErasedRecord:
            continue
        except UnreadableRecord:
            found.unread += 1
            continue
        letter = _letter(event, record)
        if selection.takes(letter):
            found.letters.setdefault(letter.id, letter)
        if len(found.letters) > MAX_SELECTED:
            raise OperatorError(
                f"more than {MAX_SELECTED} dead letters: narrow --error, --stage, --since, --until"
            )
    return found


async def inputs_of(settings: Settings) -> frozenset[TopicPartition]:
    """The partitions onto which a record may be put back: a letter names its source, and anybody
    who may write letters could name any.

    Raises:
        UnknownTopic: one of the topics is missing.
    """
    return frozenset(await ends(settings, REDRIVABLE))


async def records_of(
    settings: Settings, letters: Iterable[Letter]
) -> AsyncIterator[tuple[Letter, bytes | None, bytes]]:
    """Key and value of the record of each of ``letters``, read from where the letter is."""
    wanted: Mapping[Coordinates, Letter] = {letter.place: letter for letter in letters}
    ranges: dict[TopicPartition, tuple[int, int]] = {}
    for place in wanted:
        tp = TopicPartition(place.topic, place.partition)
        first, stop = ranges.get(tp, (place.offset, place.offset + 1))
        ranges[tp] = min(first, place.offset), max(stop, place.offset + 1)
    async for record in read_between(settings, ranges):
        if letter := wanted.get(record.coordinates):
            with contextlib.suppress(ErasedRecord):  # since it was selected
                key, value = contents(decode(record, DeadLetter).event)
                if value is not None:
                    yield letter, key, value


async def letter_by_id(settings: Settings, letter_id: str) -> DeadLetter | None:
    """The whole letter, or None where nothing has this id."""
    records = read_topics(settings, [DEAD_LETTERS])
    async with contextlib.aclosing(records):
        async for record in records:
            event = event_of(record, DeadLetter)
            if event and event.id == letter_id:
                return event
    return None


def _letter(event: DeadLetter, record: Record) -> Letter:
    try:
        value = contents(event)[1]
    except ValueError:  # not base64: somebody else wrote it
        value = None
    return Letter(
        id=event.id,
        place=record.coordinates,
        written=datetime.fromtimestamp(max(0, record.timestamp) / 1000, UTC),
        stage=event.stage,
        error=event.error,
        detail=event.detail,
        source=event.source,
        doc_id=event.doc_id,
        extraction_id=event.extraction_id,
        in_parts=event.in_parts,
        attempts=event.attempts,
        redriven=event.redriven,
        bytes=None if value is None else len(value),
        readable=value is not None,
        traceparent=record.traceparent,
    )

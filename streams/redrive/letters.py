"""The dead letters that there are, and which of them may be redriven."""

import contextlib
from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from safepassage.schemas import Coordinates, DeadLetter, Stage

from ..delivery.dead_letter_event import contents
from ..kafka.reading import offsets_since, read_at, read_topics
from ..kafka.records import ErasedRecord, Record, UnreadableRecord, decode, event_of
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import DEAD_LETTERS

MAX_SELECTED = 100_000


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter without its record, as many are held at once. ``place`` is where the letter is,
    ``bytes`` how many its record's value has; None where it holds none to put back."""

    place: Coordinates
    written: datetime
    bytes: int | None
    traceparent: str | None
    id: str
    stage: Stage
    error: str
    detail: str
    source: Coordinates
    doc_id: str | None
    extraction_id: str | None
    in_parts: bool
    attempts: int
    redriven: int

    @property
    def tells_its_end(self) -> bool:
        """Whether a topic says what became of its record: of an answer's parts only the last."""
        return self.extraction_id is not None or not self.in_parts


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


async def survey(settings: Settings, selection: Selection) -> tuple[dict[str, Letter], int]:
    """The letters that ``selection`` takes, by id, and how many records are no letters. A
    repetition of a letter has its id and is left out."""
    found: dict[str, Letter] = {}
    unread = 0
    since = selection.since
    start = await offsets_since(settings, [DEAD_LETTERS], since) if since else None
    async for record in read_topics(settings, [DEAD_LETTERS], start=start):
        try:
            letter = _letter(decode(record, DeadLetter).event, record)
        except ErasedRecord:
            continue
        except UnreadableRecord:
            unread += 1
            continue
        if selection.takes(letter):
            found.setdefault(letter.id, letter)
        if len(found) > MAX_SELECTED:
            raise OperatorError(
                f"more than {MAX_SELECTED} dead letters: narrow --error, --stage, --since, --until"
            )
    return found, unread


async def records_of(
    settings: Settings, letters: Iterable[Letter]
) -> AsyncIterator[tuple[Letter, bytes | None, bytes]]:
    """Key and value of each letter's record, in order, but those of erased documents."""
    wanted = {letter.place: letter for letter in letters}
    for place, record in (await read_at(settings, wanted)).items():
        with contextlib.suppress(ErasedRecord):
            key, value = contents(decode(record, DeadLetter).event)
            if value is not None:
                yield wanted[place], key, value


async def letter_by_id(settings: Settings, letter_id: str) -> DeadLetter | None:
    records = read_topics(settings, [DEAD_LETTERS])
    async with contextlib.aclosing(records):
        async for record in records:
            event = event_of(record, DeadLetter)
            if event and event.id == letter_id:
                return event
    return None


_TOLD = [one.name for one in fields(Letter) if one.name in DeadLetter.model_fields]


def _letter(event: DeadLetter, record: Record) -> Letter:
    value = None
    with contextlib.suppress(ValueError):  # not base64: somebody else wrote it
        value = contents(event)[1]
    return Letter(
        place=record.coordinates,
        written=datetime.fromtimestamp(max(0, record.timestamp) / 1000, UTC),
        bytes=None if value is None else len(value),
        traceparent=record.traceparent,
        **{name: getattr(event, name) for name in _TOLD},
    )

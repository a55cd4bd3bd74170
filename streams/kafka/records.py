"""Records on their way in and out, and how events become bytes."""

import re
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from pydantic import ValidationError

from safepassage.schemas import Coordinates, Document, Event, Response, stable_id
from safepassage.schemas.jsonl import validation_summary

from ..runtime.tracing import TRACEPARENT, valid_traceparent
from ..sealing.frame import SealBroken, is_sealed
from ..sealing.key_tree import KeyGone
from ..topics import Topic
from .erasures_and_seals import NOTHING_ERASED, Protection
from .schema_registry import unframed

E = TypeVar("E", bound=Event)

VERSION_HEADER = "safepassage-version"
BORN_HEADER = "safepassage-born"
ANEW_HEADER = "safepassage-anew"
REDRIVEN_HEADER = "safepassage-redriven"
BORN_DIGITS = 15
OLDEST_MILLISECONDS = 7 * 24 * 3600 * 1000
SENT_BY_PEOPLE: tuple[type[Event], ...] = (Document, Response)


REDRIVEN = re.compile(rb"([1-9][0-9]{0,3}) ([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Redriven:
    """That a record goes back to a dead letter: how often, and which the last letter was."""

    count: int
    letter: str

    def header(self) -> tuple[str, bytes]:
        return REDRIVEN_HEADER, f"{self.count} {self.letter}".encode()


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it was consumed. ``timestamp`` is in milliseconds since the epoch;
    ``protection`` knows which documents were erased where it is."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None = field(repr=False)
    timestamp: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()
    protection: Protection = field(default=NOTHING_ERASED, repr=False, compare=False)

    @property
    def born(self) -> int:
        """When what this record goes back to was written: the document, for most. Anyone who writes
        the header can only make things look slower than they are, and no older than a week."""
        value = self._header(BORN_HEADER)
        if not value.isdigit() or len(value) > BORN_DIGITS:
            return self.timestamp
        return max(self.timestamp - OLDEST_MILLISECONDS, min(int(value), self.timestamp))

    @property
    def anew(self) -> bool:
        """Whether an LLM is to be asked although it answered the same text before."""
        return any(name == ANEW_HEADER for name, _ in self.headers)

    @property
    def redriven(self) -> Redriven | None:
        """The dead letter that this record goes back to, if there is one."""
        told = REDRIVEN.fullmatch(self._header(REDRIVEN_HEADER))
        return Redriven(int(told[1]), told[2].decode()) if told else None

    @property
    def traceparent(self) -> str | None:
        """The trace context (W3C) that the record came with."""
        return valid_traceparent(self._header(TRACEPARENT))

    def _header(self, name: str) -> bytes:
        return next((value or b"" for key, value in self.headers if key == name), b"")

    @property
    def coordinates(self) -> Coordinates:
        return Coordinates(topic=self.topic, partition=self.partition, offset=self.offset)


@dataclass(frozen=True, slots=True)
class Received(Generic[E]):
    """A record whose value was understood."""

    record: Record
    event: E


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An event to publish. Records of one key keep their order, and the key is the document id,
    so that everything about a document is in one partition of each topic. ``born`` is when the
    record was written that it all goes back to, in milliseconds since the epoch; for ``anew`` see
    `Record`; ``redriven`` and ``traceparent`` are those of the record it was made from."""

    topic: Topic
    key: str
    event: Event
    born: int | None = field(default=None, compare=False)
    anew: bool = False
    redriven: Redriven | None = field(default=None, compare=False)
    traceparent: str | None = field(default=None, compare=False)

    def encoded_key(self) -> bytes:
        return self.key.encode("utf-8", "replace")

    def headers(self) -> list[tuple[str, bytes]]:
        headers = [(VERSION_HEADER, str(self.event.version).encode())]
        if self.born is not None:
            headers.append((BORN_HEADER, b"%d" % self.born))
        if self.redriven is not None:
            headers.append(self.redriven.header())
        if self.traceparent is not None:
            headers.append((TRACEPARENT, self.traceparent.encode()))
        return [*headers, (ANEW_HEADER, b"1")] if self.anew else headers


def cloud_event(outgoing: Outgoing, topic: str, value: bytes) -> list[tuple[str, bytes]]:
    """The headers of CloudEvents 1.0 in its binary mode for Kafka, for a record of ``topic`` on the
    broker. Delivered again, an event has its id again."""
    event = outgoing.event
    own = getattr(event, "id", None)
    name = own if isinstance(own, str) else stable_id("event", event.model_dump_json())
    said = {
        "ce_specversion": "1.0",
        "ce_id": name,
        "ce_source": f"/safepassage/{topic}",
        "ce_type": f"safepassage.{type(event).__name__}.v{event.version}",
        "content-type": "application/octet-stream" if is_sealed(value) else "application/json",
    }
    return [(header, text.encode()) for header, text in said.items()]


class UnreadableRecord(ValueError):
    """A record's value is not an event of its topic. The message names fields, never contents."""


class ErasedRecord(UnreadableRecord):
    """The record is of a document that was erased. It is passed over, and is no dead letter."""

    def __init__(self) -> None:
        super().__init__("its document was erased")


def is_erased(record: Record) -> bool:
    """Whether a record's key names an erased document; its value is not looked at."""
    return record.protection.erased_key(record.key)


def outcome_of(error: UnreadableRecord) -> str:
    """How a record ended that was only to be counted: a label of `metrics.RECORDS`."""
    return "erased" if isinstance(error, ErasedRecord) else "unreadable"


def opened_value(record: Record) -> bytes:
    """A record's value, opened where it is sealed. Raises `ErasedRecord` where its key was deleted;
    `UnreadableRecord` where the seal does not open."""
    value = record.value or b""
    if not is_sealed(value):
        return unframed(value)
    try:
        return record.protection.opened(value, record.topic, record.key)
    except KeyGone:
        raise ErasedRecord from None
    except SealBroken as error:
        raise UnreadableRecord(str(error)) from None


def decode(record: Record, model: type[E]) -> Received[E]:
    """Read ``record`` as an event of ``model``.

    Fields that a later version added are passed over, so that workers of two versions run side by
    side. What people send is read to the letter: a field misspelt there would be lost in silence.

    Raises:
        ErasedRecord: its document was erased.
        UnreadableRecord: the value is null, not JSON, of another version, not such an event, or
            its seal does not open.
    """
    if is_erased(record):
        raise ErasedRecord
    if record.value is None:
        raise UnreadableRecord("the value is null")
    value = opened_value(record)
    try:
        extra: Literal["forbid", "ignore"] = "forbid" if model in SENT_BY_PEOPLE else "ignore"
        event = model.model_validate_json(value, extra=extra)
    except ValidationError as error:
        raise UnreadableRecord(validation_summary(error)) from None
    if record.protection.erased_event(event):
        raise ErasedRecord
    return Received(record, event)


def event_of(record: Record, model: type[E]) -> E | None:
    """The event of ``model`` in ``record``; None where `decode` finds none."""
    try:
        return decode(record, model).event
    except UnreadableRecord:
        return None

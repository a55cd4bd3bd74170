"""A compacted topic as a table: the latest event of each key, read to the end and followed."""

from collections.abc import Callable, Collection
from typing import ClassVar, Generic, Self, TypeVar

import structlog
from aiokafka import TopicPartition

from safepassage.schemas import Event

from ..runtime.local_database import TemporaryDatabase
from ..settings import Settings
from ..topics import Topic
from .reading import follow_topics, read_topics
from .records import ErasedRecord, Record, UnreadableRecord, decode

log = structlog.get_logger(__name__)

E = TypeVar("E", bound=Event)

_SCHEMA = "CREATE TABLE latest (key TEXT PRIMARY KEY, event BLOB NOT NULL) WITHOUT ROWID"


class TopicTable(TemporaryDatabase, Generic[E]):
    """The latest event of each key on ``topic``. For one thread.

    A temporary database: its memory is bounded, however many keys there are, and a look-up takes
    some microseconds. What is lost with the process is read again from the topic.
    """

    topic: ClassVar[Topic]
    model: type[E]

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self.next_offset = 0
        """One past the last record that was noted; for a topic with one partition."""
        self.on_change: Callable[[str], None] = lambda _: None
        """Told the key of every event that is put in or taken out."""

    def key_of(self, event: E) -> str:
        raise NotImplementedError

    def takes(self, event: E) -> bool:
        """Whether ``event`` replaces what is under its key; else it is passed over."""
        return True

    def note(self, record: Record) -> None:
        """Count one record. A tombstone takes its key out."""
        self.next_offset = record.offset + 1
        if record.value is None:
            self.forget((record.key or b"").decode("utf-8", "replace"))
            return
        try:
            event = decode(record, self.model).event
        except ErasedRecord:
            return
        except UnreadableRecord as error:
            log.warning("not_an_event", topic=self.topic.name, problem=str(error), at=record.offset)
            return
        if self.takes(event):
            self.put(event)

    def get(self, key: str) -> E | None:
        row = self.one("SELECT event FROM latest WHERE key = ?", key)
        return self.model.model_validate_json(row[0]) if row else None

    def keys(self) -> list[str]:
        return [row[0] for row in self.connection.execute("SELECT key FROM latest")]

    def put(self, event: E) -> None:
        key = self.key_of(event)
        self.connection.execute(
            "INSERT OR REPLACE INTO latest VALUES (?, ?)", (key, event.to_json())
        )
        self.on_change(key)

    def forget(self, key: str) -> None:
        self.connection.execute("DELETE FROM latest WHERE key = ?", (key,))
        self.on_change(key)

    def clear(self) -> None:
        """Take out everything; nobody is told."""
        self.connection.execute("DELETE FROM latest")

    async def read(self, settings: Settings, partitions: Collection[int] | None = None) -> Self:
        """Note all that is on the topic now, or on these of its partitions."""
        chosen = None if partitions is None else sorted(partitions)
        async for record in read_topics(settings, [self.topic], partitions=chosen):
            self.note(record)
        return self

    async def follow(self, settings: Settings) -> None:
        """Note what comes after what was read, until cancelled."""
        start = {TopicPartition(settings.topic(self.topic.name), 0): self.next_offset}
        async for record in follow_topics(settings, [self.topic], start=start):
            self.note(record)

"""What this process knows of erased documents: the topic ``erasures``, read into memory.

Every record that is read asks here (`safepassage.streams.kafka.records.decode`), and so does every
event that is published. So no role has to know that documents can be erased. Bounded reads read
the topic first; a role follows it for as long as it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from pydantic import ValidationError

from safepassage.schemas import Erasure, Event, document_id
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ERASURES, Topic

log = structlog.get_logger(__name__)

FOLLOWED: tuple[Topic, ...] = (ERASURES,)
FRESH_SECONDS = 1.0
"""Reads that follow one another this soon share what is known."""


class Protection:
    """The erased documents of one cluster. For one thread."""

    def __init__(self) -> None:
        self.erasures: dict[str, Erasure] = {}
        self.offsets: dict[str, int] = {}
        """One past the last record read, by the topic's name on the broker."""
        self._listeners: list[Callable[[str], None]] = []
        self._read_at = float("-inf")

    def note(self, record_topic: str, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Count one record of a followed topic. What is no erasure is left out."""
        self.offsets[record_topic] = max(offset + 1, self.offsets.get(record_topic, 0))
        if value is None:
            self.erasures.pop((key or b"").decode("utf-8", "replace"), None)
            return
        try:
            erasure = Erasure.model_validate_json(value, extra="ignore")
        except ValidationError:
            log.warning("not_an_erasure", offset=offset)
            return
        self.add(erasure)

    def add(self, erasure: Erasure) -> None:
        """Count an erasure, and tell the listeners where it is a new one."""
        new = erasure.doc_id not in self.erasures
        self.erasures[erasure.doc_id] = erasure
        if new:
            for listener in list(self._listeners):
                listener(erasure.doc_id)

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Tell ``listener`` the id of every document that is erased from now on; returns what ends
        that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def for_erasing(self) -> Protection:
        """What the same cluster's records are read with to erase what they name."""
        return Protection()

    def erased(self, doc_id: str | None) -> bool:
        """Whether the document of that id was erased."""
        return doc_id in self.erasures

    def erased_key(self, key: bytes | None) -> bool:
        """Whether a record's key names an erased document."""
        return bool(self.erasures) and (key or b"").decode("utf-8", "replace") in self.erasures

    def erased_event(self, event: Event) -> bool:
        """Whether an event is about an erased document."""
        return bool(self.erasures) and document_id(event) in self.erasures

    @property
    def fresh(self) -> bool:
        """Whether the topic was read to its end a moment ago."""
        return 0 <= asyncio.get_running_loop().time() - self._read_at < FRESH_SECONDS

    def caught_up(self) -> None:
        """The topic was read to its end just now."""
        self._read_at = asyncio.get_running_loop().time()


NOTHING_ERASED = Protection()
_OF_CLUSTERS: dict[tuple[str, str], Protection] = {}


def protection(settings: Settings) -> Protection:
    """What this process knows of the cluster and topics of ``settings``."""
    place = settings.kafka_bootstrap_servers, settings.topic_prefix
    return _OF_CLUSTERS.setdefault(place, Protection())

"""What this process knows of erased documents, and of the keys of all others.

Every record that is read asks here (`safepassage.streams.kafka.records.decode`), and so does every
event that is published: no role has to know that documents can be erased, or that records are
sealed. Bounded reads read ``erasures`` and ``keys`` first; a role follows them as long as it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog
from pydantic import ValidationError

from safepassage.schemas import DeadLetter, Erasure, Event, MemorySnapshot, document_id

from ..runtime.errors import OperatorError
from ..sealing.frame import SealBroken
from ..settings import Settings
from ..topics import ACCEPTED, ERASURES, KEYS, QUARANTINE, Topic

if TYPE_CHECKING:
    from ..sealing.seals import Seals

log = structlog.get_logger(__name__)

FRESH_SECONDS = 1.0  # Reads that follow one another this soon share what is known


class SealedRecord(OperatorError):
    """A record is sealed, and this process has no keys."""


class Protection:
    """The erased documents of one cluster, and what seals records there. For one thread."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.erasures: dict[str, Erasure] = {}
        self.offsets: dict[str, int] = {}
        """One past the last record read, by the topic's name on the broker."""
        self.seals: Seals | None = None
        self._plain: tuple[Topic, ...] = ()
        self._keys_exist = False
        self._topics: dict[str, Topic] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._read_at = float("-inf")
        if settings is None:
            return
        self._topics[settings.topic(ERASURES.name)] = ERASURES
        self._topics[settings.topic(KEYS.name)] = KEYS
        if settings.keys_file:
            from ..sealing.seals import Seals  # noqa: PLC0415 (an extra)

            self.seals = Seals(settings.keys_file)
            self._plain = (ACCEPTED, QUARANTINE) if settings.plain_verdicts else ()

    @property
    def followed(self) -> list[str]:
        """The topics that it is made of, by their names on the broker."""
        return list(self._topics)

    def note(self, topic: str, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Count one record of a followed topic. What is no erasure is left out."""
        self.offsets[topic] = max(offset + 1, self.offsets.get(topic, 0))
        if self._topics.get(topic) is KEYS:
            self._keys_exist = self._keys_exist or value is not None
            if self.seals:
                self.seals.note(key, value)
            return
        if value is None:
            self.erasures.pop((key or b"").decode("utf-8", "replace"), None)
            return
        try:
            self.add(Erasure.model_validate_json(value, extra="ignore"))
        except ValidationError:
            log.warning("not_an_erasure", offset=offset)

    def add(self, erasure: Erasure) -> None:
        """Count an erasure, and tell the listeners where it is a new one."""
        new = erasure.doc_id not in self.erasures
        self.erasures[erasure.doc_id] = erasure
        if new:
            for listener in list(self._listeners):
                listener(erasure.doc_id)

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Tell ``listener`` the id of each document erased from now on; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def for_erasing(self) -> Protection:
        """What the same cluster's records are read with to erase what they name."""
        other = Protection()
        other.seals, other._keys_exist = self.seals, self._keys_exist
        return other

    def erased(self, doc_id: str) -> bool:
        return doc_id in self.erasures or (self.seals is not None and self.seals.gone(doc_id))

    def erased_key(self, key: bytes | None) -> bool:
        return bool(self.erasures) and (key or b"").decode("utf-8", "replace") in self.erasures

    def erased_event(self, event: Event) -> bool:
        doc_id = document_id(event)
        return doc_id is not None and self.erased(doc_id)

    def sealed(self, event: Event, topic: Topic, name: str, key: bytes) -> bytes:
        """The value of ``event`` on ``topic``, which the broker knows by ``name``: sealed, where
        that is configured and it is about a document. Raises `KeyGone` where that was erased."""
        value, subject = event.to_json(), _subject(event, key)
        if self.seals is None or subject is None or topic in self._plain:
            return value
        return self.seals.seal(value, subject, name, key)

    def opened(self, value: bytes, topic: str, key: bytes | None) -> bytes:
        """What a sealed record of ``topic``, as the broker knows it, holds. Raises `KeyGone` where
        its document was erased; `SealBroken` where it was altered or moved."""
        if not self._keys_exist:  # who may write to a topic must not be able to stop a role by it
            raise SealBroken("sealed, and there are no keys here")
        if self.seals is None:
            raise SealedRecord(f"a record on {topic} is sealed: set SAFEPASSAGE_KEYS_FILE")
        return self.seals.open(value, topic, key)

    @property
    def fresh(self) -> bool:
        """Whether its topics were read to their ends a moment ago."""
        return 0 <= asyncio.get_running_loop().time() - self._read_at < FRESH_SECONDS

    def caught_up(self) -> None:
        """Its topics were read to their ends just now."""
        self._read_at = asyncio.get_running_loop().time()


def _subject(event: Event, key: bytes) -> str | None:
    """Under whose key an event is sealed; None for what stays plain."""
    match event:
        case MemorySnapshot():  # of several documents: it is deleted by itself
            return event.name
        case DeadLetter(doc_id=None):
            return key.decode()
        case _:
            return document_id(event)


NOTHING_ERASED = Protection()
_OF_CLUSTERS: dict[tuple[object, ...], Protection] = {}


def protection(settings: Settings) -> Protection:
    """What this process knows of the cluster and topics of ``settings``."""
    cluster = settings.kafka_bootstrap_servers, settings.topic_prefix
    place = *cluster, settings.keys_file, settings.plain_verdicts
    if place not in _OF_CLUSTERS:
        _OF_CLUSTERS[place] = Protection(settings)
    return _OF_CLUSTERS[place]

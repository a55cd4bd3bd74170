"""Verdicts as a consumer wants them: every effect once, though delivery is at-least-once.

A verdict's id is made of its document, its extraction and the scorer's revision (promise P3), so
a repetition has the id of the first. It may differ in where it came from: the coordinates of a
document that was submitted twice, the tokens that a second call to an LLM took. If it says anything
else, that is a `Conflict`, and is reported.
"""

import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from safepassage.schemas import Coordinates, Verdict

from ..kafka.reading import read_topics
from ..kafka.records import ErasedRecord, Received, UnreadableRecord, decode
from ..runtime.local_database import TemporaryDatabase
from ..settings import Settings
from ..topics import ACCEPTED, QUARANTINE, Topic

VERDICT_TOPICS = (ACCEPTED, QUARANTINE)

# About 200 bytes each, on disk. Repetitions come soon after the first, after a restart or a
# rebalance.
REMEMBERED_VERDICTS = 2_000_000
_SCHEMA = """
CREATE TABLE ids (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, note BLOB NOT NULL);
"""
DIGEST_BYTES = 16
# Who extracted it, from which record, and what the calls took: not what the verdict says.
_PROVENANCE = {
    "document": {"coordinates"},
    "former": {"record": True, "document": {"coordinates"}},
    "extractor": True,
    "scorers": {"__all__": {"usage"}},
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two records with one verdict id that say different things. The first was kept."""

    verdict_id: str
    first: Coordinates
    second: Coordinates

    def __str__(self) -> str:
        return f"verdict {self.verdict_id}: {self.second} contradicts {self.first}"


@dataclass(frozen=True, slots=True)
class Unread:
    """A record on a topic of verdicts that is no verdict."""

    place: Coordinates
    problem: str

    def __str__(self) -> str:
        return f"{self.place} is no verdict: {self.problem}"


Result = Received[Verdict] | Conflict | Unread


class Deduplicator:
    """Lets every verdict through once. It remembers the last ``limit`` ids."""

    def __init__(self, limit: int = REMEMBERED_VERDICTS) -> None:
        self._seen = LastIds(limit)

    def admit(self, received: Received[Verdict]) -> Received[Verdict] | Conflict | None:
        """The verdict where its id is new; None for a repetition."""
        verdict, place = received.event, received.record.coordinates
        said = substance(verdict)
        known = self._seen.first(verdict.id, said + place.model_dump_json().encode())
        if known is None:
            return received
        if known[:DIGEST_BYTES] != said:
            first = Coordinates.model_validate_json(known[DIGEST_BYTES:])
            return Conflict(verdict.id, first, place)
        return None

    def close(self) -> None:
        self._seen.close()


class LastIds(TemporaryDatabase):
    """The last ``limit`` ids, each with a note: on disk. For one thread."""

    def __init__(self, limit: int = REMEMBERED_VERDICTS) -> None:
        self._limit = limit
        super().__init__(_SCHEMA)

    def first(self, identifier: str, note: bytes = b"") -> bytes | None:
        """The note of the id's first record; None where this is the first, whose is ``note``."""
        key = digest_of(identifier)
        known = self.one("SELECT note FROM ids WHERE id = ?", key)
        if known is not None:
            return bytes(known[0])
        added = self.connection.execute("INSERT INTO ids VALUES (NULL, ?, ?)", (key, note))
        self.connection.execute(
            "DELETE FROM ids WHERE number <= ?", ((added.lastrowid or 0) - self._limit,)
        )
        return None


def substance(verdict: Verdict) -> bytes:
    """A digest of what ``verdict`` says, without where it came from (16 bytes)."""
    said = verdict.model_dump_json(exclude=_PROVENANCE)  # type: ignore[arg-type]
    return hashlib.sha256(said.encode()).digest()[:DIGEST_BYTES]


async def read_verdicts(
    settings: Settings, topics: Sequence[Topic] = VERDICT_TOPICS
) -> AsyncIterator[Result]:
    """The verdicts on ``topics`` as they are now, each once."""
    records = read_topics(settings, topics)
    with contextlib.closing(Deduplicator()) as deduplicator:
        async with contextlib.aclosing(records):
            async for record in records:
                try:
                    result = deduplicator.admit(decode(record, Verdict))
                except ErasedRecord:
                    continue
                except UnreadableRecord as error:
                    yield Unread(record.coordinates, str(error))
                else:
                    if result is not None:
                        yield result


def digest_of(identifier: str) -> bytes:
    return hashlib.sha256(identifier.encode()).digest()[:DIGEST_BYTES]

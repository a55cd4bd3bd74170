"""Runs of entries and records in a private temporary database, so that their number is bounded by
disk and not by memory."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from safepassage.streams.runtime.local_database import TemporaryDatabase

CACHE_MEBIBYTES = 32
_SCHEMA = """
CREATE TABLE runs (
    run INTEGER, number INTEGER, place INTEGER NOT NULL, sha256 BLOB NOT NULL, head BLOB,
    verdict_id TEXT, written_ms INTEGER, PRIMARY KEY (run, number)) WITHOUT ROWID;
CREATE TABLE differences (
    number INTEGER PRIMARY KEY,
    entry_at INTEGER, entry BLOB, verdict_id TEXT, record_at INTEGER, record BLOB);
CREATE INDEX entries ON differences (entry);
CREATE INDEX records ON differences (record);
"""
_COLUMNS = "place, sha256, verdict_id, written_ms"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One record's offset and SHA-256; ``written_ms`` is its entry's time since the epoch, None if
    unknown."""

    offset: int
    sha256: bytes
    verdict_id: str | None = None
    written_ms: int | None = None


Difference = tuple[Recorded | None, Recorded | None]
"""What was recorded and what is held instead; one side may be nothing."""


class RunDatabase(TemporaryDatabase):
    """Where runs are kept. For one thread."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA, CACHE_MEBIBYTES)
        self._runs = 0

    def new_run(self) -> "StoredRun":
        """An empty run."""
        self._runs += 1
        return StoredRun(self, self._runs)

    def differences(self) -> "Differences":
        """No differences yet. There is one set of them at a time."""
        self.connection.execute("DELETE FROM differences")
        return Differences(self.connection)


class StoredRun:
    """Entries or records in order, numbered from 0."""

    def __init__(self, database: RunDatabase, run: int) -> None:
        self.database = database
        self._connection = database.connection
        self._run = run
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, one: Recorded, head: bytes | None = None) -> None:
        """Put ``one`` at the end; ``head`` is the chain's head after it."""
        self._connection.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._run, self._length, one.offset, one.sha256, head, one.verdict_id, one.written_ms),
        )
        self._length += 1

    def head(self, number: int) -> bytes:
        """The head after the entry of that number."""
        (head,) = self._connection.execute(
            "SELECT head FROM runs WHERE run = ? AND number = ?", (self._run, number)
        ).fetchone()
        return bytes(head)

    def between(self, start: int, stop: int) -> Iterator[Recorded]:
        """Those numbered from ``start`` to before ``stop``."""
        return self._select("number", start, stop)

    def backwards(self, start: int, stop: int) -> Iterator[Recorded]:
        """Those `between`, the last one first."""
        return self._select("number DESC", start, stop)

    def by_offset(self, start: int, stop: int) -> Iterator[Recorded]:
        """Those `between`, by their offsets."""
        return self._select("place", start, stop)

    def number_at(self, offset: int) -> int:
        """The first number whose offset is ``offset`` or larger; the length if it is missing."""
        (found,) = self._connection.execute(
            "SELECT min(number) FROM runs WHERE run = ? AND place >= ?", (self._run, offset)
        ).fetchone()
        return self._length if found is None else int(found)

    def clear(self) -> None:
        """Forget all of it."""
        self._connection.execute("DELETE FROM runs WHERE run = ?", (self._run,))
        self._length = 0

    def _select(self, order: str, start: int, stop: int) -> Iterator[Recorded]:
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM runs WHERE run = ? AND number >= ? AND number < ? "  # noqa: S608
            f"ORDER BY {order}",
            (self._run, start, stop),
        )
        return (Recorded(*row) for row in rows)


class Differences:
    """Where a chain and its partition differ, in order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, entry: Recorded | None, record: Recorded | None) -> None:
        """Put one at the end."""
        left = (entry.offset, entry.sha256, entry.verdict_id) if entry else (None, None, None)
        right = (record.offset, record.sha256) if record else (None, None)
        self._connection.execute(
            "INSERT INTO differences VALUES (NULL, ?, ?, ?, ?, ?)", (*left, *right)
        )

    def __iter__(self) -> Iterator[Difference]:
        for at, entry, verdict_id, record_at, record in self._connection.execute(
            "SELECT entry_at, entry, verdict_id, record_at, record FROM differences ORDER BY number"
        ):
            yield (
                None if entry is None else Recorded(at, entry, verdict_id),
                None if record is None else Recorded(record_at, record),
            )

    def record_at(self, sha256: bytes) -> int | None:
        """The last offset at which a record that differs has that content."""
        return self._last("record", sha256)

    def entry_at(self, sha256: bytes) -> int | None:
        """The last offset at which an entry that differs has that content."""
        return self._last("entry", sha256)

    def _last(self, side: str, sha256: bytes) -> int | None:
        row = self._connection.execute(
            f"SELECT {side}_at FROM differences WHERE {side} = ? ORDER BY number DESC",  # noqa: S608
            (sha256,),
        ).fetchone()
        return row[0] if row else None

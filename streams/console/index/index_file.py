"""The file of the console's index: temporary, or kept from one start to the next.

A kept one holds, in the transaction of the rows that they led to, up to where the topics were read.
So a kill at any moment costs what was not committed, and that is read again.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from safepassage.schemas import Review, StandingDecision, Verdict

from ...runtime.errors import OperatorError
from ...runtime.local_database import Database, delete_database, local_database
from .sql_schema import LAYOUT, SCHEMA

log = structlog.get_logger(__name__)

CACHE_MEBIBYTES = 64
EVENTS = (Verdict, Review, StandingDecision)


class IndexUnwritable(OperatorError):
    """The index cannot be used any more: the disk is full, or the file is damaged or taken."""


class Place(NamedTuple):
    """A partition of a topic, by its name on the broker."""

    topic: str
    partition: int


class Position(NamedTuple):
    """First and last offset read of a partition, and when the last was written, in ms."""

    first: int
    last: int
    timestamp: int


class IndexFile(Database):
    """``connection`` is replaced where the index is built anew. For one thread."""

    def __init__(self, file: Path | None, made_by: Mapping[str, object]) -> None:
        self._file = file
        self._made = {
            "layout": LAYOUT,
            "tables": _digest(SCHEMA),
            # What these events gained since then was passed over when they were read.
            "events": _digest(json.dumps([_shape(e.model_json_schema()) for e in EVENTS])),
            **made_by,
        }
        self._failure: sqlite3.DatabaseError | None = None
        self._open()

    @property
    def kept(self) -> bool:
        return self._file is not None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Many additions in one transaction: all of them or none."""
        try:
            if self._failure:
                raise self._failure
            self.connection.execute("BEGIN")
            try:
                yield
                self._save_state()
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # a full disk ends it
                    self.connection.execute("ROLLBACK")
                raise
        except sqlite3.DatabaseError as error:
            raise self.unusable(error) from error

    def failed(self, error: sqlite3.DatabaseError) -> None:
        """A page could not be made for that reason: the next batch ends the role."""
        self._failure = error

    def positions(self) -> dict[Place, Position]:
        """Up to where each partition was read of which a record was."""
        rows = self.connection.execute(
            "SELECT topic, partition, first, last, timestamp FROM positions"
        )
        return {Place(*row[:2]): Position(*row[2:]) for row in rows}

    def move_on(self, place: Place, first: int, last: int, timestamp: int) -> None:
        """The records from ``first`` to ``last`` are in the index once the batch is."""
        self.connection.execute(
            "INSERT INTO positions VALUES (?, ?, ?, ?, ?) ON CONFLICT (topic, partition) DO UPDATE "
            "SET last = excluded.last, timestamp = excluded.timestamp",
            (*place, first, last, timestamp),
        )

    def begin_anew(self, reason: str) -> None:
        """Forget everything, since the topics are not those any more that it was read from."""
        log.warning("index_built_anew", reason=reason)
        self.connection.close()
        if self._file:
            delete_database(self._file)
        self._open()

    def _save_state(self) -> None:
        """Write what is known of the verdicts as a whole."""

    def _load_state(self, state: Mapping[str, str]) -> None:
        """Take it up again; nothing of it is there where the index is new."""

    def _remember(self, name: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))

    def _open(self) -> None:
        self.connection = sqlite3.connect("")  # so that there is one to close
        try:
            self.connection = local_database(CACHE_MEBIBYTES, self._file)
            made = self._made_by()
            if made is None:
                self.connection.executescript(SCHEMA)
                self._remember("made", json.dumps(self._made))
                made = self._made
            if made == self._made:
                rows = self.connection.execute("SELECT name, value FROM state")
                self._load_state(dict(rows.fetchall()))
                return
        except OSError as error:
            raise IndexUnwritable(
                f"SAFEPASSAGE_CONSOLE_STATE cannot be used: {error.strerror} ({error.filename})"
            ) from error
        except sqlite3.DatabaseError as error:
            self.connection.close()
            if self._file is None or not _damage(error):
                raise self.unusable(error) from error
            self.begin_anew(f"damaged: {error}")
            return
        other = [name for name, value in self._made.items() if made.get(name) != value]
        self.begin_anew(f"made with other {', '.join(other)}")

    def _made_by(self) -> Mapping[str, object] | None:
        """By what the file was made; None where it is new, and empty where it does not say."""
        if not self.connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            return None
        try:
            row = self.connection.execute("SELECT value FROM state WHERE name = 'made'").fetchone()
            found = json.loads(row[0]) if row else {}
        except (sqlite3.OperationalError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def unusable(self, error: sqlite3.DatabaseError) -> IndexUnwritable:
        """One line on what to do. A damaged file is deleted: the topics have everything."""
        if self._file is None:
            return IndexUnwritable(
                f"the console's temporary index cannot be written ({error}). Make room in the "
                "folder of temporary files, or name another by SQLITE_TMPDIR, and start again: "
                "the topics have everything"
            )
        if _code(error) == sqlite3.SQLITE_BUSY:
            return IndexUnwritable(
                f"another process has {self._file} open: give each console a folder of its own "
                "by SAFEPASSAGE_CONSOLE_STATE"
            )
        if not _damage(error):
            return IndexUnwritable(
                f"the console's index cannot be written ({error}). Make room for {self._file}, or "
                "name another folder by SAFEPASSAGE_CONSOLE_STATE, and start again: nothing is lost"
            )
        delete_database(self._file)
        return IndexUnwritable(
            f"{self._file} was damaged ({error}) and is deleted. Start again: the index is built "
            "anew from the topics"
        )


def _damage(error: sqlite3.DatabaseError) -> bool:
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: sqlite3.DatabaseError) -> int:
    """SQLite's primary code; 0 where the error is Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _shape(schema: object) -> object:
    """A JSON Schema without its prose."""
    if isinstance(schema, list):
        return [_shape(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    prose = {name for name in ("description", "title") if isinstance(schema.get(name), str)}
    return {name: _shape(one) for name, one in sorted(schema.items()) if name not in prose}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]

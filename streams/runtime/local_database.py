"""A private SQLite database beside a process. The topics have everything that it holds."""

import os
import sqlite3
from pathlib import Path
from typing import Any

_SUFFIXES = ("", "-wal", "-shm", "-journal")


def local_database(cache_mebibytes: int, file: Path | None = None) -> sqlite3.Connection:
    """An open database for one thread, each statement a transaction of its own unless one is begun.

    Without ``file`` it is SQLite's own temporary one: unlinked at once, private, spilled to disk
    above ``cache_mebibytes`` of memory, and gone with the process. ``file`` is kept: its owner
    alone may read it, a kill or a power cut costs the open transaction at most, and this process
    alone has it open. Raises `sqlite3.DatabaseError` where it is damaged, or no database."""
    if file:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600))
        file.chmod(0o600)  # SQLite gives its neighbours the same
    connection = sqlite3.connect(file or "", isolation_level=None, timeout=0)
    try:
        # Before the first access, which then takes the lock that this process keeps to its end.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA journal_mode = {'WAL' if file else 'MEMORY'}")
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if file else 'OFF'}")
        connection.execute("PRAGMA secure_delete = ON")  # what was erased is overwritten
        connection.execute(f"PRAGMA cache_size = {-1024 * cache_mebibytes}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


class Database:
    """What a process keeps in a database of its own. For one thread."""

    connection: sqlite3.Connection

    def one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self.connection.execute(query, values).fetchone()
        return row

    def close(self) -> None:
        self.connection.close()


class TemporaryDatabase(Database):
    """One that is gone with the process."""

    def __init__(self, schema: str, cache_mebibytes: int = 16) -> None:
        self.connection = local_database(cache_mebibytes)
        self.connection.executescript(schema)


def delete_database(file: Path) -> None:
    for suffix in _SUFFIXES:
        file.with_name(file.name + suffix).unlink(missing_ok=True)

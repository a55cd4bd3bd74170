"""A tamper-evident record of verdicts and redrives: hash chains on the topic ``audit``.

One chain for each partition of ``accepted``, ``quarantine`` and ``redrives``. Its entries are that
partition's records in order, each with its offset and the SHA-256 of its value. A block is any run
of entries with the heads before and after it; where blocks begin and end has no meaning.
docs/concepts/audit.md argues for the scheme and says what it cannot show.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from safepassage.schemas import AuditBlock, AuditEntry
from safepassage.schemas.base import Contract

from ..kafka.reading import read_topics
from ..kafka.records import Record, event_of
from ..runtime.local_database import TemporaryDatabase
from ..settings import Settings
from ..topics import AUDIT, READ_BY

AUDITED = READ_BY["audit"]
# A topic that was written anew differs everywhere.
NAMED_FINDINGS = 10_000
CACHE_MEBIBYTES = 32
_SCHEMA = """
CREATE TABLE runs (
    run TEXT, number INTEGER, place INTEGER NOT NULL, sha256 BLOB NOT NULL, head BLOB,
    verdict_id TEXT, written_ms INTEGER, PRIMARY KEY (run, number)) WITHOUT ROWID;
"""


class Head(Contract):
    """How long a chain is, and the hash that represents all of it: what to keep elsewhere."""

    chain: str
    entries: int = Field(ge=0)
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")


FindingKind = Literal[
    "changed", "removed", "inserted", "reordered", "chain_broken", "chain_gap", "head_differs"
]


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that is not as it was recorded. ``str()`` is one line for a person."""

    kind: FindingKind
    chain: str
    detail: str
    offset: int | None = None
    verdict_id: str | None = None

    def __str__(self) -> str:
        where = self.chain if self.offset is None else f"{self.chain}@{self.offset}"
        named = f" (verdict {self.verdict_id})" if self.verdict_id else ""
        return f"{self.kind}: {where}{named}: {self.detail}"


@dataclass(slots=True)
class AuditResult:
    """What a verification saw: ``expired`` entries are gone by retention, ``pending`` records not
    in a chain. ``erased`` records are of documents that were erased: they are not read any more,
    and verify as all others do. The first findings are named; ``more`` are not."""

    verified: int = 0
    erased: int = 0
    expired: int = 0
    pending: int = 0
    heads: list[Head] = field(default_factory=list)
    findings: list[AuditFinding] = field(default_factory=list)
    more: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """One entry of a chain, or one record of its partition: its number in order, its record's
    offset, the SHA-256 of the record's value. ``written_ms`` is when the entry was written
    (milliseconds since the epoch), None if unknown."""

    number: int
    offset: int
    sha256: bytes
    verdict_id: str | None = None
    written_ms: int | None = None


class Run:
    """Entries or records in order, numbered from 0, in a database: bounded by disk, not memory."""

    _COLUMNS = "number, place, sha256, verdict_id, written_ms"

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(
        self,
        offset: int,
        sha256: bytes,
        head: bytes | None = None,
        verdict_id: str | None = None,
        written_ms: int | None = None,
    ) -> None:
        """``head`` is the chain's head after it."""
        row = (self._name, self._length, offset, sha256, head, verdict_id, written_ms)
        self._connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._length += 1

    def head(self, number: int) -> bytes:
        (head,) = self._select("head", "number = ?", number).fetchone()
        return bytes(head)

    def since(self, number: int) -> Iterator[Recorded]:
        rows = self._select(self._COLUMNS, "number >= ? ORDER BY number", number)
        return (Recorded(*row) for row in rows)

    def next_like(self, one: Recorded, number: int) -> Recorded | None:
        self._connection.execute("CREATE INDEX IF NOT EXISTS contents ON runs (run, sha256)")
        where = "sha256 = ? AND number >= ? ORDER BY number"
        row = self._select(self._COLUMNS, where, one.sha256, number).fetchone()
        return Recorded(*row) if row else None

    def clear(self) -> None:
        self._connection.execute("DELETE FROM runs WHERE run = ?", (self._name,))
        self._length = 0

    def _select(self, columns: str, where: str, *values: object) -> sqlite3.Cursor:
        query = f"SELECT {columns} FROM runs WHERE run = ? AND {where}"  # noqa: S608
        return self._connection.execute(query, (self._name, *values))


class Chain:
    """One chain as its blocks tell it, from ``first`` on where earlier blocks are gone. What is
    not as it was recorded is noted in ``result``."""

    def __init__(self, name: str, entries: Run, result: AuditResult) -> None:
        self.name = name
        self.first = 0
        self.entries = entries
        self.next_offset = 0  # The first offset of the partition that it does not cover
        self.result = result
        self._begin = self._last = genesis(name)

    @property
    def length(self) -> int:
        """How many entries it has, those whose blocks are gone included."""
        return self.first + len(self.entries)

    @property
    def head(self) -> Head:
        return Head(chain=self.name, entries=self.length, hash=self._last.hex())

    def head_after(self, position: int) -> bytes:
        return self.entries.head(position - 1) if position else self._begin

    def append(self, block: AuditBlock, written_ms: int | None = None) -> None:
        """Count one block: the next entries, a repetition of known ones, or a finding."""
        if not self.entries and block.index > 0:
            self.first = block.index
            self._begin = self._last = bytes.fromhex(block.previous)
        position = block.index - self.first
        offset = block.entries[0].source.offset if block.entries else None
        if position > len(self.entries):
            missing = f"entries {self.length} to {block.index - 1} are missing"
            self.find("chain_gap", missing, offset)
        elif position < 0 or self.head_after(position).hex() != block.previous:
            self.find("chain_broken", f"does not continue entry {block.index}", offset)
        elif fold(block.previous, block.entries) != block.hash:
            self.find("chain_broken", f"the block of entry {block.index} was altered", offset)
        else:
            self._extend(position, block, written_ms)

    def _extend(self, position: int, block: AuditBlock, written_ms: int | None) -> None:
        head = bytes.fromhex(block.previous)
        for number, entry in enumerate(block.entries, start=position):
            head = link(head, entry)
            if number == len(self.entries):
                sha256, offset = bytes.fromhex(entry.sha256), entry.source.offset
                self.entries.append(offset, sha256, head, entry.verdict_id, written_ms)
                self._last, self.next_offset = head, offset + 1
            elif self.head_after(number + 1) != head:
                told = f"entry {self.first + number} is told in two ways"
                self.find("chain_broken", told, block.entries[0].source.offset)
                return

    def find(
        self,
        kind: FindingKind,
        detail: str,
        offset: int | None = None,
        verdict_id: str | None = None,
    ) -> None:
        if len(self.result.findings) < NAMED_FINDINGS:
            self.result.findings.append(AuditFinding(kind, self.name, detail, offset, verdict_id))
        else:
            self.result.more += 1


class Chains(TemporaryDatabase):
    """Every chain by its name, ``held`` for a partition's records, and what they show."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA, CACHE_MEBIBYTES)
        self.result = AuditResult()
        self.held = Run(self.connection, "")
        self._known: dict[str, Chain] = {}

    def of(self, name: str) -> Chain:
        if name not in self._known:
            self._known[name] = Chain(name, Run(self.connection, name), self.result)
        return self._known[name]

    def all(self) -> list[Chain]:
        return [self._known[name] for name in sorted(self._known)]


def genesis(chain: str) -> bytes:
    """The head of an empty chain: its own, so that blocks of one cannot be moved to another."""
    return hashlib.sha256(f"safepassage audit {chain}".encode()).digest()


def link(head: bytes, entry: AuditEntry) -> bytes:
    """The head after ``entry``. The offset is part of it, and so is the order."""
    linked = f"{head.hex()} {entry.source.offset} {entry.sha256}"
    return hashlib.sha256(linked.encode()).digest()


def fold(head: str, entries: Iterable[AuditEntry]) -> str:
    folded = bytes.fromhex(head)
    for entry in entries:
        folded = link(folded, entry)
    return folded.hex()


def value_digest(record: Record) -> bytes:
    """The SHA-256 of the record's value; a null value hashes as an empty one."""
    return hashlib.sha256(record.value or b"").digest()


def chain_name(topic: str, partition: int) -> str:
    """The chain of a partition; ``topic`` is its name on the broker."""
    return f"{topic}-{partition}"


@contextlib.asynccontextmanager
async def read_chains(settings: Settings) -> AsyncIterator[Chains]:
    """The chains, as the topic ``audit`` tells them: on disk, until the context ends."""
    chains = Chains()
    with contextlib.closing(chains):
        async for record in read_topics(settings, [AUDIT]):
            # Where a record is unreadable, the block that it took the place of shows as a gap.
            if block := event_of(record, AuditBlock):
                # Kafka's -1 is a record without a time.
                written_ms = record.timestamp if record.timestamp >= 0 else None
                chains.of(block.chain).append(block, written_ms)
        yield chains

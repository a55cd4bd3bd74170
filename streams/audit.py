"""A tamper-evident record of every verdict: hash chains on the topic ``audit``.

One chain for each partition of ``accepted`` and ``quarantine``. Its entries are that partition's
records in order, each with its offset and the SHA-256 of its value; the head after an entry is
the SHA-256 over the head before it and the entry. A block is any run of entries with the heads
before and after it, so where blocks begin and end has no meaning: the same run written twice, or
cut differently by another process, leads to the same heads, and a repetition cannot be taken for
a fork. The verdicts themselves carry no hashes, so replays stay byte-equal to them.

docs/audit.md argues for the scheme and says what it cannot show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from aiokafka import TopicPartition
from pydantic import Field

from schemas import AuditBlock, AuditEntry
from schemas.base import Contract

from .reading import ends, read_between, read_topics
from .records import Record, UnreadableRecord, decode
from .settings import Settings
from .topics import ACCEPTED, AUDIT, QUARANTINE

AUDITED = (ACCEPTED, QUARANTINE)

# A longer stretch in which nothing matches is told offset by offset: comparing is quadratic.
COMPARED_RECORDS = 4_000


class Head(Contract):
    """How long a chain is, and the hash that stands for all of it: what to keep elsewhere."""

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


@dataclass(frozen=True, slots=True)
class Recorded:
    """One record as a chain, or as the topic, knows it: offset and SHA-256 of the value."""

    offset: int
    sha256: bytes
    verdict_id: str | None = None


@dataclass(slots=True)
class Chain:
    """One chain as its blocks tell it. ``heads[n]`` is the head after n of ``entries``.

    ``first`` is the number of its first entry: above 0 where the blocks before it are gone.
    """

    name: str
    first: int = 0
    entries: list[Recorded] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    findings: list[AuditFinding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.heads.append(genesis(self.name))

    @property
    def length(self) -> int:
        """How many entries it has, those whose blocks are gone included."""
        return self.first + len(self.entries)

    @property
    def head(self) -> Head:
        """Its head now."""
        return Head(chain=self.name, entries=self.length, hash=self.heads[-1].hex())

    @property
    def next_offset(self) -> int:
        """The first offset of the partition that it does not cover."""
        return self.entries[-1].offset + 1 if self.entries else 0

    def append(self, block: AuditBlock) -> None:
        """Count one block: the next entries, a repetition of known ones, or a finding."""
        if not self.entries and block.index > 0:
            self.first, self.heads = block.index, [bytes.fromhex(block.previous)]
        position = block.index - self.first
        if position > len(self.entries):
            missing = f"entries {self.length} to {block.index - 1} are missing"
            self._find("chain_gap", block, missing)
        elif position < 0 or self.heads[position].hex() != block.previous:
            self._find("chain_broken", block, f"does not continue entry {block.index}")
        elif fold(block.previous, block.entries) != block.hash:
            self._find("chain_broken", block, f"the block of entry {block.index} was altered")
        else:
            self._extend(position, block)

    def _extend(self, position: int, block: AuditBlock) -> None:
        for number, entry in enumerate(block.entries, start=position):
            head = link(self.heads[number], entry)
            if number == len(self.entries):
                sha256 = bytes.fromhex(entry.sha256)
                self.entries.append(Recorded(entry.source.offset, sha256, entry.verdict_id))
                self.heads.append(head)
            elif self.heads[number + 1] != head:
                told = f"entry {self.first + number} is told in two ways"
                self._find("chain_broken", block, told)
                return

    def _find(self, kind: FindingKind, block: AuditBlock, detail: str) -> None:
        offset = block.entries[0].source.offset if block.entries else None
        self.findings.append(AuditFinding(kind, self.name, detail, offset))


def genesis(chain: str) -> bytes:
    """The head of an empty chain: its own, so that blocks of one cannot be moved to another."""
    return hashlib.sha256(f"safepassage audit {chain}".encode()).digest()


def link(head: bytes, entry: AuditEntry) -> bytes:
    """The head after ``entry``. The offset is part of it, and so is the order."""
    linked = f"{head.hex()} {entry.source.offset} {entry.sha256}"
    return hashlib.sha256(linked.encode()).digest()


def fold(head: str, entries: Iterable[AuditEntry]) -> str:
    """The head after all of ``entries``, in hex."""
    folded = bytes.fromhex(head)
    for entry in entries:
        folded = link(folded, entry)
    return folded.hex()


def entry_of(record: Record, verdict_id: str | None) -> AuditEntry:
    """The entry of one record. ``verdict_id`` is None for what is no verdict."""
    digest = value_digest(record).hex()
    return AuditEntry(source=record.coordinates, verdict_id=verdict_id, sha256=digest)


def value_digest(record: Record) -> bytes:
    """The SHA-256 of the record's value; a null value hashes as an empty one."""
    return hashlib.sha256(record.value or b"").digest()


def chain_name(topic: str, partition: int) -> str:
    """The chain of a partition; ``topic`` is its name on the broker."""
    return f"{topic}-{partition}"


@dataclass(slots=True)
class AuditResult:
    """What a verification saw.

    ``expired`` entries are of records that the broker no longer holds, ``pending`` records are
    not yet in a chain.
    """

    verified: int = 0
    expired: int = 0
    pending: int = 0
    heads: list[Head] = field(default_factory=list)
    findings: list[AuditFinding] = field(default_factory=list)


async def read_chains(settings: Settings) -> dict[str, Chain]:
    """The chains, as the topic ``audit`` tells them.

    Raises:
        UnknownTopic: the topic is missing.
    """
    chains: dict[str, Chain] = {}
    async for record in read_topics(settings, [AUDIT]):
        try:
            block = decode(record, AuditBlock).event
        except UnreadableRecord:
            continue  # the block that it took the place of is missing, which shows as a gap
        chains.setdefault(block.chain, Chain(block.chain)).append(block)
    return chains


async def verify(settings: Settings, anchored: Sequence[Head] = ()) -> AuditResult:
    """Hold every verdict against its chain, and the chains against heads kept elsewhere.

    Memory holds all chains (about 300 bytes an entry) and one partition's digests.

    Raises:
        UnknownTopic: a topic is missing.
    """
    result = AuditResult()
    # First how far the topics reach: what is written meanwhile is nobody's finding.
    reach = await ends(settings, AUDITED)
    chains = await read_chains(settings)
    for tp, end in sorted(reach.items()):
        name = chain_name(tp.topic, tp.partition)
        held = [
            Recorded(record.offset, value_digest(record))
            async for record in read_between(settings, {tp: (0, end)})
        ]
        verify_chain(chains.setdefault(name, Chain(name)), held, end, result)
    result.findings += _unknown_chains(chains, reach)
    result.findings += _against_anchors(chains, anchored)
    return result


def verify_chain(chain: Chain, held: Sequence[Recorded], end: int, result: AuditResult) -> None:
    """Hold one chain against its partition's records, in order; ``end`` is one past the last."""
    result.heads.append(chain.head)
    result.findings += chain.findings
    begins = held[0].offset if held else end
    recorded = [entry for entry in chain.entries if entry.offset >= begins]
    result.expired += len(chain.entries) - len(recorded)
    same, differences = _compare(recorded, held)
    result.verified += same
    old = [d for d in differences if not _is_new(chain, *d)]
    result.pending += len(differences) - len(old)
    result.findings += _named(chain.name, old)


def parse_heads(lines: Iterable[str]) -> Iterator[Head]:
    """Heads as ``safepassage audit head`` wrote them.

    Raises:
        pydantic.ValidationError: a line is none.
    """
    return (Head.model_validate_json(line) for line in lines if line.strip())


_Difference = tuple[Recorded | None, Recorded | None]
"""What was recorded and what is held instead; one side may be nothing."""


def _compare(
    recorded: Sequence[Recorded], held: Sequence[Recorded]
) -> tuple[int, list[_Difference]]:
    """How many stand as recorded, and the differences of the rest.

    A record that is taken out or put in moves all behind it; they are found again by content.
    """
    start, stop = _common_ends(recorded, held)
    same = start + stop
    left, right = recorded[start : len(recorded) - stop], held[start : len(held) - stop]
    if max(len(left), len(right)) > COMPARED_RECORDS:
        return same, _by_offset(left, right)
    differences: list[_Difference] = []
    matcher = SequenceMatcher(None, [r.sha256 for r in left], [r.sha256 for r in right], False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            same += i2 - i1
            continue
        paired = min(i2 - i1, j2 - j1)
        differences += zip(left[i1 : i1 + paired], right[j1 : j1 + paired], strict=True)
        differences += [(entry, None) for entry in left[i1 + paired : i2]]
        differences += [(None, record) for record in right[j1 + paired : j2]]
    return same, differences


def _is_new(chain: Chain, entry: Recorded | None, record: Recorded | None) -> bool:
    """Whether this is no difference but a record that the chain has not reached."""
    return entry is None and record is not None and record.offset >= chain.next_offset


def _common_ends(recorded: Sequence[Recorded], held: Sequence[Recorded]) -> tuple[int, int]:
    """How many are equal from the front, and of the rest from the back."""
    shorter = min(len(recorded), len(held))
    start = next((i for i in range(shorter) if recorded[i].sha256 != held[i].sha256), shorter)
    rest = shorter - start
    stop = next((i for i in range(rest) if recorded[-1 - i].sha256 != held[-1 - i].sha256), rest)
    return start, stop


def _by_offset(recorded: Sequence[Recorded], held: Sequence[Recorded]) -> list[_Difference]:
    entries, records = {r.offset: r for r in recorded}, {r.offset: r for r in held}
    pairs = ((entries.get(at), records.get(at)) for at in sorted(entries.keys() | records.keys()))
    return [(e, r) for e, r in pairs if e is None or r is None or e.sha256 != r.sha256]


def _named(chain: str, differences: Sequence[_Difference]) -> Iterator[AuditFinding]:
    """A name for each difference. What is missing in one place and held in another was moved."""
    held_at = {record.sha256: record.offset for _, record in differences if record}
    recorded_at = {entry.sha256: entry.offset for entry, _ in differences if entry}
    for entry, record in differences:
        if entry and entry.sha256 in held_at:
            detail = f"now stands at offset {held_at[entry.sha256]}"
            yield AuditFinding("reordered", chain, detail, entry.offset, entry.verdict_id)
        elif entry and record and record.sha256 not in recorded_at:
            detail = f"the record at offset {record.offset} is another than was recorded"
            yield AuditFinding("changed", chain, detail, entry.offset, entry.verdict_id)
        elif entry:
            detail = "the record is gone"
            yield AuditFinding("removed", chain, detail, entry.offset, entry.verdict_id)
        elif record and record.sha256 not in recorded_at:
            detail = "the record was never recorded"
            yield AuditFinding("inserted", chain, detail, record.offset)


def _unknown_chains(
    chains: dict[str, Chain], reach: dict[TopicPartition, int]
) -> Iterator[AuditFinding]:
    known = {chain_name(tp.topic, tp.partition) for tp in reach}
    for name in sorted(chains.keys() - known):
        yield AuditFinding("removed", name, "there is a chain, but no such partition")


def _against_anchors(chains: dict[str, Chain], anchored: Sequence[Head]) -> Iterator[AuditFinding]:
    for head in anchored:
        chain = chains.get(head.chain, Chain(head.chain))
        position = head.entries - chain.first
        if position < 0:
            detail = f"the blocks of its first {chain.first} entries are gone"
            yield AuditFinding("chain_gap", head.chain, detail)
        elif position >= len(chain.heads):
            detail = f"had {head.entries} entries when its head was kept, now {chain.length}"
            yield AuditFinding("head_differs", head.chain, detail)
        elif chain.heads[position].hex() != head.hash:
            detail = f"its head after {head.entries} entries is not the one that was kept"
            yield AuditFinding("head_differs", head.chain, detail)

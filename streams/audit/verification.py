"""Holds every verdict against the audit chains, and the chains against heads kept elsewhere."""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aiokafka import TopicPartition

from safepassage.streams.kafka.admin import topic_retention
from safepassage.streams.kafka.reading import ends, read_between
from safepassage.streams.kafka.records import is_erased
from safepassage.streams.settings import Settings
from safepassage.streams.topics import AUDIT

from .chain import (
    AUDITED,
    AuditFinding,
    Chain,
    Chains,
    FindingKind,
    Findings,
    Head,
    Recorded,
    Run,
    chain_name,
    read_chains,
    value_digest,
)
from .explained_gaps import Retention


@dataclass(slots=True)
class AuditResult:
    """What a verification saw: ``expired`` entries are gone by retention, ``pending`` records not
    in a chain. ``erased`` records are of documents that were erased: they are not read any more,
    and verify as all others do."""

    verified: int = 0
    erased: int = 0
    expired: int = 0
    pending: int = 0
    heads: list[Head] = field(default_factory=list)
    found: Findings = field(default_factory=Findings)

    @property
    def findings(self) -> list[AuditFinding]:
        """Those that are named."""
        return self.found.named


async def verify(settings: Settings, anchored: Sequence[Head] = ()) -> AuditResult:
    """Hold every verdict against its chain, and the chains against heads kept elsewhere.

    Chains and digests lie in a temporary database: memory holds its cache, and what was found."""
    result = AuditResult()
    # First how far the topics reach: what is written meanwhile is nobody's finding.
    reach = await ends(settings, AUDITED)
    async with read_chains(settings) as chains:
        result.found = chains.found
        kept = await topic_retention(settings, [*AUDITED, AUDIT])
        # Taken after the reading: what was gone then is no younger now.
        now_ms = int(time.time() * 1000)
        retention = {name: Retention(kept_ms, now_ms) for name, kept_ms in kept.items()}
        held = chains.held
        for tp, end in sorted(reach.items()):
            async for record in read_between(settings, {tp: (0, end)}):
                held.append(record.offset, value_digest(record))
                result.erased += is_erased(record)
            chain = chains.of(chain_name(tp.topic, tp.partition))
            verify_chain(chain, held, end, result, retention[tp.topic])
            _verify_beginning(chain, result, retention[settings.topic(AUDIT.name)])
            held.clear()
        for finding in (*_unknown_chains(chains, reach), *_against_anchors(chains, anchored)):
            result.found.add(finding)
    return result


def verify_chain(
    chain: Chain, held: Run, end: int, result: AuditResult, retention: Retention
) -> None:
    """Hold one chain against its partition's records, in order; ``end`` is one past the last,
    ``retention`` that of the partition's topic."""
    result.heads.append(chain.head)
    begins = next((record.offset for record in held.since(0)), end)
    gone = _verify_gone(chain, begins, result, retention)
    _compare(chain, gone, held, result)


def _verify_gone(chain: Chain, begins: int, result: AuditResult, retention: Retention) -> int:
    """What became of the entries before offset ``begins``, whose records are not there any more;
    returns how many. One finding for a whole beginning: there may be millions of entries in it."""
    gone = unexplained = 0
    first = last = None
    for entry in itertools.takewhile(lambda one: one.offset < begins, chain.entries.since(0)):
        gone += 1
        if not retention.explains(entry):
            first, last = first or entry, entry
            unexplained += 1
    result.expired += gone - unexplained
    if first and last:
        detail = (
            f"{unexplained} recorded verdicts, up to offset {last.offset}, were cut off from the "
            f"beginning, and not by retention: {retention.reason(last)}"
        )
        result.found.add(_of_entry("removed", chain, first, detail))
    return gone


def _verify_beginning(chain: Chain, result: AuditResult, retention: Retention) -> None:
    """A chain begins at its first entry, unless the topic of the chains forgets: when its blocks
    were written is gone with them, and only a head kept elsewhere tells."""
    if chain.first and retention.ends:
        result.expired += chain.first
    elif chain.first:
        detail = (
            f"the blocks of its first {chain.first} entries are gone, and not by retention: "
            f"{retention.reason()}"
        )
        result.found.add(AuditFinding("chain_gap", chain.name, detail))


def _compare(chain: Chain, begin: int, held: Run, result: AuditResult) -> None:
    """Walk entries from ``begin`` on and records side by side.

    Where they differ, each is looked for further on by its content. Of two that were moved the one
    that is farther from its place is set aside, so that one verdict moved to the front is one
    finding, and not a finding for each of the others.
    """
    entries, records = chain.entries.since(begin), held.since(0)
    moved_entries: set[int] = set()
    moved_records: set[int] = set()
    entry, record = next(entries, None), next(records, None)
    while entry or record:
        if entry and entry.number in moved_entries:
            entry = next(entries, None)
        elif record and record.number in moved_records:
            record = next(records, None)
        elif entry and record and entry.sha256 == record.sha256:
            result.verified += 1
            entry, record = next(entries, None), next(records, None)
        else:
            there = held.next_like(entry, record.number) if entry and record else None
            told = chain.entries.next_like(record, entry.number) if entry and record else None
            if not (entry and record and there and told):
                _differ(chain, None if there else entry, None if told else record, result)
                entry = entry if there else next(entries, None)
                record = record if told else next(records, None)
            elif there.number - record.number >= told.number - entry.number:
                result.found.add(_moved(chain, entry, there))
                moved_records.add(there.number)
                entry = next(entries, None)
            else:
                result.found.add(_moved(chain, told, record))
                moved_entries.add(told.number)
                record = next(records, None)


def _differ(
    chain: Chain, entry: Recorded | None, record: Recorded | None, result: AuditResult
) -> None:
    """An entry whose record is nowhere, a record that no entry tells of, or both in one place."""
    if entry and record and record.offset < chain.next_offset:
        detail = f"the record at offset {record.offset} is another than was recorded"
        result.found.add(_of_entry("changed", chain, entry, detail))
    elif entry:
        result.found.add(_of_entry("removed", chain, entry, "the record is gone"))
    if record and record.offset >= chain.next_offset:
        result.pending += 1
    elif record and not entry:
        detail = "the record was never recorded"
        result.found.add(AuditFinding("inserted", chain.name, detail, record.offset))


def _moved(chain: Chain, entry: Recorded, record: Recorded) -> AuditFinding:
    return _of_entry("reordered", chain, entry, f"now is at offset {record.offset}")


def _of_entry(kind: FindingKind, chain: Chain, entry: Recorded, detail: str) -> AuditFinding:
    return AuditFinding(kind, chain.name, detail, entry.offset, entry.verdict_id)


def _unknown_chains(chains: Chains, reach: dict[TopicPartition, int]) -> Iterator[AuditFinding]:
    known = {chain_name(tp.topic, tp.partition) for tp in reach}
    for chain in chains.all():
        if chain.name not in known:
            detail = "there is a chain, but no such partition"
            yield AuditFinding("removed", chain.name, detail)


def _against_anchors(chains: Chains, anchored: Sequence[Head]) -> Iterator[AuditFinding]:
    for head in anchored:
        chain = chains.of(head.chain)
        position = head.entries - chain.first
        if position < 0:
            detail = f"the blocks of its first {chain.first} entries are gone"
            yield AuditFinding("chain_gap", head.chain, detail)
        elif position > len(chain.entries):
            detail = f"had {head.entries} entries when its head was kept, now {chain.length}"
            yield AuditFinding("head_differs", head.chain, detail)
        elif chain.head_after(position).hex() != head.hash:
            detail = f"its head after {head.entries} entries is not the one that was kept"
            yield AuditFinding("head_differs", head.chain, detail)

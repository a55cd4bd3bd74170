"""Holds every verdict against the audit chains, and the chains against heads kept elsewhere.

Anyone who may delete records can cut off a beginning as a topic's retention does. What tells them
apart is time: retention takes nothing before its time is over, and nothing where that is for ever.
"""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..kafka.admin import topic_retention
from ..kafka.configuration import FOR_EVER
from ..kafka.reading import ends, read_between
from ..kafka.records import is_erased
from ..settings import Settings
from ..topics import AUDIT
from .chain import (
    AUDITED,
    AuditResult,
    Chain,
    FindingKind,
    Head,
    Recorded,
    Run,
    chain_name,
    read_chains,
    value_digest,
)

# What the clocks of broker and verifier may differ by, and an entry be younger than its record.
TOLERANCE_MS = 60_000
# A year 9999 is for ever as well, and a larger number no date.
CENTURY_MS = 100 * 366 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Retention:
    """A topic's at ``now_ms``; ``kept_ms`` is negative for ever, None where it is not told."""

    kept_ms: int | None
    now_ms: int

    def keeps(self, entry: Recorded | None = None) -> str:
        """Why the record of ``entry``, or any, should still be there; "" where it may be gone.

        A record's own time is gone with it. Its entry is written after it, half a second later
        where the auditor runs, so that counting from there errs to the strict side.
        """
        if self.kept_ms is None:
            return "the broker does not tell for how long it keeps them (grant DescribeConfigs)"
        if self.kept_ms < 0:
            return f"the topic keeps them for ever (retention.ms={FOR_EVER})"
        if entry is None:
            return ""
        if entry.written_ms is None:
            return "when they were recorded is not known"
        due_ms = entry.written_ms + min(self.kept_ms, CENTURY_MS)
        if due_ms <= self.now_ms + TOLERANCE_MS:
            return ""
        due = datetime.fromtimestamp(due_ms / 1000, UTC)
        return f"retention.ms={self.kept_ms} keeps them until {due:%Y-%m-%d %H:%M} UTC"


async def verify(settings: Settings, anchored: Sequence[Head] = ()) -> AuditResult:
    """Hold every verdict against its chain, and the chains against heads kept elsewhere.

    Chains and digests lie in a temporary database: memory holds its cache, and what was found."""
    # First how far the topics reach: what is written meanwhile is nobody's finding.
    reach = await ends(settings, AUDITED)
    async with read_chains(settings) as chains:
        kept = await topic_retention(settings, [*AUDITED, AUDIT])
        # Taken after the reading: what was gone then is no younger now.
        now_ms = int(time.time() * 1000)
        retention = {name: Retention(kept_ms, now_ms) for name, kept_ms in kept.items()}
        held = chains.held
        for tp, end in sorted(reach.items()):
            async for record in read_between(settings, {tp: (0, end)}):
                held.append(record.offset, value_digest(record))
                chains.result.erased += is_erased(record)
            chain = chains.of(chain_name(tp.topic, tp.partition))
            verify_chain(chain, held, end, retention[tp.topic])
            _verify_beginning(chain, retention[settings.topic(AUDIT.name)])
            held.clear()
        known = {chain_name(tp.topic, tp.partition) for tp in reach}
        for chain in chains.all():
            if chain.name not in known:
                chain.find("removed", "there is a chain, but no such partition")
        for head in anchored:
            _verify_head(chains.of(head.chain), head)
        return chains.result


def verify_chain(chain: Chain, held: Run, end: int, retention: Retention) -> None:
    """Hold a chain against its partition's records; ``end`` is one past the last of these."""
    chain.result.heads.append(chain.head)
    begins = next((record.offset for record in held.since(0)), end)
    gone = _verify_gone(chain, begins, retention)
    _compare(chain, gone, held)


def _verify_gone(chain: Chain, begins: int, retention: Retention) -> int:
    """What became of the entries before offset ``begins``, whose records are not there any more;
    returns how many. One finding for a whole beginning: there may be millions of entries in it."""
    gone = unexplained = 0
    first = last = None
    for entry in itertools.takewhile(lambda one: one.offset < begins, chain.entries.since(0)):
        gone += 1
        if retention.keeps(entry):
            first, last = first or entry, entry
            unexplained += 1
    chain.result.expired += gone - unexplained
    if first and last:
        detail = (
            f"{unexplained} recorded verdicts, up to offset {last.offset}, were cut off from the "
            f"beginning, and not by retention: {retention.keeps(last)}"
        )
        _find_entry("removed", chain, first, detail)
    return gone


def _verify_beginning(chain: Chain, retention: Retention) -> None:
    """A chain begins at its first entry, unless the topic of the chains forgets: when its blocks
    were written is gone with them, and only a head kept elsewhere tells."""
    if chain.first and (why := retention.keeps()):
        gone = f"the blocks of its first {chain.first} entries are gone"
        chain.find("chain_gap", f"{gone}, and not by retention: {why}")
    else:
        chain.result.expired += chain.first


def _compare(chain: Chain, begin: int, held: Run) -> None:
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
            chain.result.verified += 1
            entry, record = next(entries, None), next(records, None)
        else:
            there = held.next_like(entry, record.number) if entry and record else None
            told = chain.entries.next_like(record, entry.number) if entry and record else None
            if not (entry and record and there and told):
                _differ(chain, None if there else entry, None if told else record)
                entry = entry if there else next(entries, None)
                record = record if told else next(records, None)
            elif there.number - record.number >= told.number - entry.number:
                detail = f"now is at offset {there.offset}"
                _find_entry("reordered", chain, entry, detail)
                moved_records.add(there.number)
                entry = next(entries, None)
            else:
                detail = f"now is at offset {record.offset}"
                _find_entry("reordered", chain, told, detail)
                moved_entries.add(told.number)
                record = next(records, None)


def _differ(chain: Chain, entry: Recorded | None, record: Recorded | None) -> None:
    """An entry whose record is nowhere, a record that no entry tells of, or both in one place."""
    if entry and record and record.offset < chain.next_offset:
        detail = f"the record at offset {record.offset} is another than was recorded"
        _find_entry("changed", chain, entry, detail)
    elif entry:
        _find_entry("removed", chain, entry, "the record is gone")
    if record and record.offset >= chain.next_offset:
        chain.result.pending += 1
    elif record and not entry:
        chain.find("inserted", "the record was never recorded", record.offset)


def _find_entry(kind: FindingKind, chain: Chain, entry: Recorded, detail: str) -> None:
    chain.find(kind, detail, entry.offset, entry.verdict_id)


def _verify_head(chain: Chain, kept: Head) -> None:
    position = kept.entries - chain.first
    if position < 0:
        chain.find("chain_gap", f"the blocks of its first {chain.first} entries are gone")
    elif position > len(chain.entries):
        detail = f"had {kept.entries} entries when its head was kept, now {chain.length}"
        chain.find("head_differs", detail)
    elif chain.head_after(position).hex() != kept.hash:
        detail = f"its head after {kept.entries} entries is not the one that was kept"
        chain.find("head_differs", detail)

"""Holds every verdict against the audit chains, and the chains against heads kept elsewhere."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest

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
    Findings,
    Head,
    chain_name,
    read_chains,
    value_digest,
)
from .explained_gaps import Retention
from .stored_runs import Difference, Differences, Recorded, StoredRun

# A longer stretch in which nothing matches is told offset by offset: comparing is quadratic.
COMPARED_RECORDS = 4_000


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

    Chains and digests lie in a temporary database: memory holds its cache, and what was found.

    Raises:
        UnknownTopic: a topic is missing.
        KafkaError: the broker did not tell the topics' retention.
    """
    result = AuditResult()
    # First how far the topics reach: what is written meanwhile is nobody's finding.
    reach = await ends(settings, AUDITED)
    async with read_chains(settings) as chains:
        kept = await topic_retention(settings, [*AUDITED, AUDIT])
        # Taken after the reading: what was gone then is no younger now.
        now_ms = int(time.time() * 1000)
        retention = {name: Retention(kept_ms, now_ms) for name, kept_ms in kept.items()}
        held = chains.runs.new_run()
        for tp, end in sorted(reach.items()):
            async for record in read_between(settings, {tp: (0, end)}):
                held.append(Recorded(record.offset, value_digest(record)))
                result.erased += is_erased(record)
            chain = chains.of(chain_name(tp.topic, tp.partition))
            verify_chain(chain, held, end, result, retention[tp.topic])
            _verify_beginning(chain, result, retention[settings.topic(AUDIT.name)])
            held.clear()
        result.found.add_all(_unknown_chains(chains, reach))
        result.found.add_all(_against_anchors(chains, anchored))
    return result


def verify_chain(
    chain: Chain, held: StoredRun, end: int, result: AuditResult, retention: Retention
) -> None:
    """Hold one chain against its partition's records, in order; ``end`` is one past the last,
    ``retention`` that of the partition's topic."""
    result.heads.append(chain.head)
    result.found.add_all(chain.found.named)
    result.found.more += chain.found.more
    begins = next((record.offset for record in held.between(0, 1)), end)
    gone = chain.entries.number_at(begins)
    _verify_gone(chain, gone, result, retention)
    differences = _compare(chain, gone, held, result)
    result.found.add_all(_named(chain.name, differences))


def _verify_gone(chain: Chain, gone: int, result: AuditResult, retention: Retention) -> None:
    """What became of the first ``gone`` entries, whose records are not there any more. One finding
    for a whole beginning: there may be millions of entries in it."""
    unexplained = 0
    first = last = None
    for entry in chain.entries.between(0, gone):
        if not retention.explains(entry):
            first, last = first or entry, entry
            unexplained += 1
    result.expired += gone - unexplained
    if first and last:
        detail = (
            f"{unexplained} recorded verdicts, up to offset {last.offset}, were cut off from the "
            f"beginning, and not by retention: {retention.reason(last)}"
        )
        result.found.add(
            AuditFinding("removed", chain.name, detail, first.offset, first.verdict_id)
        )


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


def _compare(chain: Chain, begin: int, held: StoredRun, result: AuditResult) -> Differences:
    """Counts what is as recorded of the entries from ``begin`` on, and what is new. The rest is
    found again by content; it returns what then differs."""
    entries, differences = chain.entries, held.database.differences()
    start, stop = _common_ends(entries, begin, held)
    left = begin + start, len(entries) - stop
    right = start, len(held) - stop
    result.verified += start + stop
    if max(left[1] - left[0], right[1] - right[0]) > COMPARED_RECORDS:
        pairs = _by_offset(entries.by_offset(*left), held.by_offset(*right))
    else:
        pairs = _by_content(list(entries.between(*left)), list(held.between(*right)))
    for entry, record in pairs:
        if entry and record and entry.sha256 == record.sha256:
            result.verified += 1
        elif entry is None and record is not None and record.offset >= chain.next_offset:
            result.pending += 1
        else:
            differences.add(entry, record)
    return differences


def _common_ends(entries: StoredRun, begin: int, held: StoredRun) -> tuple[int, int]:
    """How many are equal from the front, and of the rest from the back."""
    shorter = min(len(entries) - begin, len(held))
    start = _equal(entries.between(begin, begin + shorter), held.between(0, shorter))
    rest = shorter - start
    ends_of_both = (
        entries.backwards(len(entries) - rest, len(entries)),
        held.backwards(len(held) - rest, len(held)),
    )
    return start, _equal(*ends_of_both)


def _equal(one: Iterable[Recorded], other: Iterable[Recorded]) -> int:
    """How many of both are equal before the first that differ."""
    pairs = enumerate(zip(one, other, strict=True))
    number = -1
    for number, (left, right) in pairs:
        if left.sha256 != right.sha256:
            return number
    return number + 1


def _by_content(left: Sequence[Recorded], right: Sequence[Recorded]) -> Iterator[Difference]:
    matcher = SequenceMatcher(None, [r.sha256 for r in left], [r.sha256 for r in right], False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        yield from zip_longest(left[i1:i2], right[j1:j2])


def _by_offset(left: Iterator[Recorded], right: Iterator[Recorded]) -> Iterator[Difference]:
    entry, record = next(left, None), next(right, None)
    while entry or record:
        at = min(one.offset for one in (entry, record) if one)
        here = entry and entry.offset == at, record and record.offset == at
        yield entry if here[0] else None, record if here[1] else None
        entry = next(left, None) if here[0] else entry
        record = next(right, None) if here[1] else record


def _named(chain: str, differences: Differences) -> Iterator[AuditFinding]:
    """A name for each difference. What is missing in one place and held in another was moved."""
    for entry, record in differences:
        unknown = record is not None and differences.entry_at(record.sha256) is None
        moved = differences.record_at(entry.sha256) if entry else None
        if entry and moved is not None:
            detail = f"now is at offset {moved}"
            yield AuditFinding("reordered", chain, detail, entry.offset, entry.verdict_id)
        elif entry and record and unknown:
            detail = f"the record at offset {record.offset} is another than was recorded"
            yield AuditFinding("changed", chain, detail, entry.offset, entry.verdict_id)
        elif entry:
            detail = "the record is gone"
            yield AuditFinding("removed", chain, detail, entry.offset, entry.verdict_id)
        elif record and unknown:
            detail = "the record was never recorded"
            yield AuditFinding("inserted", chain, detail, record.offset)


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

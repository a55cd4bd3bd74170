"""Holds every verdict against the audit chains, and the chains against heads kept elsewhere."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

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
    Head,
    Recorded,
    chain_name,
    read_chains,
    value_digest,
)
from .explained_gaps import Retention

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
    findings: list[AuditFinding] = field(default_factory=list)


async def verify(settings: Settings, anchored: Sequence[Head] = ()) -> AuditResult:
    """Hold every verdict against its chain, and the chains against heads kept elsewhere.

    Memory holds all chains (about 300 bytes an entry) and one partition's digests.

    Raises:
        UnknownTopic: a topic is missing.
        KafkaError: the broker did not tell the topics' retention.
    """
    result = AuditResult()
    # First how far the topics reach: what is written meanwhile is nobody's finding.
    reach = await ends(settings, AUDITED)
    chains = await read_chains(settings)
    kept = await topic_retention(settings, [*AUDITED, AUDIT])
    # Taken after the reading: what was gone then is no younger now.
    now_ms = int(time.time() * 1000)
    retention = {name: Retention(kept_ms, now_ms) for name, kept_ms in kept.items()}
    for tp, end in sorted(reach.items()):
        name = chain_name(tp.topic, tp.partition)
        held = []
        async for record in read_between(settings, {tp: (0, end)}):
            held.append(Recorded(record.offset, value_digest(record)))
            result.erased += is_erased(record)
        chain = chains.setdefault(name, Chain(name))
        verify_chain(chain, held, end, result, retention[tp.topic])
        _verify_beginning(chain, result, retention[settings.topic(AUDIT.name)])
    result.findings += _unknown_chains(chains, reach)
    result.findings += _against_anchors(chains, anchored)
    return result


def verify_chain(
    chain: Chain, held: Sequence[Recorded], end: int, result: AuditResult, retention: Retention
) -> None:
    """Hold one chain against its partition's records, in order; ``end`` is one past the last,
    ``retention`` that of the partition's topic."""
    result.heads.append(chain.head)
    result.findings += chain.findings
    begins = held[0].offset if held else end
    recorded = [entry for entry in chain.entries if entry.offset >= begins]
    gone = [entry for entry in chain.entries if entry.offset < begins]
    unexplained = [entry for entry in gone if not retention.explains(entry)]
    result.expired += len(gone) - len(unexplained)
    if unexplained:
        result.findings.append(_cut_off(chain.name, unexplained, retention))
    same, differences = _compare(recorded, held)
    result.verified += same
    old = [d for d in differences if not _is_new(chain, *d)]
    result.pending += len(differences) - len(old)
    result.findings += _named(chain.name, old)


def _cut_off(chain: str, gone: Sequence[Recorded], retention: Retention) -> AuditFinding:
    """One finding for a whole beginning: there may be millions of entries in it."""
    first, last = gone[0], gone[-1]
    detail = (
        f"{len(gone)} recorded verdicts, up to offset {last.offset}, were cut off from the "
        f"beginning, and not by retention: {retention.reason(last)}"
    )
    return AuditFinding("removed", chain, detail, first.offset, first.verdict_id)


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
        result.findings.append(AuditFinding("chain_gap", chain.name, detail))


_Difference = tuple[Recorded | None, Recorded | None]
"""What was recorded and what is held instead; one side may be nothing."""


def _compare(
    recorded: Sequence[Recorded], held: Sequence[Recorded]
) -> tuple[int, list[_Difference]]:
    """How many stand as recorded, and the differences of the rest, which are found again by
    content."""
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

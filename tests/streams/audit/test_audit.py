"""The audit chains show what was changed, removed, inserted or reordered, and say which."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import Sequence
from contextlib import asynccontextmanager

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import NewTopic
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import AuditBlock, AuditEntry, Coordinates, DeadLetter
from safepassage.streams.audit.audit_source import ROLE, AuditSource, chain_ends
from safepassage.streams.audit.chain import (
    AuditFinding,
    AuditResult,
    Chains,
    Head,
    fold,
    genesis,
    read_chains,
)
from safepassage.streams.audit.verification import Retention, verify, verify_chain
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_admin, new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, AUDIT, DEAD_LETTERS, QUARANTINE
from tests.stack import environment
from tests.streams.judged import publish, verdict

CHAIN = "accepted-0"
PATIENCE = 40


def entry(offset: int, content: int | None = None) -> AuditEntry:
    return AuditEntry(
        source=Coordinates(topic="accepted", partition=0, offset=offset),
        verdict_id=f"verdict-{offset}",
        sha256=f"{offset if content is None else content:064x}",
    )


def block(entries: Sequence[AuditEntry], index: int, previous: str) -> AuditBlock:
    return AuditBlock(
        chain=CHAIN,
        index=index,
        previous=previous,
        entries=tuple(entries),
        hash=fold(previous, entries),
    )


def blocks_of(entries: Sequence[AuditEntry], cuts: Sequence[int]) -> list[AuditBlock]:
    """The chain of ``entries``, cut into blocks at ``cuts``."""
    made, head = [], genesis(CHAIN).hex()
    edges = [0, *sorted({c for c in cuts if 0 < c < len(entries)}), len(entries)]
    for first, last in itertools.pairwise(edges):
        made.append(block(entries[first:last], first, head))
        head = made[-1].hash
    return made


def chain_of(blocks: Sequence[AuditBlock], written: Sequence[int] = ()) -> Chains:
    """The chain of ``blocks``; ``written`` are their times, where there are any."""
    chains = Chains()
    for made, written_ms in itertools.zip_longest(blocks, written):
        chains.of(CHAIN).append(made, written_ms)
    return chains


DAY = 24 * 3600 * 1000
FOR_EVER = Retention(-1, 10 * DAY)


def check(
    contents: Sequence[int],
    first: int = 0,
    end: int | None = None,
    retention: Retention = FOR_EVER,
) -> AuditResult:
    """Ten recorded entries, four of the first day and six of the fifth, against what the topic
    holds on the tenth."""
    chains = chain_of(blocks_of([entry(n) for n in range(10)], [4]), [DAY, 5 * DAY])
    return against(chains, contents, first, end or first + len(contents), retention)


def against(
    chains: Chains, contents: Sequence[int], first: int, end: int, retention: Retention
) -> AuditResult:
    """The chain against records of these contents at consecutive offsets from ``first`` on."""
    for offset, content in enumerate(contents, start=first):
        chains.held.append(offset, bytes.fromhex(f"{content:064x}"))
    verify_chain(chains.of(CHAIN), chains.held, end, retention)
    return chains.result


def kinds(result: AuditResult) -> list[tuple[str, str | None]]:
    return [(finding.kind, finding.verdict_id) for finding in result.findings]


TEN = list(range(10))


def test_untouched_partition_verifies():
    result = check(TEN)
    assert (result.verified, result.findings) == (10, [])


def test_changed_verdict_is_named():
    assert kinds(check([*TEN[:3], 99, *TEN[4:]])) == [("changed", "verdict-3")]


def test_removed_verdict_is_named_though_the_others_moved():
    result = check(TEN[:3] + TEN[4:])
    assert kinds(result) == [("removed", "verdict-3")]
    assert result.verified == 9


def test_truncated_partition_is_noticed():
    assert kinds(check(TEN[:8])) == [("removed", "verdict-8"), ("removed", "verdict-9")]


def test_emptied_partition_is_noticed():
    result = check([])
    assert len(result.findings) == 10


def test_inserted_verdict_is_found():
    result = check([*TEN[:3], 99, *TEN[3:]])
    assert [finding.kind for finding in result.findings] == ["inserted"]
    assert result.findings[0].offset == 3


def test_reordered_verdicts_are_found():
    result = check([*TEN[:3], 4, 3, *TEN[5:]])
    assert {finding.kind for finding in result.findings} == {"reordered"}


def test_of_one_verdict_moved_far_only_that_one_is_named():
    assert kinds(check([9, *TEN[:9]])) == [("reordered", "verdict-9")]
    assert kinds(check([*TEN[1:], 0])) == [("reordered", "verdict-0")]


def test_expired_records_are_no_finding():
    result = check(TEN[4:], first=4, retention=Retention(9 * DAY, 10 * DAY))
    assert (result.verified, result.expired, result.findings) == (6, 4, [])


@pytest.mark.parametrize(
    ("kept_ms", "why"),
    [
        (-1, "for ever (retention.ms=-1)"),
        (30 * DAY, "keeps them until 1970-02-01 00:00 UTC"),
        (2**63 - 1, "keeps them until 2070"),
        (None, "does not tell"),
    ],
)
def test_a_beginning_that_retention_does_not_explain_was_removed(kept_ms, why):
    result = check(TEN[4:], first=4, retention=Retention(kept_ms, 10 * DAY))
    assert (result.verified, result.expired) == (6, 0)
    assert kinds(result) == [("removed", "verdict-0")]
    assert "4 recorded verdicts, up to offset 3" in str(result.findings[0])
    assert why in str(result.findings[0])


def test_of_a_beginning_only_what_is_too_young_was_removed():
    result = check(TEN[7:], first=7, retention=Retention(9 * DAY, 10 * DAY))
    assert (result.verified, result.expired) == (3, 4)
    assert kinds(result) == [("removed", "verdict-4")]


def test_a_partition_cut_off_to_its_end_was_removed():
    assert kinds(check([], end=10)) == [("removed", "verdict-0")]


def test_entries_of_unknown_time_are_never_expired():
    chains = chain_of(blocks_of([entry(n) for n in range(4)], []))
    result = against(chains, [], 0, 4, Retention(1, 10 * DAY))
    assert kinds(result) == [("removed", "verdict-0")]


def test_records_behind_the_chain_are_pending():
    result = check([*TEN, 10, 11])
    assert (result.verified, result.pending, result.findings) == (10, 2, [])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=15), st.data())
def test_any_single_change_is_found(contents, data):
    position = data.draw(st.integers(0, len(contents) - 1))
    what = data.draw(st.sampled_from(["change", "remove", "insert"]))
    altered = list(contents)
    if what == "change":
        altered[position] = 99
    elif what == "remove":
        del altered[position]
    else:
        altered.insert(position, 99)
    chains = chain_of(blocks_of([entry(n, c) for n, c in enumerate(contents)], []))
    assert against(chains, altered, 0, len(altered), FOR_EVER).findings


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_blocks_may_be_cut_anywhere_and_come_twice(cuts, other_cuts):
    entries = [entry(n) for n in range(20)]
    once = chain_of(blocks_of(entries, cuts))
    twice = chain_of([*blocks_of(entries, cuts), *blocks_of(entries, other_cuts)])
    assert twice.of(CHAIN).head == once.of(CHAIN).head
    assert not twice.result.findings


def test_altered_block_is_found():
    first, second = blocks_of([entry(n) for n in range(6)], [3])
    forged = second.model_copy(update={"entries": (entry(3, 77), *second.entries[1:])})
    assert [f.kind for f in chain_of([first, forged]).result.findings] == ["chain_broken"]


def test_forged_continuation_is_found():
    first, second = blocks_of([entry(n) for n in range(6)], [3])
    fork = block([entry(3, 77)], 3, first.hash)
    found = chain_of([first, second, fork]).result.findings
    assert [f.kind for f in found] == ["chain_broken"]
    assert "two ways" in str(found[0])


def test_missing_block_is_a_gap():
    first, _, third = blocks_of([entry(n) for n in range(9)], [3, 6])
    found = chain_of([first, third]).result.findings
    assert [f.kind for f in found] == ["chain_gap"]
    assert "3 to 5" in str(found[0])


def test_block_of_another_chain_does_not_fit():
    (made,) = blocks_of([entry(0)], [])
    moved = Chains()
    moved.of("accepted-1").append(made)
    assert [f.kind for f in moved.result.findings] == ["chain_broken"]


@asynccontextmanager
async def auditing(settings: Settings):
    """A running auditor."""
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    stop = asyncio.Event()
    task = asyncio.create_task(AuditSource(publisher, settings).run(stop))
    try:
        yield task
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)
        await publisher.stop()


async def recorded(settings: Settings, count: int) -> None:
    """Wait until the chains hold ``count`` entries."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with read_chains(settings) as chains:
                if sum(chain.length for chain in chains.all()) >= count:
                    return
            await asyncio.sleep(0.1)


async def test_every_verdict_is_recorded_and_a_restart_leaves_no_gap(kafka: Settings):
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(30)])
    await publish(kafka, QUARANTINE, [verdict(n) for n in range(30, 40)])
    async with auditing(kafka):
        await recorded(kafka, 40)
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(40, 60)])
    async with auditing(kafka):
        await recorded(kafka, 60)
    result = await verify(kafka)
    assert (result.verified, result.pending, result.findings) == (60, 0, [])
    assert sum(head.entries for head in result.heads) == 60


async def test_two_writers_of_one_chain_do_no_harm(kafka: Settings):
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(30)])
    async with auditing(kafka):
        await recorded(kafka, 30)
    # A paused process that lost its partitions writes once more what it held.
    blocks = [r async for r in read_topics(kafka, [AUDIT])]
    await publish(kafka, AUDIT, [AuditBlock.model_validate_json(b.value) for b in blocks[:2]])
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(30, 40)])
    async with auditing(kafka):
        await recorded(kafka, 40)
    result = await verify(kafka)
    assert (result.verified, result.findings) == (40, [])


async def test_several_workers_share_the_chains(kafka: Settings):
    """One joins, records are written, one leaves: each chain has one writer at a time."""
    await create_topics(kafka)
    count = 4 * kafka.partitions
    async with auditing(kafka):
        async with auditing(kafka):
            await publish(kafka, ACCEPTED, [verdict(n) for n in range(count)])
            await recorded(kafka, count)
            await publish(kafka, QUARANTINE, [verdict(n) for n in range(count, 2 * count)])
            await recorded(kafka, 2 * count)
        await publish(kafka, ACCEPTED, [verdict(n) for n in range(2 * count, 3 * count)])
        await recorded(kafka, 3 * count)
    result = await verify(kafka)
    assert (result.verified, result.pending, result.findings) == (3 * count, 0, [])


async def test_tampered_topic_is_found_by_the_command(kafka: Settings):
    """The topic is deleted and written again with one verdict turned round and one left out."""
    settings = kafka.model_copy(update={"partitions": 1})
    verdicts = [verdict(n) for n in range(10)]
    await publish(settings, ACCEPTED, verdicts)
    async with auditing(settings):
        await recorded(settings, 10)
    clean = await asyncio.to_thread(command, settings, "verify")
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert "10 verified, 0 findings" in clean.stdout
    await delete_topic(settings, settings.topic(ACCEPTED.name))
    tampered = [*verdicts[:2], verdicts[2].model_copy(update={"value": "June 9"}), *verdicts[3:]]
    await publish(settings, ACCEPTED, [v for v in tampered if v.id != verdicts[6].id])
    found = await asyncio.to_thread(command, settings, "verify")
    assert found.returncode == 1
    lines = found.stdout.splitlines()
    assert any(line.startswith("changed") and verdicts[2].id in line for line in lines)
    assert any(line.startswith("removed") and verdicts[6].id in line for line in lines)
    assert len(lines) == 3


async def delete_topic(settings: Settings, name: str) -> None:
    """A real broker deletes it in its own time."""
    admin = new_admin(settings)
    try:
        await admin.start()
        await admin.delete_topics([name])
        async with asyncio.timeout(60):
            while name in await admin.list_topics():  # noqa: ASYNC110 - it asks the broker
                await asyncio.sleep(0.1)
    finally:
        await admin.close()


async def test_rewritten_history_differs_from_the_heads_that_were_kept(kafka: Settings, tmp_path):
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(10)])
    async with auditing(kafka):
        await recorded(kafka, 10)
    async with read_chains(kafka) as chains:
        kept = [chain.head for chain in chains.all()]
    printed = await asyncio.to_thread(command, kafka, "head")
    assert [Head.model_validate_json(line) for line in printed.stdout.splitlines()] == sorted(
        kept, key=lambda head: head.chain
    )
    assert not (await verify(kafka, kept)).findings
    forged = [head.model_copy(update={"hash": "0" * 64}) for head in kept]
    longer = [head.model_copy(update={"entries": head.entries + 5}) for head in kept]
    for wrong in (forged, longer):
        result = await verify(kafka, wrong)
        assert {finding.kind for finding in result.findings} == {"head_differs"}
        assert len(result.findings) == len(kept)


async def test_auditor_stops_where_recorded_verdicts_are_gone(kafka: Settings):
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(10)])
    tp = TopicPartition(kafka.topic("accepted"), 0)
    lost = AuditEntry(
        source=Coordinates(topic=tp.topic, partition=0, offset=10_000),
        verdict_id=None,
        sha256="0" * 64,
    )
    head = genesis(f"{tp.topic}-0").hex()
    ahead = AuditBlock(
        chain=f"{tp.topic}-0", index=0, previous=head, entries=(lost,), hash=fold(head, [lost])
    )
    await publish(kafka, AUDIT, [ahead], key=ahead.chain)
    assert (await chain_ends(kafka, ROLE, [tp]))[tp].next_offset == 10_001
    async with auditing(kafka) as task:
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([task])
        with pytest.raises(OperatorError, match="records are gone"):
            task.result()


@pytest.mark.parametrize("kept_ms", ["-1", "60000"])
async def test_chain_without_its_beginning_is_a_gap_unless_the_topic_forgets(
    kafka: Settings, kept_ms: str
):
    await create_with_retention(kafka, kafka.topic(AUDIT.name), kept_ms)
    await create_topics(kafka)
    chain = f"{kafka.topic('accepted')}-0"
    head = genesis(chain).hex()
    later = block([entry(7)], 7, head).model_copy(update={"chain": chain})
    await publish(kafka, AUDIT, [later], key=chain)
    result = await verify(kafka)
    gaps = [finding for finding in result.findings if finding.kind == "chain_gap"]
    if kept_ms == "-1":
        why = "the blocks of its first 7 entries are gone, and not by retention: "
        kept = "the topic keeps them for ever (retention.ms=-1)"
        assert gaps == [AuditFinding("chain_gap", chain, why + kept)]
    else:
        assert (gaps, result.expired) == ([], 7)


async def create_with_retention(settings: Settings, name: str, kept_ms: str) -> None:
    admin = new_admin(settings)
    try:
        await admin.start()
        config = {"retention.ms": kept_ms}
        await admin.create_topics([NewTopic(name, 1, 1, topic_configs=config)])
    finally:
        await admin.close()


async def test_contradicting_verdicts_become_a_dead_letter(kafka: Settings):
    await create_topics(kafka)
    first, second = verdict(1), verdict(1).model_copy(update={"score": 0.99})
    async with auditing(kafka):
        await publish(kafka, ACCEPTED, [first, first, second])
        await recorded(kafka, 3)
    letters = [
        DeadLetter.model_validate_json(r.value) async for r in read_topics(kafka, [DEAD_LETTERS])
    ]
    assert [(letter.error, letter.source.offset) for letter in letters] == [("VerdictConflict", 2)]


def command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "safepassage", "audit", *arguments],
        env=environment(settings),
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )

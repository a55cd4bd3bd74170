"""One contract, two sources: what Faust and the plain loop promise alike, on a real broker."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import Sequence

import pytest

from safepassage.schemas import DeadLetter, Document, ExtractionManifest
from safepassage.streams.delivery.record_outcomes import Outcome
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import PublishFailed
from safepassage.streams.kafka.records import Received
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS, DOCUMENTS, MANIFESTS
from tests.streams.broker import (
    NewSource,
    all_records,
    batch_source,
    committed,
    faust_source,
    offsets_of,
    running,
    send,
    send_documents,
    until,
)
from tests.streams.doubles import document_role, note_each

COUNT = 60
IDS = [f"d{n % 12}-{n}" for n in range(COUNT)]

both = pytest.mark.parametrize("new_source", [faust_source, batch_source])


class Step:
    """Notes what it was given; waits while ``gate`` is closed."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, batch: Sequence[Received[Document]]) -> list[Outcome]:
        self.seen += [received.event.id for received in batch]
        await self.gate.wait()
        return await note_each(batch)


async def noted(settings: Settings) -> Counter[str]:
    records = await all_records(settings, MANIFESTS)
    events = [ExtractionManifest.model_validate_json(record.value or b"") for record in records]
    return Counter(event.document.id for event in events)


async def everything_is_committed(settings: Settings) -> bool:
    there = offsets_of(await all_records(settings, DOCUMENTS))
    done = await committed(settings, "extract", DOCUMENTS)
    return all(done[partition] == count for partition, count in there.items())


@both
async def test_a_graceful_stop_leaves_everything_handled_committed(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS)
    step = Step()
    async with running(new_source, document_role(step), kafka) as member:
        await until(lambda: len(step.seen) >= COUNT, "all documents", member.task)
    assert await noted(kafka) == Counter(IDS)
    assert await everything_is_committed(kafka)


@both
async def test_a_graceful_stop_in_mid_stream_repeats_nothing(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS)
    first, second = Step(), Step()
    async with running(new_source, document_role(first, batch=4), kafka) as member:
        await until(lambda: len(first.seen) >= COUNT // 3, "a third", member.task)
    async with running(new_source, document_role(second, batch=4), kafka) as member:
        everything = lambda: {*first.seen, *second.seen} >= set(IDS)  # noqa: E731
        await until(everything, "the rest", member.task)
    assert await noted(kafka) == Counter(IDS)


@both
async def test_nothing_is_committed_before_its_results_are_out(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS)
    step = Step()
    step.gate.clear()
    async with running(new_source, document_role(step), kafka) as member:
        await until(lambda: bool(step.seen), "the first batch", member.task)
        await asyncio.sleep(1.5)  # three of Faust's commit intervals
        assert set((await committed(kafka, "extract", DOCUMENTS)).values()) == {0}
        step.gate.set()
        await until(lambda: len(step.seen) >= COUNT, "the rest", member.task)
    assert await everything_is_committed(kafka)


@both
async def test_what_a_killed_member_held_is_delivered_to_the_next(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS)
    first, second = Step(), Step()
    first.gate.clear()
    settings = kafka.model_copy(update={"drain_seconds": 0.5})
    with pytest.raises(asyncio.CancelledError):  # noqa: PT012 - the block is the member's life
        async with running(new_source, document_role(first), settings) as member:
            await until(lambda: bool(first.seen), "the first batch", member.task)
            member.task.cancel()
    async with running(new_source, document_role(second), kafka) as member:
        await until(lambda: set(second.seen) == set(IDS), "all documents", member.task)
    assert await noted(kafka) == Counter(IDS)
    assert await everything_is_committed(kafka)


@both
async def test_poison_goes_to_the_dead_letters_with_its_bytes_and_holds_up_nobody(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    poison = [b"\xff\xfe", b'{"id":"x"}', b'{"version":9}', b"[" * 10_000, b'"\\ud800"', None]
    await send(kafka, DOCUMENTS, [(b"k", value) for value in poison])
    await send_documents(kafka, IDS)
    step = Step()
    async with running(new_source, document_role(step), kafka) as member:
        await until(lambda: len(step.seen) >= COUNT, "all documents", member.task)
    letters = [
        DeadLetter.model_validate_json(record.value or b"")
        for record in await all_records(kafka, DEAD_LETTERS)
    ]
    assert {x.value and base64.b64decode(x.value) for x in letters} == set(poison)
    assert await noted(kafka) == Counter(IDS)
    assert await everything_is_committed(kafka)


@both
async def test_a_blocked_role_holds_a_bounded_number_of_records(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, [f"d{n}" for n in range(1_000)])
    step = Step()
    step.gate.clear()
    async with running(new_source, document_role(step, lanes=2, batch=4), kafka) as member:
        await until(lambda: bool(step.seen), "the first batch", member.task)
        await asyncio.sleep(1.5)
        # Two batches a lane, and the one that waits for room.
        assert member.source.progress.outstanding <= 2 * 2 * 4 + 1
        step.gate.set()
        await until(lambda: len(step.seen) >= 1_000, "all documents", member.task)


@both
async def test_the_records_of_a_key_come_out_in_order(kafka: Settings, new_source: NewSource):
    await create_topics(kafka)
    texts = [(f"k{n % 5}".encode(), Document(id=f"{n:03}", text="t").to_json()) for n in range(100)]
    await send(kafka, DOCUMENTS, texts)
    step = Step()
    async with running(new_source, document_role(step), kafka) as member:
        await until(lambda: len(step.seen) >= 100, "all documents", member.task)
    for key in range(5):
        mine = [doc_id for doc_id in step.seen if int(doc_id) % 5 == key]
        assert mine == sorted(mine)


@both
async def test_two_members_share_the_partitions_and_a_leaving_one_loses_nothing(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS)
    first, second = Step(), Step()
    async with running(new_source, document_role(first), kafka) as one:
        await until(lambda: len(first.seen) >= COUNT, "the first part", one.task)
        async with running(new_source, document_role(second), kafka) as two:
            more = [f"more-{n}" for n in range(4 * COUNT)]
            for doc_id in more:  # spread over the time of the rebalance
                await send_documents(kafka, [doc_id])
                if second.seen:
                    break
            sent = more[: more.index(doc_id) + 1]
            await until(lambda: bool(second.seen), "a share of the second", one.task, two.task)
        last = [f"last-{n}" for n in range(COUNT)]
        await send_documents(kafka, last)
        await until(lambda: set(last) <= set(first.seen), "the last part", one.task)
    assert set(await noted(kafka)) == {*IDS, *sent, *last}
    assert await everything_is_committed(kafka)


@both
async def test_a_rebalance_waits_for_what_is_handled_and_repeats_none_of_it(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send_documents(kafka, IDS[:8])
    first, second = Step(), Step()
    first.gate.clear()
    async with running(new_source, document_role(first), kafka) as one:
        await until(lambda: bool(first.seen), "the first batch", one.task)
        under_way = list(first.seen)
        async with running(new_source, document_role(second), kafka) as two:
            await asyncio.sleep(2)
            first.gate.set()
            done = lambda: {*first.seen, *second.seen} >= set(IDS[:8])  # noqa: E731
            await until(done, "everything", one.task, two.task)
    counts = await noted(kafka)
    assert set(counts) == set(IDS[:8])
    assert all(counts[doc_id] == 1 for doc_id in under_way)


@both
async def test_a_role_that_cannot_write_stops_and_commits_nothing(
    kafka: Settings, new_source: NewSource
):
    await create_topics(kafka)
    await send(kafka, DOCUMENTS, [(b"k", Document(id="large", text="x" * 200_000).to_json())])
    # The producer of these settings refuses the document's dead letter by its size.
    settings = kafka.model_copy(update={"max_record_bytes": 2**14})

    async def fail(batch: Sequence[Received[Document]]) -> list[Outcome]:
        raise ValueError

    with pytest.raises(PublishFailed):
        async with running(new_source, document_role(fail, lanes=1, batch=64), settings) as member:
            await until(member.task.done, "the end", member.task)
    assert not await everything_is_committed(kafka)
    assert await all_records(kafka, DEAD_LETTERS) == []

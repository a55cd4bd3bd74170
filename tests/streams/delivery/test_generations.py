"""What a member may commit once a rebalance went over its head.

A commit of a former generation is refused by the broker. The same offsets committed in the next
one are not: they would take back what others have passed since, and all of it would be done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from aiokafka import OffsetAndMetadata, TopicPartition
from aiokafka.consumer import consumer as consumer_module
from aiokafka.errors import CommitFailedError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.types import TP, Message

from safepassage.schemas import Coordinates, Document, ExtractionManifest
from safepassage.streams.delivery.faust_source import FaustSource, SafeConsumer
from safepassage.streams.delivery.record_outcomes import Outcome
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.report.report_source import ReportSource
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, MANIFESTS
from tests.streams.broker import batch_source, faust_source
from tests.streams.doubles import FakePublisher, document_role, note_each

from .test_ledger import outstanding

PLACE = TP("documents", 0)


class FakeConsumer:
    """Fetches one record, then none; notes the commits."""

    def __init__(self, topic: str, value: bytes) -> None:
        self.place = TopicPartition(topic, 0)
        self._subscription = SimpleNamespace(subscription=None)
        self.value = value
        self.commits: list[dict[TopicPartition, int]] = []

    def records(self) -> dict[TopicPartition, list[SimpleNamespace]]:
        record = SimpleNamespace(
            topic=self.place.topic,
            partition=0,
            offset=7,
            key=b"k",
            value=self.value,
            headers=(),
            timestamp=0,
        )
        return {self.place: [record]}

    async def getmany(self, **_options: object) -> dict[TopicPartition, list[SimpleNamespace]]:
        return self.records()

    async def commit(self, offsets: dict[TopicPartition, int]) -> None:
        self.commits.append(offsets)

    def highwater(self, _place: TopicPartition) -> int:
        return 8

    def last_stable_offset(self, _place: TopicPartition) -> int:
        return 8

    def assignment(self) -> set[TopicPartition]:
        return {self.place}

    async def position(self, _place: TopicPartition) -> int:
        return 8


def source_and_consumer() -> tuple[FaustSource, SafeConsumer]:
    source = faust_source(document_role(), FakePublisher(), Settings())
    consumer = SafeConsumer.__new__(SafeConsumer)  # its own beginning needs a running app
    consumer.source = source
    return source, consumer


class SlowCommits:
    """Faust's commit, which calls everything committed, when ``ended`` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ended = asyncio.Event()
        monkeypatch.setattr(FaustConsumer, "_commit", self.commit)

    async def commit(self, _offsets: object) -> bool:
        await self.ended.wait()
        return True


@pytest.mark.parametrize(("rebalanced", "committable"), [(False, None), (True, 3)])
async def test_a_commit_that_ends_after_a_rebalance_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, rebalanced: bool, committable: int | None
):
    """Else what is delivered again would not be committed until it had passed the old offset."""
    commits = SlowCommits(monkeypatch)
    source, consumer = source_and_consumer()
    committing = asyncio.create_task(consumer._commit({PLACE: 100}))
    await asyncio.sleep(0)
    if rebalanced:
        source.take_up()
    source.ledger.delivered(PLACE, 2)
    source.ledger.finished(PLACE, 2)
    commits.ended.set()
    assert await committing
    assert source.ledger.committable(PLACE) == committable
    source._directory.cleanup()


async def test_nothing_of_a_former_generation_can_be_committed_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
):
    """A member that slept through a rebalance knows of offsets that others have passed since."""
    commits: list[dict[TP, int]] = []

    async def commit(self: SafeConsumer) -> None:
        commits.append(
            {
                tp: offset
                for tp in self._filter_tps_with_pending_acks()
                if (offset := self.source.ledger.committable(tp)) is not None
            }
        )

    async def revoked(*_arguments: object) -> None:
        commits.append(dict.fromkeys(consumer._filter_tps_with_pending_acks(), 0))

    monkeypatch.setattr(SafeConsumer, "commit_all", commit)
    monkeypatch.setattr(SafeConsumer, "stop_flow", lambda _self: None)
    monkeypatch.setattr(FaustConsumer, "on_partitions_revoked", revoked)
    source, consumer = source_and_consumer()
    source.take_up()
    for offset in (3, 4):
        source.ledger.delivered(PLACE, offset)
    source.ledger.finished(PLACE, 3)
    await consumer.on_partitions_revoked({PLACE})
    await source._deliver(Message("documents", 0, 5, 0.0, 0, {}, b"", b"", None))
    source.ledger.finished(PLACE, 4)
    assert commits == [{PLACE: 4}, {}]
    assert source.ledger.partitions() == ()
    source._directory.cleanup()


def coordinator_of(generation: int, *, assigned_by_group: bool) -> consumer_module.GroupCoordinator:
    """What commits for a member; without the client that it begins with."""
    made = consumer_module.GroupCoordinator.__new__(consumer_module.GroupCoordinator)
    state = SimpleNamespace(partitions_auto_assigned=lambda: assigned_by_group)
    vars(made).update(_subscription=state, generation=generation)
    return made


@pytest.mark.parametrize(
    ("generation", "assigned_by_group", "commits"), [(-1, True, 0), (3, True, 1), (-1, False, 1)]
)
async def test_a_member_that_was_expelled_commits_nothing(
    generation: int, assigned_by_group: bool, commits: int
):
    """Kafka takes a commit without a generation from anybody while the group has no member."""
    sent: list[object] = []

    async def send(request: object) -> SimpleNamespace:
        sent.append(request)
        return SimpleNamespace(topics=[("documents", [(0, 0)])])

    coordinator = coordinator_of(generation, assigned_by_group=assigned_by_group)
    vars(coordinator).update(_send_req=send, coordinator_id=0, group_id="g", member_id="m")
    offsets = {TopicPartition("documents", 0): OffsetAndMetadata(7, "")}
    with nullcontext() if commits else pytest.raises(CommitFailedError):
        await coordinator._do_commit_offsets(None, offsets)
    assert len(sent) == commits


async def test_a_faust_role_goes_on_after_it_was_expelled():
    """It joins again; its records are delivered anew."""
    coordinator = coordinator_of(-1, assigned_by_group=True)

    async def commit(offsets: object) -> None:
        await coordinator._do_commit_offsets(None, offsets)

    crashes: list[BaseException] = []

    async def crash(error: BaseException) -> None:
        crashes.append(error)

    member = SimpleNamespace(
        _ensure_consumer=lambda: SimpleNamespace(commit=commit),
        assignment=lambda: {PLACE},
        tp_last_committed_at={},
        log=SimpleNamespace(exception=lambda *_: None),
        crash=crash,
    )
    assert await AIOKafkaConsumerThread._commit(member, {PLACE: 7}) is False
    assert not crashes


@pytest.mark.parametrize(("patience", "commits"), [(10.0, 1), (0.0, 0)])
async def test_a_batch_that_outlives_its_partitions_commits_nothing(patience: float, commits: int):
    settings = Settings().model_copy(update={"kafka_rebalance_timeout_seconds": 2 * patience})
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(batch: Sequence[Received[Document]]) -> list[Outcome]:
        begun.set()
        await ended.wait()
        return await note_each(batch)

    source = batch_source(document_role(slow), FakePublisher(), settings)
    document = Document(id="d", text="text")
    consumer = FakeConsumer(settings.topic(DOCUMENTS.name), document.to_json())
    taking = asyncio.create_task(source._take(consumer, consumer.records()))
    await begun.wait()
    revoked = asyncio.create_task(source._turn.on_partitions_revoked([consumer.place]))
    if not commits:
        await revoked
    ended.set()
    await asyncio.gather(taking, revoked)
    assert consumer.commits == [{consumer.place: 8}] * commits


async def test_what_was_fetched_and_dropped_in_a_rebalance_is_not_committed():
    """Until the partitions are assigned anew, the position is behind what was dropped."""
    source = batch_source(document_role(), FakePublisher(), Settings())
    consumer = FakeConsumer("documents", b"")
    source._committed[consumer.place] = 7
    await source._turn.on_partitions_revoked([consumer.place])
    await source._take(consumer, {})
    await source._commit_positions(consumer)
    assert consumer.commits == []
    await source._turn.on_partitions_assigned([consumer.place])
    await source._commit_positions(consumer)
    assert consumer.commits == [{consumer.place: 8}]
    source._lag.clear()


@pytest.mark.parametrize("rebalanced", [False, True])
async def test_a_report_written_during_a_rebalance_is_not_committed(rebalanced: bool):
    class Publisher(FakePublisher):
        async def publish(self, outgoing: Sequence[Outgoing]) -> dict[int, str]:
            if rebalanced:
                await source._turn.on_partitions_revoked([])
            return await super().publish(outgoing)

    settings = Settings().model_copy(update={"kafka_rebalance_timeout_seconds": 0.0})
    source = ReportSource(Publisher(), settings)
    source._prepared = source._turn.generation
    ref = Document(id="d", text="text").ref(Coordinates(topic="documents", partition=0, offset=0))
    manifest = ExtractionManifest(document=ref, extraction_ids=())
    consumer = FakeConsumer(settings.topic(MANIFESTS.name), manifest.to_json())
    await source._take(consumer, consumer.records())
    await source._commit_positions(consumer)
    assert consumer.commits == ([] if rebalanced else [{consumer.place: 8}])


async def test_work_that_outlives_a_rebalance_leaves_the_new_generation_alone(kafka: Settings):
    source = faust_source(document_role(), FakePublisher(), kafka)
    message = SimpleNamespace(
        topic="documents", partition=0, offset=7, key=b"k", value=b"v", timestamp=0.0, headers=None
    )
    queued: list[Record] = []

    async def put(record: Record) -> None:
        queued.append(record)

    source._lanes.put = put
    source.take_up()
    await source._deliver(message)
    source.release()
    source.take_up()
    await source._deliver(message)
    source._finished(queued[0])
    place = TP("documents", 0)
    assert (source.progress.outstanding, outstanding(source.ledger, place)) == (1, 1)
    source._finished(queued[1])
    assert (source.progress.outstanding, outstanding(source.ledger, place)) == (0, 0)
    source._directory.cleanup()

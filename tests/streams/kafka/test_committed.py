"""What a transaction took back is read by nobody."""

from __future__ import annotations

import pytest
from aiokafka import TopicPartition

from safepassage.streams.kafka import clients
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.reading import readable_end
from safepassage.streams.settings import Settings
from tests.streams.broker import faust_source, running, until
from tests.streams.doubles import document_role

PLACE = TopicPartition("documents", 0)


def test_every_consumer_of_ours_reads_committed_records(kafka: Settings, monkeypatch):
    made: list[dict[str, object]] = []
    monkeypatch.setattr(clients, "AIOKafkaConsumer", lambda **options: made.append(options))
    clients.new_reader(kafka)
    clients.new_group_consumer(kafka, "score")
    assert [options["isolation_level"] for options in made] == ["read_committed"] * 2


async def test_faust_reads_committed_records(kafka: Settings):
    await create_topics(kafka)
    async with running(faust_source, document_role(), kafka) as member:
        await until(lambda: member.source.assignments > 0, "the group", member.task)
        consumer = member.source._app.consumer._thread._consumer
        assert consumer._isolation_level == "read_committed"
        assert consumer._fetcher._isolation_level == 1


class Fetched:
    """A consumer that knows these two offsets of a partition."""

    def __init__(self, high: int | None, stable: int | None) -> None:
        self.highwater = lambda _: high
        self.last_stable_offset = lambda _: stable


@pytest.mark.parametrize(
    ("high", "stable", "end"), [(None, None, None), (9, 4, 4), (9, -1, 9), (9, None, 9), (9, 9, 9)]
)
def test_a_bounded_read_does_not_wait_for_an_open_transaction(high, stable, end):
    assert readable_end(Fetched(high, stable), PLACE) == end

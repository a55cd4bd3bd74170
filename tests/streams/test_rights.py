"""Least privilege: a role starts and works with the rights that the documentation grants it."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka.errors import ClusterAuthorizationFailedError, TopicAuthorizationFailedError
from typer.main import get_command
from typer.testing import CliRunner

from safepassage.streams import topology, worker
from safepassage.streams.cli import app
from safepassage.streams.doctor.acls import acl_commands
from safepassage.streams.kafka.admin import TopicsRefused, create_topics
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.refusals import refusal
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ACCESS, ALL_TOPICS, WITH_REPORT, topics_of
from safepassage.streams.wiring import ROLE_NAMES
from tests.stack import environment
from tests.streams.judged import FakeScorer, publish, verdict
from tests.streams.rights import Rights, rights_of

TOPICS_PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "topics.md").read_text()
QUIET_SECONDS = 3.0


@asynccontextmanager
async def working(roles: list[str], settings: Settings, monkeypatch):
    """A worker in this process; yields its task."""
    stop = asyncio.Event()
    monkeypatch.setattr(worker, "stop_event", lambda *_: stop)
    monkeypatch.setattr("safepassage.scoring_worker.load_scorer", lambda *_, **__: FakeScorer())
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    task = asyncio.create_task(worker._run(roles, settings))
    try:
        yield task
    finally:
        stop.set()
        await asyncio.wait((task,), timeout=60)


@pytest.mark.parametrize("role", ROLE_NAMES)
async def test_role_works_with_its_rights_and_tries_no_others(
    role: str, kafka: Settings, monkeypatch
):
    settings = kafka.model_copy(update={"console_port": 0, "entity_types": ("Date",)})
    await create_topics(settings)
    rights = rights_of(role, settings).install(monkeypatch)
    async with working([role], settings, monkeypatch) as task:
        await asyncio.wait((task,), timeout=QUIET_SECONDS)
        assert not task.done(), task.exception()
    task.result()
    assert rights.denied == []


async def test_role_that_may_read_a_topic_but_not_write_it_stops_and_names_both(
    kafka: Settings, monkeypatch
):
    """The chain of `audit` is read before it is written: only the first block is refused."""
    await create_topics(kafka)
    await publish(kafka, ACCEPTED, [verdict(1)])
    rights = rights_of("audit", kafka)
    rights.write -= {kafka.topic("audit")}
    rights.install(monkeypatch)
    async with working(["audit"], kafka, monkeypatch) as task:
        await asyncio.wait((task,), timeout=kafka.publish_patience_seconds / 2)
        with pytest.raises(worker.RoleStopped, match=r"topic \S+audit: this user may not Write it"):
            await asyncio.wait_for(task, 0)
    assert {("write", kafka.topic("audit"))} == set(rights.denied)


async def test_missing_topic_that_may_not_be_created_is_named_and_stops_the_worker(
    kafka: Settings, monkeypatch
):
    rights = rights_of("score", kafka).install(monkeypatch)
    with pytest.raises(TopicsRefused) as refused:
        await worker.prepare_topics(kafka, ["score"])
    for topic in topics_of(["score"]):
        assert kafka.topic(topic.name) in str(refused.value)
    assert "doctor --acls" in str(refused.value)
    assert ("create", kafka.topic("scorers")) in rights.denied


async def test_topic_that_may_not_be_described_is_named(kafka: Settings, monkeypatch):
    await create_topics(kafka)
    granted = rights_of("align", kafka)
    hidden = kafka.topic("quarantine")
    Rights(granted.read, granted.write - {hidden}).install(monkeypatch)
    with pytest.raises(TopicsRefused, match=hidden):
        await worker.prepare_topics(kafka, ["align"])


async def test_topic_that_may_not_be_described_is_no_missing_one_to_a_reader(
    kafka: Settings, monkeypatch
):
    """A list of all topics leaves it out; a reading command then said that it does not exist."""
    await create_topics(kafka)
    name = kafka.topic("accepted")
    Rights(rights_of("review", kafka).read - {name}).install(monkeypatch)
    with pytest.raises(TopicAuthorizationFailedError) as refused:
        [record async for record in read_topics(kafka, [ACCEPTED])]
    assert f"topic {name}: this user may not Read or Describe it" in refusal(refused.value)


async def test_topics_of_other_roles_are_created_where_that_is_allowed(kafka: Settings):
    created = await create_topics(kafka, needed=[ACCEPTED])
    assert set(created) == {kafka.topic(topic.name) for topic in ALL_TOPICS}
    assert await create_topics(kafka, needed=[ACCEPTED]) == []


WITHOUT_A_GROUP = """
import sys, types
from safepassage.streams import worker
from safepassage.streams.settings import Settings
from tests.streams.rights import rights_of
role, settings = sys.argv[1], Settings()
rights_of(role, settings).without_groups().install(types.SimpleNamespace(setattr=setattr))
worker.run_worker([role], settings, alone=True)
"""


@pytest.mark.parametrize("role", ["align", "report"])
async def test_role_without_its_group_ends_and_names_the_right(role: str, kafka: Settings):
    """In a process of its own, which has to end too, whatever threads wait in it."""
    await create_topics(kafka)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", WITHOUT_A_GROUP, role],
        env=environment(kafka),
        capture_output=True,
        check=False,
        text=True,
        timeout=90,
    )
    assert ended.returncode == 1
    (told,) = [
        line
        for line in ended.stderr.splitlines()
        if line.startswith("safepassage.streams.worker.RoleStopped")
    ]
    assert kafka.group("") in told
    assert "may not Read it" in told
    assert "doctor --acls" in told


@pytest.mark.parametrize("lacking", ["group", "topic"])
async def test_missing_right_is_named_before_the_model_is_loaded(
    kafka: Settings, monkeypatch, lacking: str
):
    await create_topics(kafka)
    rights = rights_of("score", kafka)
    hidden = kafka.topic("alignments")
    if lacking == "group":
        rights = rights.without_groups()
    rights.read -= {hidden}
    rights.install(monkeypatch)
    monkeypatch.setattr(worker.wiring, "source", _never)
    monkeypatch.setattr(worker, "stop_event", lambda *_: asyncio.Event())
    named = kafka.group("score") if lacking == "group" else hidden
    with pytest.raises(worker.RoleStopped, match=rf"{lacking} {named}: this user may not Read"):
        await worker._run(["score"], kafka)


async def test_health_port_that_is_taken_is_named_before_the_model_is_loaded(
    kafka: Settings, monkeypatch
):
    monkeypatch.setattr(worker.wiring, "source", _never)
    monkeypatch.setattr(worker, "stop_event", lambda *_: asyncio.Event())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = kafka.model_copy(update={"health_port": taken.getsockname()[1]})
        with pytest.raises(OperatorError, match="already in use; set SAFEPASSAGE_HEALTH_HOST or"):
            await worker._run(["score"], settings)


@pytest.mark.parametrize(
    ("given", "started"),
    [
        (["report"], ["report", "audit", "drift", "realign"]),
        (["score", "report", "drift"], ["score", "report", "drift", "audit", "realign"]),
        (["report", "--alone"], ["report"]),
        (["audit"], ["audit"]),
        (["score", "align"], ["score", "align"]),
    ],
)
def test_report_runs_the_audit_unless_it_is_told_to_be_alone(given, started, monkeypatch):
    ran: list[str] = []

    async def run(roles: list[str], _settings: Settings) -> None:
        ran.extend(roles)

    monkeypatch.setattr(worker, "_run", run)
    monkeypatch.setattr("safepassage.streams.cli.worker.configure_logging", lambda *_, **__: None)
    ended = CliRunner().invoke(app, ["worker", *given])
    assert (ended.exit_code, ran) == (0, started), ended.output


def test_alone_is_about_the_role_report():
    ended = CliRunner().invoke(app, ["worker", "score", "--alone"])
    assert ended.exit_code == 2
    assert "is about the role report" in ended.output


async def _never(*_) -> None:
    raise AssertionError("the role was put together")


def test_topology_reads_what_the_roles_may_read():
    made = {
        "extract": topology.extract_role(None, None, max_characters=1, lanes=1),
        "align": topology.align_role(None, None),
        "score": topology.score_role(None, batch=1),
    }
    for name, role in made.items():
        assert set(role.topics) <= set(ACCESS[name].reads)
        assert role.name in ACCESS[name].groups


@pytest.mark.parametrize("role", ACCESS)
def test_documentation_lists_the_same_rights(role: str):
    row = re.search(rf"^\| `{role}` \| (.*) \| (.*) \| (.*) \|$", TOPICS_PAGE, re.MULTILINE)
    groups, reads, writes = (set(re.findall(r"`([\w-]+)`", cell)) for cell in row.groups())
    access = ACCESS[role]
    assert groups == {f"safepassage-{group}" for group in access.groups}
    assert reads == {topic.name for topic in access.reads}
    assert writes == {topic.name for topic in access.writes}


def test_doctor_prints_the_commands_that_grant_them():
    settings = Settings(topic_prefix="north-", kafka_bootstrap_servers="broker:9092")
    ended = subprocess.run(
        [sys.executable, "-m", "safepassage", "doctor", "--acls"],
        env=environment(settings),
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    commands = [line for line in ended.stdout.splitlines() if line.startswith("kafka-acls")]
    with_report = [rights_of(role, settings) for role in ("report", *WITH_REPORT)]
    for role in ACCESS:
        granted = [c for c in commands if f"--allow-principal User:safepassage-{role} " in c]
        # `worker report` runs these roles too, as its own user.
        users = with_report if role == "report" else [rights_of(role, settings)]
        assert _granted(granted, "Read", "topic") == frozenset().union(*(u.read for u in users))
        assert _granted(granted, "Write", "topic") == frozenset().union(*(u.write for u in users))
        assert _granted(granted, "Read", "group") == frozenset().union(*(u.groups for u in users))
        assert not _granted(granted, "Create", "topic")


def test_doctor_names_only_commands_that_exist():
    printed = "\n".join(acl_commands(Settings()))
    named = set(re.findall(r"`safepassage ([a-z-]+)", printed))
    assert named <= set(get_command(app).commands)
    assert named >= {"submit", "promote", "rollback", "shadow", "erase"}


def test_writer_without_any_write_is_told_of_that_right_first():
    """Kafka from 2.8 on lets whoever may Write a topic be idempotent."""
    told = refusal(ClusterAuthorizationFailedError())
    assert told.startswith("this user may Write to no topic")
    assert "doctor --acls" in told


def _granted(commands: list[str], operation: str, kind: str) -> frozenset[str]:
    chosen = [c for c in commands if f"--operation {operation} " in c]
    return frozenset(name for c in chosen for name in re.findall(rf"--{kind} (\S+)", c))

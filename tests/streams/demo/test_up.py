"""What `up` tells a shell is all that another command needs, and Ctrl-C reaches it everywhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from types import SimpleNamespace

import pytest

from safepassage.schemas import Coordinates, DeadLetter
from safepassage.streams.demo import run
from safepassage.streams.demo.corpus import SCHEMA
from safepassage.streams.demo.embedded import EmbeddedStack
from safepassage.streams.demo.run import corpus_schema, exports, own_llm, own_settings
from safepassage.streams.doctor import examination as doctor
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings

INTERRUPTED = """
import signal, sys, time
from safepassage.streams.demo.stack import sigterm_unwinds
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell without job control leaves it
with sigterm_unwinds():
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(7)
"""


def test_exports_are_all_that_another_shell_needs():
    environment = EmbeddedStack("127.0.0.1:1", "redis://127.0.0.1:2/0").environment()
    told = dict(line.removeprefix("export ").split("=", 1) for line in exports(environment))
    assert told == environment
    assert "SAFEPASSAGE_PARTITIONS" in told
    assert list(exports({"SAFEPASSAGE_CONSOLE_TOKEN": "t", "A": "b c"})) == ["export A='b c'"]


def test_what_decides_in_this_shell_decides_in_the_other_and_no_secret_is_told(monkeypatch):
    for name, value in {"PACKS": "legal", "STRICT": "true", "SERVE_TOKEN": "s3cret"}.items():
        monkeypatch.setenv(f"SAFEPASSAGE_{name}", value)
    told = own_settings()
    assert told.items() >= {"SAFEPASSAGE_PACKS": "legal", "SAFEPASSAGE_STRICT": "true"}.items()
    assert "s3cret" not in told.values()


def test_the_corpus_brings_its_schema_unless_the_user_says_what_to_extract(monkeypatch):
    assert corpus_schema() == {"SAFEPASSAGE_SCHEMA": str(SCHEMA)}
    monkeypatch.setenv("SAFEPASSAGE_ENTITY_TYPES", "Judge")
    assert corpus_schema() == {}
    monkeypatch.delenv("SAFEPASSAGE_ENTITY_TYPES")
    monkeypatch.setenv("SAFEPASSAGE_EXTRACTION_SCHEMA", "cases:Case")
    assert corpus_schema() == {}


def test_an_empty_stack_asks_for_the_users_llm(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OperatorError, match="set OPENAI_API_KEY"):
        own_llm()
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert own_llm()["OPENAI_BASE_URL"] == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("SAFEPASSAGE_MODEL", "own")
    assert own_llm() == {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "SAFEPASSAGE_MODEL": "own"}


def test_an_empty_stack_sends_nothing_to_the_users_llm(monkeypatch):
    """The bundled documents cost tokens."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    made: list[tuple[object, ...]] = []

    class Began(Exception):
        pass

    def running_stack(*given: object):
        made.append(given)
        raise Began

    monkeypatch.setattr(run, "running_stack", running_stack)
    with pytest.raises(Began):
        run.run_up(empty=True)
    ((_, environment, recording),) = made
    assert recording is None
    assert "SAFEPASSAGE_SCHEMA" not in environment


async def test_doctor_is_content_with_the_topics_under_these_exports(kafka: Settings, monkeypatch):
    stack = EmbeddedStack(kafka.kafka_bootstrap_servers, kafka.redis_url.get_secret_value())
    for line in exports(stack.environment() | {"SAFEPASSAGE_TOPIC_PREFIX": kafka.topic_prefix}):
        monkeypatch.setenv(*line.removeprefix("export ").split("=", 1))
    await create_topics(kafka)
    assert [found.state for found in await doctor.check_topics(Settings())] == ["ok"]


async def test_patience_counts_from_the_last_document_and_the_logs_are_named(monkeypatch):
    async def one_and_no_more(pending: set[Coordinates], _: Settings):
        yield DeadLetter.model_construct(source=min(pending, key=str))
        await asyncio.Event().wait()

    monkeypatch.setattr(run, "wait_for_reports", one_and_no_more)
    monkeypatch.setattr(run, "PATIENCE_SECONDS", 0.01)
    stack = SimpleNamespace(settings=Settings(), processes=SimpleNamespace(check=lambda: None))
    pending = {Coordinates(topic="documents", partition=0, offset=n) for n in (1, 2, 3)}
    words = r"2 of 3 documents have no verdicts.*safepassage-last"
    with pytest.raises(OperatorError, match=words):
        await run._wait(stack, pending, run.new_console())


def test_ctrl_c_reaches_a_stack_in_the_background():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(2)
        assert process.wait(30) == 7

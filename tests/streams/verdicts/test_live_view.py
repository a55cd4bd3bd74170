"""The view of the live stream: rates, lag, what is stopped, latest verdicts and warnings."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from io import StringIO

from aiokafka import TopicPartition
from rich.console import Console

from safepassage.schemas import DriftWarning
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_group_consumer
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS, QUARANTINE, WARNINGS
from safepassage.streams.verdicts import live_view as watch
from safepassage.streams.verdicts.live_view import (
    WINDOW_VERDICTS,
    Stream,
    Traffic,
    TrafficMeter,
    render,
)
from tests.stack import environment
from tests.streams.judged import FakeScorer, aligned, publish, verdict

HOSTILE = "[red]Name[/red]"
STRICT = FakeScorer(stop=frozenset(f"May {n}" for n in range(50)))
QUIET = Traffic({topic.name: 0.0 for topic in watch.COUNTED}, dict.fromkeys(watch.GROUPED, 0))


def shown(renderable: object) -> str:
    out = StringIO()
    Console(file=out, width=160).print(renderable)
    return out.getvalue()


def warning() -> DriftWarning:
    return DriftWarning(
        id="w",
        measure="quarantine_rate",
        entity_type=HOSTILE,
        observed=0.5,
        expected=0.1,
        limit=0.1,
        detail="50% of the last 100",
        raised_at=datetime(2026, 1, 2, tzinfo=UTC),
    )


def test_share_that_is_stopped_by_type():
    stream = Stream()
    for n in range(10):
        stream.note(verdict(n, STRICT, entity_type=HOSTILE))
    (row,) = stream.stopped_by_type()
    assert row == (HOSTILE, 10, 10)
    view = shown(render(stream, QUIET))
    assert HOSTILE in view
    assert "100%" in view
    assert "unsupported" in view


def test_memory_is_bounded():
    stream = Stream()
    for _ in range(3):
        for n in range(WINDOW_VERDICTS):
            stream.window.append((str(n), True))
        stream.note(verdict(1))
        stream.note(warning())
    assert len(stream.window) == WINDOW_VERDICTS
    assert "50% of the last 100" in shown(render(stream, QUIET))


def test_empty_stream_renders():
    assert "Roles" in shown(render(Stream(), QUIET))


async def test_lag_is_what_the_group_has_not_committed(kafka: Settings):
    settings = kafka.model_copy(update={"partitions": 1})
    await publish(settings, ALIGNMENTS, [aligned(n) for n in range(10)])
    meter = TrafficMeter(settings)
    assert (await meter.read()).lags["score"] is None
    tp = TopicPartition(settings.topic(ALIGNMENTS.name), 0)
    consumer = new_group_consumer(settings, "score")
    consumer.subscribe([tp.topic])
    try:
        await consumer.start()
        await consumer.getone()
        await consumer.commit({tp: 4})
    finally:
        await consumer.stop()
    assert (await meter.read()).lags["score"] == 6


async def test_rates_are_of_what_came_since_the_last_look(kafka: Settings):
    await create_topics(kafka)
    meter = TrafficMeter(kafka)
    assert (await meter.read()).rates["accepted"] == 0
    await publish(kafka, ACCEPTED, [verdict(n) for n in range(10)])
    assert (await meter.read()).rates["accepted"] > 0


async def test_view_goes_on_with_the_stream(kafka: Settings, monkeypatch):
    monkeypatch.setattr(watch, "REFRESH_SECONDS", 0.1)
    await publish(kafka, QUARANTINE, [verdict(1, STRICT)])

    async def nothing() -> str:
        return ""

    views = watch.watch(kafka, nothing)
    async with asyncio.timeout(40):
        await anext(views)
        await publish(kafka, WARNINGS, [warning()])
        while "Warnings" not in shown(await anext(views)):
            pass
    await views.aclose()


async def test_command_prints_one_view(kafka: Settings):
    await publish(kafka, QUARANTINE, [verdict(n, STRICT) for n in range(3)])
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "safepassage", "watch", "--once"],
        env=environment(kafka) | {"COLUMNS": "160"},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Hearing Date: May 2" in ended.stdout
    assert "never ran" in ended.stdout

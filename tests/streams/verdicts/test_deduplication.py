"""Verdicts are read once each; contradictions are reported, never merged."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from safepassage.schemas import Usage
from safepassage.streams.kafka.records import Received
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE
from safepassage.streams.verdicts.deduplication import (
    Conflict,
    Deduplicator,
    Unread,
    read_verdicts,
)
from tests.stack import environment
from tests.streams.judged import aligned, publish, received, verdict


def test_repetition_is_held_back():
    deduplicator = Deduplicator()
    first = received(verdict(1), 0)
    assert deduplicator.admit(first) is first
    assert deduplicator.admit(received(verdict(1), 5)) is None


def test_repetition_may_come_from_another_record_and_another_call():
    deduplicator = Deduplicator()
    original = verdict(1)
    trail = original.extractor.model_copy(update={"usage": Usage(milliseconds=9), "model": "b"})
    place = original.document.coordinates.model_copy(update={"offset": 77})
    again = original.model_copy(
        update={
            "extractor": trail,
            "document": original.document.model_copy(update={"coordinates": place}),
        }
    )
    deduplicator.admit(received(original, 0))
    assert deduplicator.admit(received(again, 1)) is None


@pytest.mark.parametrize(
    "change", [{"score": 0.99}, {"threshold": 0.1}, {"value": "June 1"}, {"context": "other"}]
)
def test_same_id_with_different_content_is_a_conflict(change):
    deduplicator = Deduplicator()
    deduplicator.admit(received(verdict(1), 3))
    result = deduplicator.admit(received(verdict(1).model_copy(update=change), 9, partition=2))
    assert isinstance(result, Conflict)
    assert (result.first.offset, result.second.offset, result.second.partition) == (3, 9, 2)
    assert "accepted-2@9 contradicts accepted-0@3" in str(result)


def test_memory_of_ids_is_bounded():
    deduplicator = Deduplicator(limit=2)
    for number in (1, 2, 3):
        deduplicator.admit(received(verdict(number), number))
    assert deduplicator.admit(received(verdict(3), 9)) is None
    assert deduplicator.admit(received(verdict(1), 10)) is not None


async def read(settings: Settings) -> list:
    return [result async for result in read_verdicts(settings)]


async def test_topics_are_read_once_each_with_conflicts_and_unreadable_records(kafka: Settings):
    numbers = range(12)
    await publish(kafka, ACCEPTED, [verdict(n) for n in numbers])
    await publish(kafka, ACCEPTED, [verdict(n) for n in numbers])
    await publish(kafka, QUARANTINE, [verdict(3).model_copy(update={"score": 0.9})], key="doc-0")
    await publish(kafka, QUARANTINE, [aligned(0)])
    results = await read(kafka)
    ids = [result.event.id for result in results if isinstance(result, Received)]
    assert sorted(ids) == sorted(verdict(n).id for n in numbers)
    problems = [result for result in results if not isinstance(result, Received)]
    # Two where the contradiction was read before both repetitions.
    assert {type(problem) for problem in problems} == {Conflict, Unread}
    conflicts = {problem.verdict_id for problem in problems if isinstance(problem, Conflict)}
    assert conflicts == {verdict(3).id}


async def test_command_writes_json_lines_and_fails_on_a_conflict(kafka: Settings, tmp_path):
    await publish(kafka, ACCEPTED, [verdict(1), verdict(1)])
    out = tmp_path / "verdicts.jsonl"
    clean = await asyncio.to_thread(command, kafka, "--out", str(out))
    assert clean.returncode == 0, clean.stderr
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [verdict(1).id]
    await publish(kafka, ACCEPTED, [verdict(1).model_copy(update={"score": 0.9})])
    contradicted = await asyncio.to_thread(command, kafka)
    assert contradicted.returncode == 1
    assert b"contradicts" in contradicted.stderr
    assert contradicted.stdout == out.read_bytes()


def command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "safepassage", "verdicts", *arguments],
        env=environment(settings),
        capture_output=True,
        check=False,
        timeout=60,
    )

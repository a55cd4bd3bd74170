"""An unexpected error says where it came from, and never what it was about."""

from __future__ import annotations

import asyncio
import json

import pytest
import structlog

from safepassage.streams import worker
from safepassage.streams.cli import _for_operator
from safepassage.streams.kafka.reading import UnknownTopic
from safepassage.streams.runtime.errors import frames
from tests.streams.doubles import FakePublisher, delivery_of, document_record, document_role

SECRET = "the tenant is Ann Lee"


def slip() -> None:
    try:
        {}[SECRET]
    except KeyError as error:
        raise ValueError(SECRET) from error


def test_frames_name_places_and_causes_without_messages():
    with pytest.raises(ValueError, match=SECRET) as caught:
        slip()
    told = " ".join(frames(caught.value))
    assert "tests/streams/runtime/test_tracebacks.py" in told
    assert "slip" in told
    assert "KeyError" in told
    assert SECRET not in told


async def test_step_that_fails_unexpectedly_is_traced_without_the_document():
    async def step(_batch):
        slip()

    with structlog.testing.capture_logs() as lines:
        delivery = delivery_of(document_role(step), FakePublisher())
        await delivery.handle([document_record("d0", 0, text=SECRET)])
    (line,) = [line for line in lines if line["event"] == "step_failed"]
    assert any("slip" in frame for frame in line["frames"])
    assert SECRET not in json.dumps(lines, default=str)


async def test_role_that_stops_unexpectedly_is_traced_without_the_document():
    async def fail() -> None:
        slip()

    task = asyncio.create_task(fail())
    await asyncio.wait((task,))
    with structlog.testing.capture_logs() as lines, pytest.raises(worker.RoleStopped) as stopped:
        worker._raise_first_failure({task: "align"})
    assert any("slip" in frame for frame in lines[0]["frames"])
    assert SECRET not in str(stopped.value) + json.dumps(lines, default=str)


def test_slip_of_ours_is_no_message_for_an_operator():
    assert _for_operator(KeyError("doc_id")) is None
    assert _for_operator(IndexError("list index out of range")) is None
    assert _for_operator(UnknownTopic("topic x does not exist")) == "topic x does not exist"


def test_a_file_that_cannot_be_had_is_named_first():
    assert _for_operator(FileNotFoundError(2, "No such file", "in")) == "in: No such file"
    assert _for_operator(OSError("no address")) == "no address"

"""Calls to the LLM that are made again stand on `warnings`, and do not flood it."""

from __future__ import annotations

import asyncio

import pytest
from rich.console import Console

from safepassage.schemas import DriftWarning
from safepassage.streams.delivery import llm_warnings
from safepassage.streams.delivery.llm_warnings import LLMWarnings
from safepassage.streams.kafka.publisher import PublishFailed
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.topics import WARNINGS
from safepassage.streams.verdicts.live_view import Stream, Traffic, render


class Written:
    def __init__(self, error: Exception | None = None) -> None:
        self.outgoing: list[Outgoing] = []
        self._error = error

    async def publish(self, outgoing: list[Outgoing]) -> dict[int, str]:
        if self._error:
            raise self._error
        self.outgoing += outgoing
        return {}


async def test_the_latest_is_told_with_how_many_there_were(monkeypatch: pytest.MonkeyPatch):
    clock = [1000.0]
    monkeypatch.setattr(llm_warnings.time, "monotonic", lambda: clock[0])
    written = Written()
    warnings = LLMWarnings(written)
    for seconds, detail in ((0, "first"), (1, "second"), (2, "third"), (20, "fourth")):
        clock[0] = 1000.0 + seconds
        warnings.told(detail)
        await asyncio.sleep(0)
    assert [one.topic for one in written.outgoing] == [WARNINGS] * 2
    events = [one.event for one in written.outgoing]
    assert [(e.measure, e.detail, e.observed) for e in events if isinstance(e, DriftWarning)] == [
        ("llm", "first", 1),
        ("llm", "fourth", 3),
    ]


async def test_watch_shows_them():
    written = Written()
    LLMWarnings(written).told("no token in 120 s; attempt 2 of 6 in 1 s")
    await asyncio.sleep(0)
    stream = Stream()
    for one in written.outgoing:
        assert isinstance(one.event, DriftWarning)
        stream.note(one.event)
    console = Console(width=200, record=True)
    from safepassage.streams.verdicts.live_view import COUNTED, GROUPED

    rates = {topic.name: 0.0 for topic in COUNTED} | dict.fromkeys(("dead-letters",), 0.0)
    console.print(render(stream, Traffic(rates, dict.fromkeys(GROUPED))))
    assert "no token in 120 s; attempt 2 of 6 in 1 s" in console.export_text()


async def test_a_warning_that_cannot_be_published_stops_nothing():
    warnings = LLMWarnings(Written(PublishFailed("gone")))
    warnings.told("slow")
    assert warnings._publishing is not None
    await warnings._publishing

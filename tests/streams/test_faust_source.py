"""What Faust says was committed, and what the ledger may believe."""

from __future__ import annotations

import asyncio

import pytest
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.types import TP

from streams.faust_source import SafeConsumer
from streams.settings import Settings

from .broker import faust_source
from .doubles import FakePublisher, document_role

PLACE = TP("documents", 0)


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
    source = faust_source(document_role(), FakePublisher(), Settings())
    consumer = SafeConsumer.__new__(SafeConsumer)
    consumer.source = source
    committing = asyncio.create_task(consumer._commit({PLACE: 100}))
    await asyncio.sleep(0)
    if rebalanced:
        source.start_over()
    source.ledger.delivered(PLACE, 2)
    source.ledger.finished(PLACE, 2)
    commits.ended.set()
    assert await committing
    assert source.ledger.committable(PLACE) == committable
    source._directory.cleanup()

"""Safeguards switched off, to see that the simulation notices: each breaks one rule on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from safepassage.streams.console.reviewed_verdicts import Outcomes
from safepassage.streams.delivery import lanes
from safepassage.streams.delivery.ledger import OffsetLedger
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.memory.live import LiveMemory
from safepassage.streams.verdicts.deduplication import Deduplicator
from safepassage.streams.verdicts.standing_decisions import StandingDecisions

_tasks: set[asyncio.Task[Any]] = set()


async def _publish_later(self: KafkaPublisher, outgoing: Sequence[Any]) -> dict[int, str]:
    task = asyncio.create_task(_PUBLISH(self, outgoing))
    _tasks.add(task)
    return {}


_PUBLISH = KafkaPublisher.publish


async def _memory_first(self: LiveMemory, book: Any, cases: Any) -> None:
    book.take(await book.learn(self._held, cases))


def _keep_undone(self: StandingDecisions, case_id: str) -> None:
    """What was undone goes on to count."""


MUTATIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "acknowledged before it is out": (
        "P1",
        lambda: patch.object(KafkaPublisher, "publish", _publish_later),
    ),
    "the ledger jumps what is under way": (
        "P1",
        lambda: patch.object(
            OffsetLedger,
            "committable",
            lambda self, tp: p.next_offset if (p := self._progress.get(tp)) else None,
        ),
    ),
    "repetitions are let through": (
        "P3",
        lambda: patch.object(Deduplicator, "admit", lambda _self, received: received),
    ),
    "a memory without its snapshot": (
        "P7",
        lambda: patch.object(LiveMemory, "_bring_up", _memory_first),
    ),
    "one key in several lanes": (
        "P4",
        lambda: patch.object(lanes, "_key", lambda record: f"{record.offset}".encode()),
    ),
    "what was undone goes on to count": (
        "decisions",
        lambda: patch.object(StandingDecisions, "forget", _keep_undone),
    ),
    "one person is enough": (
        "four eyes",
        lambda: patch.multiple(
            "safepassage.schemas.reviews_that_count", approvers=lambda one, _said: one.approvals
        ),
    ),
    "what became of a value taken over is not told": (
        "realignments",
        lambda: patch("safepassage.streams.realignment.role.realignment", lambda _verdict: None),
    ),
    "decisions never come out": (
        "decisions",
        lambda: patch.object(Outcomes, "_follows", lambda *_args, **_options: None),
    ),
}


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """The safeguard ``name`` is off."""
    with MUTATIONS[name][1]():
        yield
    _tasks.clear()

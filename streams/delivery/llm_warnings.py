"""Calls to the LLM that are made again, told on the topic ``warnings``: what waits for a document
sees there that the LLM is slow, and not that nothing happens."""

import asyncio
import time
from datetime import UTC, datetime

import structlog

from safepassage.schemas import DriftWarning, stable_id

from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.records import Outgoing
from ..topics import WARNINGS

log = structlog.get_logger(__name__)

MEASURE = "llm"
SECONDS_BETWEEN = 15.0


class LLMWarnings:
    """Publishes what a `Caller` tells, the latest every quarter of a minute, from an event loop."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._told = 0
        self._last = -SECONDS_BETWEEN
        self._publishing: asyncio.Task[None] | None = None

    def told(self, detail: str) -> None:
        """One call will be made again; ``detail`` quotes neither document nor answer."""
        self._told += 1
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN:
            return
        self._last, count, self._told = now, self._told, 0
        self._publishing = asyncio.create_task(self._publish(detail, count))

    async def _publish(self, detail: str, count: int) -> None:
        now = datetime.now(UTC)
        warning = DriftWarning(
            id=stable_id("warning", MEASURE, detail, now.isoformat()),
            measure=MEASURE,
            observed=count,
            expected=0,
            limit=0,
            detail=detail,
            raised_at=now,
        )
        try:
            await self._publisher.publish([Outgoing(WARNINGS, MEASURE, warning)])
        except PublishFailed as error:
            # What the role publishes itself will meet the same, and stop it.
            log.warning("warning_not_published", error=type(error).__name__)

"""Keeps a replay from slowing the live stream: its p99 stays within 1.2 times what it was.

What counts is what live traffic feels, so that is measured: the time from an alignment's record
to its verdict's, seen from outside on the live topics. Now and then the replay pauses to
learn what that time is without it; in between it goes faster while the live p99 is within the
limit and slower when it is not (additive increase, multiplicative decrease).
"""

import asyncio
import contextlib
import time
from collections import OrderedDict, deque
from collections.abc import Callable

import structlog
from aiokafka.errors import KafkaError

from safepassage.schemas import AlignedExtraction, Verdict

from ..kafka.reading import ends, follow_topics
from ..kafka.records import Record, event_of
from ..settings import Settings
from ..topics import ACCEPTED, ALIGNMENTS, QUARANTINE

log = structlog.get_logger(__name__)

# The rate swings about what it is steered to, so that is below the 1.2 that is promised.
P99_AIM = 1.1
TOLERANCE_SECONDS = 0.002  # timestamps are in whole milliseconds
WINDOW_SECONDS = 10.0
LIVE_SAMPLES = 20  # fewer in such a window, and there is no live traffic to protect
STANDSTILL_SECONDS = 2.0
BASELINE_SECONDS = 60.0
AWAITING = 20_000


class Throttle:
    """How long to rest after a batch; ``rate`` a second up to ``ceiling``, None for no limit."""

    FIRST_RATE = 100.0
    SLOWEST_RATE = 10.0

    def __init__(self, ceiling: float | None = None) -> None:
        self._ceiling = ceiling
        self.rate = ceiling

    def adapt(self, live_p99: float | None, baseline: float | None) -> None:
        """Take note of the live p99 in seconds, and of what it was without the replay."""
        if live_p99 is None or baseline is None:
            self.rate = self._ceiling
            return
        rate = self.FIRST_RATE if self.rate is None else self.rate
        if live_p99 > baseline * P99_AIM + TOLERANCE_SECONDS:
            rate = max(self.SLOWEST_RATE, rate * 0.5)
        else:
            rate = rate * 1.1
        self.rate = min(rate, self._ceiling) if self._ceiling else rate

    def crawl(self) -> None:
        """Nobody sees what live traffic feels: go no faster than the slowest rate."""
        self.rate = min(self.SLOWEST_RATE, self._ceiling or self.SLOWEST_RATE)

    def rest(self, records: int, seconds: float) -> float:
        """Seconds to rest after ``records`` took ``seconds``."""
        return max(0.0, records / self.rate - seconds) if self.rate else 0.0


class LatencyWindow:
    """Recent live latencies in seconds, joined from alignments and verdicts by extraction."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._aligned_at: OrderedDict[str, int] = OrderedDict()
        self._latencies: deque[tuple[float, float]] = deque(maxlen=AWAITING)

    def aligned(self, extraction_id: str, timestamp: int) -> None:
        """An alignment was written at ``timestamp`` (in milliseconds)."""
        self._aligned_at[extraction_id] = timestamp
        if len(self._aligned_at) > AWAITING:
            self._aligned_at.popitem(last=False)

    def judged(self, extraction_id: str, timestamp: int) -> None:
        aligned_at = self._aligned_at.pop(extraction_id, None)
        if aligned_at is not None:
            self._latencies.append((self._clock(), max(0, timestamp - aligned_at) / 1000))

    def p99(self, seconds: float = WINDOW_SECONDS) -> float | None:
        """Of what was judged in the last ``seconds``; None if that is next to nothing."""
        since = self._clock() - seconds
        recent = sorted(latency for when, latency in self._latencies if when >= since)
        if len(recent) < max(1, LIVE_SAMPLES * seconds / WINDOW_SECONDS):
            return None
        return recent[int(0.99 * len(recent))]


class LiveGuard:
    """Watches the live topics beside a replay and makes it rest where they suffer."""

    def __init__(self, settings: Settings, ceiling: float | None) -> None:
        self._settings = settings
        self._throttle = Throttle(ceiling)
        self._window = LatencyWindow()
        self._baseline: float | None = None
        self._baseline_at = float("-inf")
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        topics = (ALIGNMENTS, ACCEPTED, QUARANTINE)
        start = await ends(self._settings, topics)

        async def watch() -> None:
            async for record in follow_topics(self._settings, topics, start=start):
                self._note(record)

        self._watching = asyncio.create_task(watch())

    async def stop(self) -> None:
        if self._watching:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def rest(self, records: int, seconds: float) -> None:
        if await self._watched():
            await self._adapt()
        else:
            self._throttle.crawl()
        await asyncio.sleep(self._throttle.rest(records, seconds))

    async def _adapt(self) -> None:
        live = self._window.p99()
        if live is not None and time.monotonic() - self._baseline_at > BASELINE_SECONDS:
            await asyncio.sleep(STANDSTILL_SECONDS)
            if (undisturbed := self._window.p99(STANDSTILL_SECONDS)) is not None:
                self._baseline, self._baseline_at = undisturbed, time.monotonic()
        self._throttle.adapt(live, self._baseline)

    async def _watched(self) -> bool:
        """Whether the live topics are being watched. A watch that ended is begun anew; until it
        sees something again, silence must not pass for a stream without traffic."""
        if self._watching and not self._watching.done():
            return True
        error = self._watching.exception() if self._watching else None
        log.warning("replay_unwatched", error=type(error).__name__)
        self._baseline, self._baseline_at = None, float("-inf")
        with contextlib.suppress(KafkaError, LookupError, OSError):
            await self.start()
        return False

    def _note(self, record: Record) -> None:
        if record.topic == self._settings.topic(ALIGNMENTS.name):
            if aligned := event_of(record, AlignedExtraction):
                self._window.aligned(aligned.extraction.id, record.timestamp)
        elif verdict := event_of(record, Verdict):
            self._window.judged(verdict.extraction_id, record.timestamp)

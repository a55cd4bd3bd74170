"""A candidate that judges live traffic beside the live scorer, without deciding.

Nothing of it may reach the live path. It gets what was scored live through a short queue that
drops when it is full; it works in a daemon thread that is given up when it hangs, and rests in
proportion to its work; its errors are counted and, when they go on, turn it off until the next
release. Its verdicts are a measurement: what a crash or a full queue takes is not made up for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import structlog

from safepassage.schemas import AlignedExtraction, Verdict
from safepassage.schemas.decision_rule import in_mode

from ..kafka.publisher import Publisher
from ..kafka.reading import read_topics, tails
from ..kafka.records import Outgoing, event_of
from ..runtime import metrics
from ..runtime.threads import in_daemon_thread
from ..settings import Settings
from ..topics import SHADOW
from .releases import ReleaseRefused, releases_in_force

if TYPE_CHECKING:
    from safepassage.scoring_worker import Scorer

log = structlog.get_logger(__name__)

QUEUED_BATCHES = 8
SECONDS_PER_BATCH = 60.0
SECONDS_TO_LOAD = 300.0
FAILURES_IN_A_ROW = 3
# The share of its time that it may work: the rest of the machine belongs to the live scorer.
DUTY = 0.5


class ShadowScoring:
    """The shadow of one worker. ``load`` makes a scorer of its name."""

    def __init__(self, publisher: Publisher, load: Callable[[str], Scorer]) -> None:
        self._publisher = publisher
        self._load = load
        self._wanted: tuple[str, str | None] | None = None
        self._changed = asyncio.Event()
        self._queue: asyncio.Queue[Sequence[AlignedExtraction]] = asyncio.Queue(QUEUED_BATCHES)

    def change_to(self, name: str | None, revision: str | None) -> None:
        """Shadow with another scorer from now on, or with none."""
        self._wanted = (name, revision) if name else None
        self._changed.set()

    def offer(self, aligned: Sequence[AlignedExtraction]) -> None:
        """Take what was just scored live, or drop it. Never waits and never raises."""
        if self._wanted is None:
            return
        try:
            self._queue.put_nowait(aligned)
        except asyncio.QueueFull:
            metrics.SHADOW.labels("dropped").inc(len(aligned))

    async def run(self) -> None:
        """Shadow until cancelled; it never raises."""
        while True:
            self._changed.clear()
            working = asyncio.create_task(self._shadow_with(self._wanted))
            working.add_done_callback(_log_end)
            try:
                await self._changed.wait()
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)

    async def _shadow_with(self, wanted: tuple[str, str | None] | None) -> None:
        if wanted is None:
            return
        name, revision = wanted
        scorer = await in_daemon_thread(lambda: self._load(name), SECONDS_TO_LOAD)
        if revision is not None and in_mode(scorer.revision, strict=False) != revision:
            raise ValueError(f"has revision {scorer.revision} here, but {revision} was released")
        log.info("shadowing", scorer=name, revision=scorer.revision)
        failures = 0
        while failures < FAILURES_IN_A_ROW:
            failures = 0 if await self._score(scorer, await self._queue.get()) else failures + 1
        raise RuntimeError(f"failed {failures} times in a row")

    async def _score(self, scorer: Scorer, aligned: Sequence[AlignedExtraction]) -> bool:
        from safepassage.scoring_worker.weighing.judged_batch import judge_all  # noqa: PLC0415 - the scorers' libraries

        started = time.perf_counter()
        try:
            verdicts = await in_daemon_thread(lambda: judge_all(aligned, scorer), SECONDS_PER_BATCH)
            await self._publisher.publish([Outgoing(SHADOW, v.doc_id, v) for v in verdicts])
        except TimeoutError:
            raise  # its thread may hang for ever: no other may join it
        except Exception as error:  # noqa: BLE001 - a candidate may fail in any way it likes
            metrics.SHADOW.labels("failed").inc(len(aligned))
            log.warning("shadow_failed", scorer=scorer.name, error=type(error).__name__)
            return False
        metrics.SHADOW.labels("judged").inc(len(aligned))
        await asyncio.sleep((time.perf_counter() - started) * (1 / DUTY - 1))
        return True


async def shadowing_revision(settings: Settings) -> str:
    """The revision that shadows now, or that did last."""
    release = (await releases_in_force(settings)).releases.get("shadow")
    if release and release.revision:
        return release.revision
    last: tuple[int, str] | None = None
    async for record in read_topics(settings, [SHADOW], start=await tails(settings, [SHADOW], 1)):
        verdict = event_of(record, Verdict)
        if verdict and verdict.scorer_revision:
            last = max(last or (0, ""), (record.timestamp, verdict.scorer_revision))
    if last is None:
        raise ReleaseRefused("no candidate ever shadowed: run `safepassage shadow SCORER` first")
    return last[1]


def _log_end(working: asyncio.Task[None]) -> None:
    if not working.cancelled() and (error := working.exception()):
        metrics.SHADOW.labels("stopped").inc()
        log.warning("shadow_stopped", error=type(error).__name__, detail=str(error))

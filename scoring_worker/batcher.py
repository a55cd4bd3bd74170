"""Batches across events: many small questions become few large ones.

::

    assess(pairs) ─▶ waiting (bounded) ─▶ batch by token budget or deadline ─▶ threads ─▶ futures

Two batches are under way at once: while one is in the model's forward pass, the other is
tokenised. A pair that breaks its batch fails alone, and a scorer that breaks on every pair is
reported as broken and not as many broken pairs.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import structlog

from schemas import Assessment

from .scorer import Pair, Scorer

PROBE = Pair("The hearing took place on May 4, 2015.", "Hearing Date: May 4, 2015", "Date", "2015")
"""Scored at the start, and to tell a broken scorer from a bad pair."""
CHARACTERS_PER_TOKEN = 3
"""On the low side: the budget is a bound on memory, and the encoder tiles by real tokens."""
SPECIAL_TOKENS = 3

log = structlog.get_logger()


class ScorerBroken(Exception):
    """The scorer fails on everything: nothing is known about the pairs, try them again later."""


class BatcherClosed(Exception):
    """The batcher takes no more pairs: it is draining or was never started."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a liveness check needs. ``last_success_age`` is in seconds, None before the first.

    An idle worker is healthy however old its last success; one that has work and finishes none
    is not.
    """

    last_success_age: float | None
    oldest_waiting_age: float
    waiting: int
    in_flight: int

    def stalled(self, seconds: float) -> bool:
        """Whether there is work and none was finished for ``seconds``."""
        if not (self.waiting or self.in_flight):
            return False
        since = self.oldest_waiting_age
        return min(since, self.last_success_age or since) > seconds


@dataclass(slots=True)
class _Waiting:
    pair: Pair
    answer: asyncio.Future[Assessment]
    since: float

    @property
    def tokens(self) -> int:
        characters = len(self.pair.premise) + len(self.pair.hypothesis)
        return characters // CHARACTERS_PER_TOKEN + SPECIAL_TOKENS


class Batcher:
    """Feeds ``scorer`` from many callers at once.

    ::

        async with Batcher(scorer) as batcher:
            assessments = await batcher.assess(pairs)

    Args:
        scorer: called in threads, at most ``concurrency`` calls at once.
        max_tokens: estimated tokens of a batch.
        max_pairs: pairs of a batch.
        deadline: seconds the first pair of a batch waits for company, where nothing is under way.
        max_waiting: pairs that may wait; further callers wait for room (back-pressure).
        clock: seconds that never go back.
    """

    def __init__(
        self,
        scorer: Scorer,
        *,
        max_tokens: int = 32_768,
        max_pairs: int = 512,
        deadline: float = 0.01,
        max_waiting: int = 4_096,
        concurrency: int = 2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scorer = scorer
        self._max_tokens = max_tokens
        self._max_pairs = max_pairs
        self._deadline = deadline
        self._max_waiting = max_waiting
        self._concurrency = concurrency
        self._clock = clock
        self._waiting: deque[_Waiting] = deque()
        self._changed = asyncio.Condition()
        self._under_way: set[asyncio.Task[None]] = set()
        self._started_at: dict[asyncio.Task[None], float] = {}
        self._last_success: float | None = None
        self._forming: asyncio.Task[None] | None = None
        self._open = False
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="score")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Warm up, then take pairs.

        Raises:
            ScorerBroken: the scorer cannot even score the warm-up pair.
        """
        loop = asyncio.get_running_loop()
        warm = await loop.run_in_executor(self._pool, self._works)
        if not warm:
            self._pool.shutdown()
            raise ScorerBroken(f"{self._scorer.name} cannot score the warm-up pair")
        self._last_success = self._clock()
        self._open = True
        self._forming = asyncio.create_task(self._form(), name="batcher")

    async def close(self) -> None:
        """Take no more pairs, and finish those that wait or are under way."""
        async with self._changed:
            self._open = False
            self._changed.notify_all()
        if self._forming:
            await self._forming
        await asyncio.to_thread(self._pool.shutdown)

    async def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order. Waits while too many others wait.

        Raises:
            BatcherClosed: the batcher is draining.
            ScorerBroken: the scorer fails on everything.
        """
        answers = [await self._enqueue(pair) for pair in pairs]
        try:
            return await asyncio.gather(*answers)
        finally:  # a caller that left is owed no work
            for answer in answers:
                answer.cancel()

    def health(self) -> Health:
        """The state of the worker now."""
        now = self._clock()
        since = [*self._started_at.values(), *(entry.since for entry in self._waiting)]
        return Health(
            last_success_age=None if self._last_success is None else now - self._last_success,
            oldest_waiting_age=now - min(since, default=now),
            waiting=len(self._waiting),
            in_flight=len(self._under_way),
        )

    async def _enqueue(self, pair: Pair) -> asyncio.Future[Assessment]:
        async with self._changed:
            await self._changed.wait_for(
                lambda: not self._open or len(self._waiting) < self._max_waiting
            )
            if not self._open:
                raise BatcherClosed("the scorer takes no more pairs")
            answer: asyncio.Future[Assessment] = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(pair, answer, self._clock()))
            self._changed.notify_all()
        return answer

    async def _form(self) -> None:
        """Makes batches until the batcher is closed and empty."""
        while await self._work_is_there():
            await self._company()
            batch = await self._take()
            if batch:
                task = asyncio.create_task(self._run(batch))
                self._under_way.add(task)
                self._started_at[task] = self._clock()
                task.add_done_callback(self._finished)
        await asyncio.gather(*self._under_way)

    async def _work_is_there(self) -> bool:
        """Waits for a pair and a free thread. False: closed, and nothing waits."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: (
                    (not self._waiting and not self._open)
                    or (bool(self._waiting) and len(self._under_way) < self._concurrency)
                )
            )
            return bool(self._waiting)

    async def _company(self) -> None:
        """Waits until a batch is full, the deadline is over, or nobody can come any more."""
        async with self._changed:
            full = self._changed.wait_for(lambda: self._is_full() or not self._open)
            try:
                await asyncio.wait_for(full, self._deadline)
            except TimeoutError:
                return

    def _is_full(self) -> bool:
        if len(self._waiting) >= self._max_pairs:
            return True
        return sum(entry.tokens for entry in self._waiting) >= self._max_tokens

    async def _take(self) -> list[_Waiting]:
        """The next batch, without those whose caller left."""
        batch: list[_Waiting] = []
        tokens = 0
        async with self._changed:
            while self._waiting and len(batch) < self._max_pairs:
                tokens += self._waiting[0].tokens
                if batch and tokens > self._max_tokens:
                    break
                entry = self._waiting.popleft()
                if not entry.answer.done():
                    batch.append(entry)
            self._changed.notify_all()
        return batch

    async def _run(self, batch: list[_Waiting]) -> None:
        loop = asyncio.get_running_loop()
        pairs = [entry.pair for entry in batch]
        try:
            assessments = await loop.run_in_executor(self._pool, self._assess, pairs)
        except ScorerBroken as error:
            for entry in batch:
                if not entry.answer.done():
                    entry.answer.set_exception(ScorerBroken(str(error)))
            return
        self._last_success = self._clock()
        for entry, assessment in zip(batch, assessments, strict=True):
            if not entry.answer.done():
                entry.answer.set_result(assessment)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._started_at.pop(task, None)
        self._wake = asyncio.create_task(self._notify())

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """All of them, or each half on its own where the whole raises (in a thread)."""
        try:
            assessments = self._checked(pairs)
        except Exception as error:
            log.warning("scorer_raised", pairs=len(pairs), error=type(error).__name__)
            if not self._works():
                raise ScorerBroken(f"{self._scorer.name}: {type(error).__name__}") from error
            if len(pairs) == 1:
                return [self._failed(error)]
        else:
            # A lost GPU fails every pair without an exception: that is no verdict on them.
            if all(a.failure == "scorer_failed" for a in assessments) and not self._works():
                raise ScorerBroken(f"{self._scorer.name} fails on every pair")
            return assessments
        middle = len(pairs) // 2
        return self._assess(pairs[:middle]) + self._assess(pairs[middle:])

    def _checked(self, pairs: Sequence[Pair]) -> list[Assessment]:
        assessments = self._scorer.assess(pairs)
        if len(assessments) != len(pairs):
            raise RuntimeError(f"{len(assessments)} assessments of {len(pairs)} pairs")
        return list(assessments)

    def _works(self) -> bool:
        try:
            (assessment,) = self._checked([PROBE])
        except Exception as error:  # noqa: BLE001 (a scorer may raise anything)
            log.warning("probe_failed", error=type(error).__name__)
            return False
        return assessment.failure is None

    def _failed(self, error: Exception) -> Assessment:
        return Assessment(
            scorer=self._scorer.name,
            revision=self._scorer.revision,
            failure="scorer_failed",
            failure_detail=f"{type(error).__name__} on this pair alone",
        )

"""An event loop whose time and order come from a seed.

Time jumps to the next timer. Of the callbacks that are ready, the seed chooses the next. A callback
belongs to the process in whose context it was made: those of a killed process never run again,
those of a paused one wait. Threads run as callbacks of their own, some time later.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as calendar
import gc
import hashlib
import heapq
import random
import struct
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

EPOCH = 1_750_000_000.0
STEP_SECONDS = 2e-5
"""What a callback takes: without it a loop that yields and asks again would stand still."""
THREAD_SECONDS = 0.02


class OutOfSteps(Exception):
    """The run took more steps than it may."""


@dataclass(eq=False, slots=True)
class Process:
    """Some tasks that live and die together. ``number`` tells it from its predecessors."""

    name: str
    number: int
    alive: bool = True
    paused: list[asyncio.Handle] | None = None  # what waits, while it is paused
    clock_ahead: float = 0.0
    slowness: float = 1.0
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    """See the module's text. ``disorder`` in [0, 1] is how often the order is drawn, and not that
    in which the callbacks became ready."""

    def __init__(self, draw: random.Random, *, disorder: float, most_steps: int) -> None:
        super().__init__()
        self.steps = 0
        self.digest = hashlib.blake2b(digest_size=16)
        self._seconds = 0.0
        self._draw = draw
        self._disorder = disorder
        self._most_steps = most_steps
        self._numbers: dict[str, int] = {}
        self._kept: list[asyncio.Task[Any]] = []  # their ends would come with the collector
        self.set_task_factory(self._new_task)
        self.set_exception_handler(lambda _loop, _context: None)

    def time(self) -> float:
        return self._seconds

    def note(self, *said: object) -> None:
        """Make ``said`` a part of the trace."""
        self.digest.update(repr(said).encode())

    def spawn(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> Process:
        """Start a process."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        process = Process(name, number)
        context = copy_context()
        context.run(PROCESS.set, process)
        process.tasks.append(self.create_task(work(), context=context))
        return process

    def kill(self, process: Process) -> None:
        """Nothing of it runs any more, and nothing of it is cleaned up."""
        process.alive = False
        process.paused = None

    def pause(self, process: Process, seconds: float) -> None:
        """Let nothing of it run for some time, as SIGSTOP and a long collection do."""
        if process.alive and process.paused is None:
            process.paused = []
            self.call_later(seconds, self.resume, process, context=_outside())

    def resume(self, process: Process) -> None:
        """End its pause."""
        waited, process.paused = process.paused, None
        self._ready.extend(waited or ())

    def run_in_executor(self, _executor: Any, function: Callable[..., Any], *args: Any) -> Any:
        done = self.create_future()
        process = PROCESS.get()
        slowness = process.slowness if process else 1.0
        self.call_later(
            self._draw.uniform(0, THREAD_SECONDS) * slowness, _settle, done, function, args
        )
        return done

    def in_thread(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """What an executor of one's own does, in turn with everything else."""
        done: Future[Any] = Future()
        self.call_later(self._draw.uniform(0, THREAD_SECONDS), _settle, done, function, args)
        return done

    def close(self) -> None:
        """End what never ended, here and unheard: clean-up that waits, in processes that died."""
        with warnings.catch_warnings(), patch.object(sys, "unraisablehook", lambda _: None):
            warnings.simplefilter("ignore")
            for task in self._kept:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    with contextlib.suppress(BaseException):
                        task.get_coro().close()  # type: ignore[union-attr]
            self._kept.clear()
            self._ready.clear()
            self._scheduled.clear()
            super().close()
            gc.collect()

    def _new_task(self, _loop: Any, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=self, **options)
        self._kept.append(task)
        if len(self._kept) > 20_000:
            self._kept = [one for one in self._kept if not one.done()]
        return task

    def _run_once(self) -> None:
        while True:
            self._make_due()
            handle = self._next()
            if handle is not None:
                break
            if not self._scheduled and not self._ready:
                raise RuntimeError("everything waits for something that never comes")
        self.steps += 1
        if self.steps > self._most_steps:
            raise OutOfSteps(f"more than {self._most_steps} steps")
        process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
        slowness = process.slowness if process else 1.0
        self._seconds += STEP_SECONDS * slowness
        self.digest.update(struct.pack("<d", self._seconds))
        handle._run()

    def _make_due(self) -> None:
        """Move the timers that are due to the others, and the time where nothing else is ready."""
        scheduled = self._scheduled
        while scheduled and scheduled[0]._cancelled:
            self._forget(heapq.heappop(scheduled))
        if not self._ready and scheduled:
            self._seconds = max(self._seconds, scheduled[0]._when)
        while scheduled and scheduled[0]._when <= self._seconds:
            handle = heapq.heappop(scheduled)
            self._forget(handle)
            self._ready.append(handle)

    def _forget(self, handle: Any) -> None:
        if handle._cancelled:
            self._timer_cancelled_count -= 1
        handle._scheduled = False

    def _next(self) -> asyncio.Handle | None:
        ready: deque[asyncio.Handle] = self._ready
        while ready:
            if len(ready) > 1 and self._draw.random() < self._disorder:
                ready.rotate(-self._draw.randrange(len(ready)))
            handle = ready.popleft()
            if handle._cancelled:  # type: ignore[attr-defined]
                continue
            process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
            if process is None or (process.alive and process.paused is None):
                return handle
            if process.alive:
                process.paused.append(handle)
        return None

    def _process_events(self, _events: Any) -> None:
        """There is no input or output."""

    def _write_to_self(self) -> None:
        """Nothing sleeps."""


def _settle(done: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if done.cancelled():
        return
    try:
        outcome = function(*args)
    except Exception as error:  # noqa: BLE001 - handed to who waits
        done.set_exception(error)
    else:
        done.set_result(outcome)


def _outside() -> Any:
    context = copy_context()
    context.run(PROCESS.set, None)
    return context


def outside(loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[..., Any], *args: Any):
    """Call later, in no process: what the broker does."""
    return loop.call_later(seconds, call, *args, context=_outside())


@contextmanager
def virtual_time(loop: VirtualLoop) -> Iterator[None]:
    """Every clock of this interpreter shows the loop's time; the wall clock of a process may be
    ahead or behind."""

    def wall() -> float:
        process = PROCESS.get()
        return EPOCH + loop.time() + (process.clock_ahead if process else 0.0)

    def steady() -> float:
        return 1_000.0 + loop.time()

    class Calendar(calendar.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(wall(), tz)

    dated = ("streams.console.review_desk", "streams.console.promise")
    with (
        patch.multiple(time, time=wall, monotonic=steady, perf_counter=steady),
        patch(f"safepassage.{dated[0]}.datetime", Calendar),
        patch(f"safepassage.{dated[1]}.datetime", Calendar),
    ):
        yield

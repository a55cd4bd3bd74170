"""SIGTERM and SIGINT as an event: a process ends between two pieces of work; or with its parent."""

import asyncio
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Leave:
    """Seconds after which a process that was told to stop ends regardless of what it does: a
    client may wait for a broker that is gone, in a thread that nothing can interrupt. ``sooner``
    counts where ``hopeless`` says so then. It is as after a kill: nothing is lost."""

    within: float
    sooner: float
    hopeless: Callable[[], bool]

    def start(self) -> None:
        for seconds, end in ((self.within, _end), (self.sooner, self._end_if_hopeless)):
            leaving = threading.Timer(seconds, end)
            leaving.daemon = True
            leaving.start()

    def _end_if_hopeless(self) -> None:
        if self.hopeless():
            _end()


def _end() -> None:
    log.error("left_unfinished", detail="what was not committed is delivered again")
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(1)


def die_with_parent() -> None:
    """Linux only: the kernel ends the process when the one that started it dies, even by SIGKILL.
    Elsewhere a killed parent leaves it running. To be called in the child, before exec."""
    with suppress(OSError, AttributeError):
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def stop_event(leave: Leave | None = None) -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT; a second, or ``leave``'s time, ends the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        log.info("stopping", signal=number.name)
        stop.set()
        if leave is not None:
            leave.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    return stop


async def pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of ``work``; None where ``stop`` was set first, which cancels it."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        return None if stop.is_set() else await working
    finally:
        stopping.cancel()
        working.cancel()  # unless it is done
        await asyncio.gather(working, stopping, return_exceptions=True)

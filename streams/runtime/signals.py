"""SIGTERM and SIGINT as an event, so that a process ends between two pieces of work."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import structlog

log = structlog.get_logger(__name__)


def stop_event(leave_within: float | None = None) -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets; a second one ends the process at once, and
    so do ``leave_within`` seconds: a client may wait for a broker that is gone, in a thread that
    nothing can interrupt. What was not committed is delivered again, as after a kill."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        log.info("stopping", signal=number.name)
        stop.set()
        if leave_within is not None:
            leaving = threading.Timer(leave_within, os._exit, (1,))
            leaving.daemon = True
            leaving.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    return stop

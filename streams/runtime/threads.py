"""Threads that nobody waits for: of work that may hang, or outlast the process that began it."""

import asyncio
import contextlib
import gc
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import NoReturn, TypeVar

T = TypeVar("T")

_begun: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


async def in_daemon_thread(call: Callable[[], T], seconds: float | None = None) -> T:
    """``call`` in a thread that neither the event loop nor the end of the process waits for. Raises
    `TimeoutError` where it takes longer than ``seconds``; the thread is left to itself."""
    answer: Future[T] = Future()
    answer.set_running_or_notify_cancel()  # the one who waits may go: the call goes on

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            answer.set_exception(error)

    thread = threading.Thread(target=work, name="left-to-itself", daemon=True)
    _begun.add(thread)
    thread.start()
    async with asyncio.timeout(seconds):
        return await asyncio.wrap_future(answer)


def leave(status: int) -> NoReturn:
    """End the process with ``status``.

    Where such a thread still runs, the interpreter is not taken down first: a thread that comes
    back from native code then is ended in the middle of C++, which aborts the process (SIGABRT).
    """
    if any(thread.is_alive() for thread in _begun):
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    # The collections at the end of the interpreter walk over every object of torch and the word
    # tables: most of a second of processor time, for memory that ends with the process.
    gc.freeze()
    sys.exit(status)

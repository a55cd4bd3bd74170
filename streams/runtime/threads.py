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
from typing import NoReturn, TypeVar

T = TypeVar("T")

_begun: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


async def in_daemon_thread(call: Callable[[], T], seconds: float | None = None) -> T:
    """``call`` in a thread that neither the event loop nor the end of the process waits for. Raises
    `TimeoutError` where it takes longer than ``seconds``; the thread is left to itself."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        try:
            outcome = call(), None
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            outcome = None, error  # type: ignore[assignment]
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    thread = threading.Thread(target=work, name="left-to-itself", daemon=True)
    _begun.add(thread)
    thread.start()
    async with asyncio.timeout(seconds):
        return await answer


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

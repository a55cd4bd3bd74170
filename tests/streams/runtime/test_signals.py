"""SIGTERM ends a process even where something in it waits for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

STUCK = """
import asyncio, threading
from safepassage.streams.runtime.signals import Leave, stop_event
async def main():
    stop_event(Leave(%s, %s, lambda: %s))
    print("ready", flush=True)
    threading.Thread(target=threading.Event().wait).start()
    await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.parametrize("leave", [(0.5, 0.2, False), (600, 0.5, True)])
def test_process_that_hangs_leaves_in_the_time_it_was_given(leave: tuple[float, float, bool]):
    """Sooner where waiting is hopeless."""
    with subprocess.Popen([sys.executable, "-c", STUCK % leave], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(60) == 1
        assert b"left_unfinished" in process.stdout.read()

"""SIGTERM ends a process even where something in it waits for ever."""

from __future__ import annotations

import subprocess
import sys

STUCK = """
import asyncio, threading
from streams.runtime.signals import stop_event
async def main():
    stop_event(0.5)
    print("ready", flush=True)
    threading.Thread(target=threading.Event().wait).start()
    await asyncio.Event().wait()
asyncio.run(main())
"""


def test_process_that_hangs_leaves_in_the_time_it_was_given():
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(60) == 1

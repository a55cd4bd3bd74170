"""A process of ours ends without a last walk over all that it held."""

from __future__ import annotations

import subprocess
import sys

HOLDING = """
import safepassage.streams.runtime.threads as threads

class Held:
    def __del__(self):
        print("collected", flush=True)

held = Held()
held.itself = held
{ending}
"""


def output(ending: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-c", HOLDING.format(ending=ending)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return ended.returncode, ended.stdout


def test_what_refers_to_itself_is_left_to_the_end_of_the_process():
    assert output("threads.leave(3)") == (3, "")
    assert output("raise SystemExit(3)") == (3, "collected\n")

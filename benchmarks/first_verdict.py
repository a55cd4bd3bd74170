"""CPU seconds and memory of the README's first example, each time in a fresh process.

    python benchmarks/first_verdict.py [--runs 5]

One run before is not counted: it fills the cache of int8 layers, the bytecode and the page cache.
CPU seconds are user and system time of the process, memory is its highest resident set. Both depend
on the build of torch, which is printed, and the seconds on who else uses the cores. ``--steps``
prints both after each step of one process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from five_lines import first_example

ROOT = Path(__file__).resolve().parents[1]
STEPS = """
import resource
def told(step):
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{step:24} {used.ru_utime + used.ru_stime:5.2f} s {used.ru_maxrss / 1024:5.0f} MB")
told("Python")
from safepassage import Extraction, Verifier
told("import safepassage")
import torch
told("import torch")
verifier = Verifier("default")
told("Verifier")
text = "The Tenant shall pay a monthly rent of £1,250 on the first day of each month."
result = verifier.verify(text, [Extraction("Rent", "£1,250", quote="a monthly rent of £1,250")])
told("first verdict")
result = verifier.verify(text, [Extraction("Rent", "£1,251", quote="a monthly rent of £1,250")])
told("second verdict")
"""


def main() -> None:
    """Run the example several times and print the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", action="store_true", help="where one process spends it")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's packages are compiled once
    if options.steps:
        subprocess.run([sys.executable, "-c", STEPS], check=True)
        return
    example = first_example((ROOT / "README.md").read_text("utf-8"))
    measured = {name: [] for name in ("import torch", "the first verdict")}
    for _ in range(options.runs + 1):  # in turn, so that both meet the same load
        measured["import torch"].append(_measured("import torch"))
        measured["the first verdict"].append(_measured(example))
    print(f"torch {version('torch')}, load average {os.getloadavg()[0]:.1f}")
    for name, every in measured.items():
        seconds, memory = map(statistics.median, zip(*every[1:], strict=True))
        print(f"{name:18} {seconds:5.2f} CPU seconds {memory:5.0f} MB")


def _measured(code: str) -> tuple[float, float]:
    """CPU seconds and the highest resident set in MB of a process that runs ``code``."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the example ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()

"""From nothing to a verdict: the README's example in an environment of its own, timed step by step.

    python benchmarks/five_lines.py [--constraints constraints.txt]

What a reader of the README types, in a temporary folder that is removed: a clone of what is
committed, ``python -m venv``, ``pip install`` without pip's cache, and the README's first example
in Python. Each step prints its seconds by the clock and of CPU; their sum is wanted under two
minutes. What was installed is counted: packages and megabytes. How near the packages are and who
else uses the cores decides it, so the load average is above.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WANTED = 120.0
SIZE = """
import sysconfig
from importlib.metadata import distributions
from pathlib import Path
names = {one.name.lower() for one in distributions()} - {"pip"}
places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
files = [p for place in places for p in Path(place).rglob("*") if p.is_file()]
bytes_ = sum(path.stat().st_size for path in files if path.suffix != ".pyc")
print(f"{len(names)} packages, {bytes_ / 1e6:,.0f} MB of files, without bytecode")
"""
"""What the environment that runs it holds."""


def first_example(readme: str) -> str:
    """The first block of Python of a Markdown text. Raises ValueError where it has none."""
    found = re.search(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError("the README has no example in Python")
    return found[1]


def step(name: str, command: Sequence[str | Path], folder: Path, *, show: bool = False) -> float:
    """Runs a step to its end and prints what it took; the seconds by the clock.

    Raises:
        CalledProcessError: it failed; its last lines are printed.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    # The reader has neither this checkout on the path nor the variables of a developer.
    mine = ("PYTHON", "SAFEPASSAGE_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:<34} {seconds:6.1f} s by the clock, {cpu:6.1f} s of CPU", flush=True)
    if ended.returncode:
        print(ended.stdout[-2000:], ended.stderr[-2000:], file=sys.stderr)
    ended.check_returncode()
    if show:
        print("\n".join(f"    {line}" for line in ended.stdout.splitlines()))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--constraints", type=Path, help="versions, such as constraints.txt")
    arguments = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, pip's cache not used")
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        python = home / "venv" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        if arguments.constraints:
            install += ["--constraint", arguments.constraints.resolve()]
        spent = [
            step("git clone", ["git", "clone", "--quiet", ROOT, home / "checkout"], home),
            step("python -m venv", [sys.executable, "-m", "venv", home / "venv"], home),
            step("pip install .", [*install, home / "checkout"], home),
            step("packages and megabytes", [python, "-I", "-c", SIZE], home, show=True),
            step(
                "the example",
                [python, "-c", first_example((ROOT / "README.md").read_text(encoding="utf-8"))],
                home,
                show=True,
            ),
        ]
    met = "under" if sum(spent) < WANTED else "NOT under"
    print(f"{'all':<34} {sum(spent):6.1f} s by the clock: {met} {WANTED:.0f} s")


if __name__ == "__main__":
    main()

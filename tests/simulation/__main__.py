"""``python -m tests.simulation --seed N``: runs from a seed on, one line each.

A seed that breaks a promise prints itself and the fewest faults under which it still does; the same
command with ``--runs 1`` repeats it, with the same digest. ``--minutes 60`` goes on for an hour.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

# Sets of texts are ordered by it: a seed would otherwise repeat only within one process.
if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])  # noqa: S606

from .run import MOST_STEPS, Result, run
from .schedule import Fault, schedule, shrunk


def main(
    seed: Annotated[int, typer.Option(help="Of the first run; the next has the next.")] = 0,
    runs: Annotated[
        int, typer.Option(help="How many; with --minutes as many as there is time.")
    ] = 8,
    steps: Annotated[int, typer.Option(help="The most that one run may take.")] = MOST_STEPS,
    minutes: Annotated[float, typer.Option(help="Go on for so long.")] = 0.0,
) -> None:
    """Run seeds, and say what broke."""
    until = time.monotonic() + 60 * minutes
    taken = failures = number = 0
    began = time.process_time()
    while number < runs if not minutes else time.monotonic() < until:
        result = run(seed + number, most_steps=steps)
        _say(_line(result))
        taken += result.steps
        number += 1
        if result.broken:
            failures += 1
            _tell(result, steps)
    seconds = time.process_time() - began
    rate = 60 * taken / seconds
    _say(f"{number} runs, {failures} broken, {taken} steps, {rate:,.0f} a minute of processor time")
    raise typer.Exit(int(failures > 0))


def _line(result: Result) -> str:
    return (
        f"seed {result.seed}: {result.steps} steps in {result.seconds:.0f} simulated s, "
        f"{result.records} records, {result.restarts} restarts, trace {result.digest}"
    )


def _tell(result: Result, steps: int) -> None:
    for promise, what in result.broken:
        _say(f"  {promise}: {what}")
    promises = {promise for promise, _ in result.broken}

    def fails(faults: list[Fault]) -> bool:
        found = run(result.seed, faults, steps).broken
        return any(promise in promises for promise, _ in found)

    fewest = shrunk(schedule(result.seed), fails)  # type: ignore[arg-type]
    _say(f"  python -m tests.simulation --seed {result.seed} --runs 1; the fewest faults:")
    for fault in fewest:
        _say(f"    {fault!r}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    typer.run(main)

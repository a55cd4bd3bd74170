"""``python -m tests.faults --fault NAME --seed N --runs K``: seeded runs, one line each."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.stack import Stack, running_stack

from .catalogue import CATALOGUE
from .harness import run_fault
from .history import History
from .table import append_figures, broken, describe, figures_of


def main(
    fault: Annotated[list[str] | None, typer.Option(help="Names; all of them if omitted.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first run; the next has the next.")] = 0,
    runs: Annotated[int, typer.Option(help="Runs of each fault.")] = 1,
    histories: Annotated[Path | None, typer.Option(help="Folder for the histories.")] = None,
    figures: Annotated[Path | None, typer.Option(help="JSON lines to append to.")] = None,
) -> None:
    """Run faults against the embedded broker, or KAFKA_BOOTSTRAP_SERVERS and REDIS_URL."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # faults make it talkative
    failed = False
    with running_stack() as stack:
        for number in range(seed, seed + runs):
            for name in fault or CATALOGUE:
                history = _run(stack, name, number)
                if histories:
                    history.write(histories / f"{name}-{number}.jsonl")
                run = figures_of(name, number, history)
                if figures:
                    append_figures(figures, run)
                sys.stdout.write(describe(run) + "\n")
                sys.stdout.flush()
                failed |= bool(broken(run)) or history.recovery_seconds is None
    raise typer.Exit(int(failed))


def _run(stack: Stack, name: str, seed: int) -> History:
    with tempfile.TemporaryDirectory(prefix="safepassage-faults-") as logs:
        fault, shape = CATALOGUE[name]
        return asyncio.run(run_fault(stack, fault, shape, seed=seed, logs=Path(logs)))


if __name__ == "__main__":
    typer.run(main)

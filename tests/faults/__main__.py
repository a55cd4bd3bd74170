"""``python -m tests.faults --fault NAME --seed N --runs K``: seeded runs, one line each."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from safepassage.streams.demo.embedded import embedded_redis
from tests.kafka_server.jars import VERSION
from tests.kafka_server.links import linked_cluster
from tests.stack import Stack, running_stack

from .catalogue import CATALOGUE, names
from .harness import run_fault
from .table import append_figures, broken, describe, figures_of, read_figures


def main(  # noqa: PLR0917 - typer's options
    fault: Annotated[list[str] | None, typer.Option(help="Names; all of them if omitted.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first run; the next has the next.")] = 0,
    runs: Annotated[int, typer.Option(help="Runs of each fault.")] = 1,
    histories: Annotated[Path | None, typer.Option(help="Folder for the histories.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="JSON lines to append to; what they have is not run again.")
    ] = None,
    brokers: Annotated[
        int, typer.Option(help="Start so many of Apache Kafka, with links before and between them.")
    ] = 0,
    version: Annotated[str, typer.Option(help="Of Apache Kafka.")] = VERSION,
) -> None:
    """Run faults against the embedded broker, or KAFKA_BOOTSTRAP_SERVERS and REDIS_URL."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers go with it
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # faults make it talkative
    chosen = fault or names(several_brokers=brokers > 1)
    done = {(run.fault, run.seed) for run in (read_figures(figures) if figures else [])}
    wanted = [(name, one) for one in range(seed, seed + runs) for name in chosen]
    asked = [each for each in wanted if each not in done]
    raise typer.Exit(int(asyncio.run(_run_all(asked, histories, figures, brokers, version))))


async def _run_all(
    asked: Sequence[tuple[str, int]],
    histories: Path | None,
    figures: Path | None,
    brokers: int,
    version: str,
) -> bool:
    """Whether one of the runs broke a promise, or did not end."""
    failed = False
    async with AsyncExitStack() as resources:
        cluster = None
        if brokers:
            folder = resources.enter_context(tempfile.TemporaryDirectory(prefix="safepassage-"))
            cluster = await resources.enter_async_context(
                linked_cluster(Path(folder), brokers, version)
            )
            redis_url = resources.enter_context(embedded_redis())
            stack = Stack(cluster.cluster.bootstrap_servers, redis_url, embedded=False)
        else:
            stack = resources.enter_context(running_stack())
        for name, number in asked:
            with tempfile.TemporaryDirectory(prefix="safepassage-faults-") as logs:
                do, shape = CATALOGUE[name]
                history = await run_fault(
                    stack, do, shape, seed=number, logs=Path(logs), cluster=cluster
                )
            if histories:
                history.write(histories / f"{name}-{number}.jsonl")
            run = figures_of(name, number, history)
            if figures:
                append_figures(figures, run)
            sys.stdout.write(describe(run) + "\n")
            sys.stdout.flush()
            failed |= bool(broken(run)) or history.recovery_seconds is None
            if cluster:
                await stack.delete_topics()
    return failed


if __name__ == "__main__":
    typer.run(main)

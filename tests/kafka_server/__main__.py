"""``python -m tests.kafka_server -- COMMAND…``: run a command against Apache Kafka.

It finds the brokers under KAFKA_BOOTSTRAP_SERVERS, as the tests and the scripts do. Where Java or
Maven is missing, that is said and nothing runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from .cluster import Cluster
from .jars import VERSION, Missing, jars, java


def main(
    command: Annotated[list[str], typer.Argument(help="What to run, after --.")],
    version: Annotated[str, typer.Option(help="Of Apache Kafka.")] = VERSION,
    brokers: Annotated[int, typer.Option(help="How many.")] = 1,
) -> None:
    """Run COMMAND, and end with its exit code."""
    try:
        java(), jars(version)
    except Missing as missing:
        sys.stderr.write(f"skipped: {missing}\n")
        raise typer.Exit(0) from None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the brokers go with it
    with (
        tempfile.TemporaryDirectory(prefix="safepassage-kafka-") as folder,
        Cluster(Path(folder), brokers=brokers, version=version) as cluster,
    ):
        found = {
            "KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
            "KAFKA_VERSION": version,
        }
        sys.stderr.write(f"{brokers} broker(s) of Apache Kafka: {found}\n")
        ended = subprocess.run(command, env={**os.environ, **found}, check=False)
    raise typer.Exit(ended.returncode)


if __name__ == "__main__":
    typer.run(main)

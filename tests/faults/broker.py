"""A broker that a run has to itself, so that it can be frozen, or killed and started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from safepassage.streams.demo.embedded import (
    LOOPBACK,
    free_port,
    start_broker,
    stop_process,
)
from safepassage.streams.runtime.signals import die_with_parent

BUCKET = "broker"


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a broker keeps its records: an engine's URL, and the variables it reads."""

    engine: str = "memory://tansu/"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Broker:
    """The embedded broker at ``address``, which tells clients to come to ``advertised``."""

    address: str
    advertised: str
    storage: Storage
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; with durable storage it has all that was acknowledged before."""
        self._process = start_broker(
            self.address,
            advertised=self.advertised,
            storage=self.storage.engine,
            environment=self.storage.environment,
        )

    def signal(self, number: signal.Signals) -> None:
        """Deliver a signal to its process."""
        assert self._process
        self._process.send_signal(number)
        if number is signal.SIGKILL:
            self._process.wait()

    def stop(self) -> None:
        """Stop it, whatever state it is in."""
        if self._process:
            stop_process(self._process)


@contextmanager
def durable_storage() -> Iterator[Storage]:
    """An S3 server with one bucket: the one storage of the embedded broker that outlives it."""
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", LOOPBACK, "-p", str(port)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
    )
    try:
        _make_bucket(f"{url}/{BUCKET}")
        yield Storage(
            f"s3://{BUCKET}/",
            {
                "AWS_ENDPOINT": url,
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "any",
                "AWS_SECRET_ACCESS_KEY": "any",
                "AWS_DEFAULT_REGION": "us-east-1",
            },
        )
    finally:
        stop_process(process)


def _make_bucket(url: str) -> None:
    request = urllib.request.Request(url, method="PUT")  # noqa: S310 - our own loopback server
    deadline = time.monotonic() + 30
    while True:
        try:
            return urllib.request.urlopen(request, timeout=5).close()  # noqa: S310
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)

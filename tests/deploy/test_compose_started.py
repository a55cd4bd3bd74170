"""Compose's services, started as processes: in their order, until healthy; a document goes through;
SIGTERM ends each within its grace.

    python -m pytest tests/deploy/test_compose_started.py -m long
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from safepassage.streams.demo.embedded import LOOPBACK
from safepassage.streams.topics import ROLE_NAMES

from .compose import DEPLOY, Containers, Running, image_environment, seconds, workers

PROFILES = ("recorded",)


def get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Watch:
    """What a worker says of itself from its first moment until it is ready."""

    def __init__(self) -> None:
        self.said: list[tuple[int, str, int]] = []  # of /ready, its stage, of /health
        self._over = threading.Event()

    def __call__(self, one: Running) -> None:
        if one.service == "score":
            self._base = f"http://{LOOPBACK}:{one.environment['SAFEPASSAGE_HEALTH_PORT']}"
            threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            try:
                alive, _ = get(f"{self._base}/health")
                ready, body = get(f"{self._base}/ready")
            except OSError:  # it does not listen yet, or is busy importing
                continue
            self.said.append((ready, json.loads(body)["stage"], alive))
            if ready == 200:
                return

    def stop(self) -> None:
        self._over.set()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_compose_as_processes(tmp_path: Path):
    watch = Watch()
    with Containers(tmp_path, PROFILES) as containers:
        (tmp_path / "learnt").mkdir()
        containers.up(watch)
        watch.stop()
        assert containers.ends("submit-demo", 240) == 0, [one.said() for one in containers.running]
        console = f"http://{LOOPBACK}:{containers.port('console')}"
        assert get(f"{console}/login")[0] == 200
        for one in workers(containers):
            health = f"http://{LOOPBACK}:{one.environment['SAFEPASSAGE_HEALTH_PORT']}"
            assert get(f"{health}/ready")[0] == 200, one.service
            assert b"safepassage_last_progress" in get(f"{health}/metrics")[1]
        said = [word for one in workers(containers) for word in _command(containers, one)[1:]]
        roles = {word for word in said if not word.startswith("--")}
        logs = {one.service: one.log for one in containers.running}
        statuses = containers.down()
    told = logs["submit-demo"].read_text()
    assert "accepted" in told
    assert "quarantined" in told
    assert roles == set(ROLE_NAMES)
    assert len(statuses["align"]) == 2  # its replicas
    statuses.pop("kafka")  # the embedded broker knows no clean end
    assert {name: codes for name, codes in statuses.items() if set(codes) != {0}} == {}
    # Readiness apart from liveness: alive and not ready while its model loads, then both.
    assert (503, "starting", 200) in watch.said
    assert watch.said[-1] == (200, "running", 200)


def _command(containers: Containers, one: Running) -> list[str]:
    command: list[str] = containers.services[one.service]["command"]
    return command


def test_services_start_behind_what_they_depend_on(tmp_path: Path):
    containers = Containers(tmp_path, PROFILES)
    order = containers.order()
    assert set(order) == set(containers.services)
    for name, service in containers.services.items():
        for before in service.get("depends_on", {}):
            assert order.index(before) < order.index(name)


def test_every_duration_and_variable_of_the_image_is_read():
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    environment = image_environment(dockerfile)
    assert environment["SAFEPASSAGE_HEALTH_PORT"] == "8080"
    assert environment["TMPDIR"] == "/tmp"  # noqa: S108 - of the container
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    graces = [s["stop_grace_period"] for s in services.values() if "stop_grace_period" in s]
    assert graces
    assert all(seconds(grace) > 0 for grace in graces)

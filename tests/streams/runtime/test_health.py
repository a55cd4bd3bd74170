"""Liveness apart from readiness: who loads or leaves is alive, who hangs is not."""

from __future__ import annotations

import time

import httpx2
import pytest
from prometheus_client import REGISTRY
from starlette.testclient import TestClient

from safepassage.streams.demo.embedded import LOOPBACK, free_port
from safepassage.streams.runtime.health import Stage, health_answered, health_app
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Settings

STALLED_SECONDS = 10.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Worker:
    def __init__(self) -> None:
        self.clock = Clock()
        self.stage: Stage = "starting"
        self.progress: list[Progress] = []
        self._client = TestClient(health_app(self.progress, STALLED_SECONDS, lambda: self.stage))

    def run(self) -> None:
        self.stage = "running"
        self.progress.append(Progress("align", self.clock))

    @property
    def answers(self) -> tuple[int, int]:
        """Statuses of /health and /ready."""
        return (self._client.get("/health").status_code, self._client.get("/ready").status_code)


def test_a_worker_that_loads_is_alive_and_not_ready():
    worker = Worker()
    assert worker.answers == (200, 503)
    worker.run()
    assert worker.answers == (200, 200)


def test_a_worker_that_leaves_is_alive_and_not_ready():
    worker = Worker()
    worker.run()
    worker.progress[0].delivered()
    worker.stage = "draining"
    worker.clock.now = 2 * STALLED_SECONDS  # it may take its time: it ends by itself
    assert worker.answers == (200, 503)


def test_a_worker_that_hangs_is_neither():
    worker = Worker()
    worker.run()
    worker.progress[0].delivered()
    worker.clock.now = STALLED_SECONDS + 1
    assert worker.answers == (503, 503)
    worker.progress[0].finished()
    assert worker.answers == (200, 200)


def test_a_worker_that_does_not_read_a_partition_is_neither_and_names_it():
    worker = Worker()
    worker.run()
    worker.progress[0].note_unplaced(["extractions-3"])
    worker.clock.now = STALLED_SECONDS + 1
    worker.progress[0].polled()
    assert worker.answers == (503, 503)
    told = worker._client.get("/health").json()
    assert told["without_position"] == {"align": ["extractions-3"]}


async def test_the_port_is_answered_before_anything_is_ready():
    settings = Settings(health_port=free_port())
    url = f"http://{LOOPBACK}:{settings.health_port}"
    async with (
        health_answered(settings, [], lambda: "starting"),
        httpx2.AsyncClient(trust_env=False) as client,
    ):
        assert (await client.get(f"{url}/health")).status_code == 200
        assert (await client.get(f"{url}/ready")).json() == {
            "ready": False,
            "stage": "starting",
            "stalled": [],
        }


@pytest.mark.parametrize(("timestamp", "age"), [(None, 0.0), (-60_000, 60.0), (60_000, 0.0)])
def test_age_of_the_oldest_record_is_told_when_it_is_asked_for(timestamp: int | None, age: float):
    progress = Progress("extract")
    now = int(time.time() * 1000)
    progress.oldest_timestamp = lambda: None if timestamp is None else now + timestamp
    TestClient(health_app([progress], STALLED_SECONDS)).get("/metrics")
    told = REGISTRY.get_sample_value("safepassage_oldest_record_age_seconds", {"role": "extract"})
    assert told == pytest.approx(age, abs=30)

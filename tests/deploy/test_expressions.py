"""Every expression of dashboards and alerts names metrics that a scraped process exports, with the
labels that it has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY, generate_latest

import safepassage.service.metrics
import safepassage.streams.runtime.metrics  # noqa: F401 - registers the labels
from safepassage.streams.demo.embedded import free_port
from tests.stack import Stack, environment

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
OF_SERVE = "safepassage_http_"
OF_PROMETHEUS = {"le", "instance", "job"}
PATIENCE_SECONDS = 120
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


def expressions() -> list[str]:
    dashboards = [json.loads(p.read_text()) for p in DEPLOY.rglob("dashboards/*.json")]
    shown = [t["expr"] for d in dashboards for p in d["panels"] for t in p.get("targets", ())]
    groups = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text())["groups"]
    return shown + [rule["expr"] for group in groups for rule in group["rules"]]


def series(text: str) -> set[str]:
    """The names of the series that a scrape has, also of those without a value yet."""
    types = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    return {name + suffix for name, kind in types for suffix in SUFFIXES.get(kind, ("",))}


def labels() -> dict[str, set[str]]:
    """The labels of every series."""
    found = {}
    for name, collector in REGISTRY._names_to_collectors.items():
        found[name] = set(getattr(collector, "_labelnames", ()))
    return found


@pytest.fixture
def exported(stack: Stack) -> set[str]:
    """What a worker in a process of its own exports, and `serve` beside it."""
    port = free_port()
    variables = environment(stack.settings()) | {"SAFEPASSAGE_HEALTH_PORT": str(port)}
    worker = subprocess.Popen(
        [sys.executable, "-m", "safepassage", "worker", "report"],
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        of_worker = scraped(f"http://127.0.0.1:{port}/metrics", worker)
    finally:
        worker.terminate()
        worker.wait()
    of_serve = series(generate_latest(REGISTRY).decode())
    return of_worker | {name for name in of_serve if name.startswith(OF_SERVE)}


def scraped(url: str, worker: subprocess.Popen[bytes]) -> set[str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own
                return series(answer.read().decode())
        except (urllib.error.URLError, ConnectionError):
            assert worker.poll() is None, "the worker ended"
            assert time.monotonic() < deadline, "no metrics came"
            time.sleep(0.2)


def test_every_expression_names_what_a_scraped_worker_exports(exported: set[str]):
    named = {name for e in expressions() for name in re.findall(r"\bsafepassage_\w+", e)}
    assert len(named) > 20  # the pattern still finds them
    assert named - exported == set()


@pytest.mark.parametrize("expression", expressions())
def test_every_label_of_an_expression_is_one_of_its_metrics(expression: str):
    known = labels()
    used = re.findall(r"\b(safepassage_\w+)(?:\{([^}]*)\})?", expression)
    for name, matchers in used:
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= known[name]
    grouped = re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
    wanted = {label.strip() for group in grouped for label in group.split(",")}
    assert wanted <= set.union(*(known[name] for name, _ in used)) | OF_PROMETHEUS

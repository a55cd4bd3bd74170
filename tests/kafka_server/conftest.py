"""Clusters of their own, for what a broker named by the environment cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from safepassage.streams.settings import Settings
from tests.stack import Stack

from .cluster import Cluster
from .jars import Missing, jars, java


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("kafka")


def _running(folder: Path, brokers: int) -> Iterator[Cluster]:
    try:
        java(), jars()
    except Missing as missing:
        pytest.skip(str(missing))
    with Cluster(folder, brokers=brokers) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def one_broker(tmp_path_factory) -> Iterator[Cluster]:
    yield from _running(tmp_path_factory.mktemp("kafka"), 1)


@pytest.fixture(scope="module")
def three_brokers(tmp_path_factory) -> Iterator[Cluster]:
    yield from _running(tmp_path_factory.mktemp("kafka"), 3)


def settings_for(cluster: Cluster) -> Settings:
    """Settings with topics of one test alone."""
    return Stack(cluster.bootstrap_servers, "redis://127.0.0.1:1/0", embedded=False).settings()

"""Clusters of their own, for what a broker named by the environment cannot show."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Iterator
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


@pytest.fixture(autouse=True)
async def connections_closed() -> AsyncIterator[None]:
    """TLS says goodbye first: a client does not wait for that, and a loop that ends at once leaves
    the socket open."""
    yield
    transports = asyncio.get_running_loop()._transports  # type: ignore[attr-defined]
    async with asyncio.timeout(30):
        while not all(one.is_closing() for one in [*transports.values()]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


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
    with warnings.catch_warnings():
        # A client of aiokafka that is closed while it connects to a frozen broker leaves that open.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def settings_for(cluster: Cluster) -> Settings:
    """Settings with topics of one test alone."""
    return Stack(cluster.bootstrap_servers, "redis://127.0.0.1:1/0", embedded=False).settings()

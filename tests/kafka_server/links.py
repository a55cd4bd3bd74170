"""A cluster whose every way goes over a link: from clients to each broker, and between brokers."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.link import Link, open_link

from .cluster import Cluster, address


@dataclass(frozen=True, slots=True)
class LinkedCluster:
    """``links`` lead from clients, ``inner`` from other brokers, to each broker in turn. The
    controllers' way to each other is not cut."""

    cluster: Cluster
    links: list[Link]
    inner: list[Link]

    async def mend(self) -> None:
        """Bring every broker and every link back, and wait until the brokers answer."""
        for link in (*self.links, *self.inner):
            link.mend()
        for node in self.cluster.nodes:
            node.signal(signal.SIGCONT)
            if not node.running:
                node.start()
        await asyncio.to_thread(self.cluster.wait)


@asynccontextmanager
async def linked_cluster(folder: Path, brokers: int, version: str) -> AsyncIterator[LinkedCluster]:
    """A running one, stopped on the way out."""
    cluster = Cluster(folder, brokers=brokers, version=version, linked=True)
    async with AsyncExitStack() as resources:
        ways = [
            [
                await resources.enter_async_context(
                    open_link(address(getattr(node, name)), address(node.listening[name.upper()]))
                )
                for node in cluster.nodes
            ]
            for name in ("client", "internal")
        ]
        resources.callback(cluster.stop)
        for node in cluster.nodes:
            node.start()
        await asyncio.to_thread(cluster.wait)
        yield LinkedCluster(cluster, *ways)

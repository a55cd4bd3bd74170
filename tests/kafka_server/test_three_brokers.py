"""What only several brokers show: a leader that goes, and replicas that have to agree."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from safepassage.streams.doctor.examination import check_topics
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import open_admin
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, MANIFESTS
from tests.streams.broker import all_records, batch_source, faust_source, running, send_documents
from tests.streams.doubles import document_role

from .cluster import Cluster, Node, address
from .conftest import settings_for

PATIENCE_SECONDS = 100.0
"""Less than the 300 s after which aiokafka asks anew who leads."""


async def test_topics_are_replicated_and_the_doctor_is_content(three_brokers: Cluster):
    settings = settings_for(three_brokers)
    await joined(settings, len(three_brokers.nodes))
    await create_topics(settings)
    assert [diagnosis.state for diagnosis in await check_topics(settings)] == ["ok"]
    alone = settings.model_copy(update={"topic_prefix": "alone-", "replication_factor": 1})
    await create_topics(alone)
    warned = await check_topics(alone.model_copy(update={"replication_factor": None}))
    assert {diagnosis.state for diagnosis in warned} == {"warning"}
    assert all("1 replicas instead of 3" in diagnosis.found for diagnosis in warned)


@pytest.mark.parametrize("new_source", [batch_source, faust_source])
async def test_role_reads_on_after_a_leader_change_with_a_rebalance(
    three_brokers: Cluster, new_source
):
    """Partitions that never had a record have no committed position, and ask for one anew."""
    settings = settings_for(three_brokers)
    await create_topics(settings)
    async with running(new_source, document_role(), settings):
        await send_documents(settings, ["first"])
        await manifests(settings, 1)
        async with frozen_leader(three_brokers, settings) as others:
            reachable = settings.model_copy(update={"kafka_bootstrap_servers": others})
            async with running(new_source, document_role(), reachable):
                more = [f"more-{number}" for number in range(20)]
                await send_documents(reachable, more)
                await manifests(reachable, 1 + len(more))


async def joined(settings: Settings, brokers: int) -> None:
    """Wait until the cluster names all of its ``brokers``: one that listens is not yet among
    them."""
    async with asyncio.timeout(PATIENCE_SECONDS), open_admin(settings) as admin:
        while len((await admin.describe_cluster())["brokers"]) < brokers:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def manifests(settings: Settings, count: int) -> None:
    """Wait for ``count`` different manifests."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len({one.key for one in await all_records(settings, MANIFESTS)}) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.5)


@asynccontextmanager
async def frozen_leader(cluster: Cluster, settings: Settings) -> AsyncIterator[str]:
    """While a broker that led partitions of ``documents`` is frozen and others lead them; yields
    the addresses of the others."""
    led = {node.number: 0 for node in cluster.nodes}
    for leader in await leaders(settings):
        led[leader] += 1
    frozen = cluster.nodes[max(led, key=led.__getitem__)]
    others = ",".join(address(node.client) for node in cluster.nodes if node is not frozen)
    frozen.signal(signal.SIGSTOP)
    try:
        await moved(settings.model_copy(update={"kafka_bootstrap_servers": others}), frozen)
        yield others
    finally:
        frozen.signal(signal.SIGCONT)


async def moved(settings: Settings, frozen: Node) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(KafkaError):  # the frozen one was asked
                if frozen.number not in await leaders(settings):
                    return
            await asyncio.sleep(0.5)


async def leaders(settings: Settings) -> list[int]:
    async with open_admin(settings) as admin:
        asked = MetadataRequest([settings.topic(DOCUMENTS.name)], False)
        (topic,) = (await admin._send_request(asked)).to_object()["topics"]
        return [partition["leader"] for partition in topic["partitions"]]

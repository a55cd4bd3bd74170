"""A role's membership in its consumer group, from joining to leaving."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

from safepassage.streams.runtime.signals import unless_stopped
from safepassage.streams.settings import Settings

from .clients import new_group_consumer, stop_consumer

LEAVE_PATIENCE_SECONDS = 5.0


@contextlib.asynccontextmanager
async def group_member(
    settings: Settings,
    role: str,
    topics: Sequence[str],
    listener: ConsumerRebalanceListener,
    stop: asyncio.Event,
) -> AsyncIterator[AIOKafkaConsumer]:
    """A member of the role's group, which left it on the way out, also where it could not join.

    Joining waits for the other members to end their batches, and for a broker that is away. Where
    ``stop`` is set first, the consumer that is given has not joined: read nothing from it."""
    consumer = new_group_consumer(settings, role)
    consumer.subscribe(list(topics), listener=listener)
    joined = False
    try:
        await unless_stopped(stop, consumer.start())
        joined = not stop.is_set()
        yield consumer
    finally:
        # A member that is joining would wait for the broker's answer before it leaves.
        async with contextlib.AsyncExitStack() as patience:
            if not joined:
                patience.enter_context(contextlib.suppress(TimeoutError))
                await patience.enter_async_context(asyncio.timeout(LEAVE_PATIENCE_SECONDS))
            await stop_consumer(consumer)

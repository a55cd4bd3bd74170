"""Work at the start of an assignment, while the consumer goes on being polled.

Anyone who has to read something before its first batch must not let the group wait for it: a member
that does not poll is taken for dead, its partitions go to the next one, which reads as long.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from safepassage.streams.runtime.progress import Progress

T = TypeVar("T")
POLL_MILLISECONDS = 200
Fetched = Mapping[TopicPartition, list[ConsumerRecord]]


async def polling_meanwhile(
    consumer: AIOKafkaConsumer,
    progress: Progress,
    work: Coroutine[Any, Any, T],
    reassigned: Callable[[], bool],
) -> tuple[T | None, Fetched]:
    """What ``work`` returns, with the partitions paused until then.

    Where they are assigned anew meanwhile, the work is given up: None, and the first records of
    the new assignment, which a paused consumer cannot have asked for.
    """
    consumer.pause(*consumer.assignment())
    working = asyncio.create_task(work)
    fetched: Fetched = {}
    try:
        while not working.done() and not reassigned():
            fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
            progress.polled()
        if reassigned():
            return None, fetched
        return working.result(), {}
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        consumer.resume(*consumer.assignment())

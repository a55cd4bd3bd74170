"""Single records, read again by their coordinates."""

import asyncio
import contextlib
from contextlib import AsyncExitStack
from weakref import WeakKeyDictionary

import stamina
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, KafkaTimeoutError

from safepassage.schemas import Coordinates

from ..settings import Settings
from .erasures_and_seals import protection
from .reading import high_watermarks, partitions_of, reader, to_record
from .records import Record

REREAD_PATIENCE_SECONDS = 5.0


class Unreadable(LookupError):
    """There is no record at the given coordinates, or no longer."""


class PointReader:
    """Reads single records with one client, which the first read opens and `close` closes: where
    Redis is gone every document is read so, and a client each would log in to the brokers each
    time. One read at a time.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._turn = asyncio.Lock()
        self._open = AsyncExitStack()
        self._consumer: AIOKafkaConsumer | None = None

    async def read(self, coordinates: Coordinates) -> Record:
        """The record at ``coordinates``. Raises `Unreadable` where no record is there."""
        patience = self.settings.publish_patience_seconds
        async for attempt in stamina.retry_context(KafkaError, attempts=None, timeout=patience):
            with attempt:
                async with self._turn:
                    message = await self._read(coordinates)
        if message is None or message.offset != coordinates.offset:
            raise Unreadable(f"there is no record at {coordinates}")
        return to_record(message, protection(self.settings))

    async def close(self) -> None:
        """Close the client; the next read opens another."""
        self._consumer = None
        await self._open.aclose()

    async def _read(self, coordinates: Coordinates) -> ConsumerRecord | None:
        """The first record from there on, None if it is missing. Anything that goes wrong closes
        the client: nobody knows what it still waits for."""
        tp = TopicPartition(coordinates.topic, coordinates.partition)
        try:
            if self._consumer is None:
                self._consumer = await self._open.enter_async_context(reader(self.settings))
            found = await _first_from(self._consumer, tp, coordinates.offset)
        except TimeoutError as error:
            await self.close()
            raise KafkaTimeoutError(f"no answer from {tp}") from error
        except BaseException:
            await self.close()
            raise
        if found is None:  # a fetch that the broker may never answer
            await self.close()
        return found


_OPEN: WeakKeyDictionary[AsyncExitStack, PointReader] = WeakKeyDictionary()


def point_reader(settings: Settings, resources: AsyncExitStack) -> PointReader:
    """The reader of all that share ``resources``, as a process's roles do; closed with them."""
    known = _OPEN.get(resources)
    if known is None or known.settings is not settings:
        known = _OPEN[resources] = PointReader(settings)
        resources.push_async_callback(known.close)
    return known


async def _first_from(
    consumer: AIOKafkaConsumer, tp: TopicPartition, offset: int
) -> ConsumerRecord | None:
    if tp.partition not in await partitions_of(consumer, tp.topic):
        return None
    consumer.assign([tp])
    consumer.seek(tp, offset)
    with contextlib.suppress(TimeoutError):
        found = await asyncio.wait_for(consumer.getone(tp), REREAD_PATIENCE_SECONDS)
        consumer.pause(tp)  # nothing is fetched ahead until the next read
        return found
    # The embedded broker never answers a fetch past the end; an answer to one from
    # before it tells that from a broker that is gone.
    async with asyncio.timeout(REREAD_PATIENCE_SECONDS):
        end = (await high_watermarks(consumer, [tp]))[tp]
    if offset >= end:
        return None
    raise KafkaTimeoutError(f"no answer from {tp}")

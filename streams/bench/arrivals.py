"""Arrivals on a schedule that no completion delays: an open loop.

A closed loop, which sends the next document when one is done, slows down with the system that it
measures, and so omits the waits of all documents that should have come meanwhile (coordinated
omission). Here a document is due at its time; how late it was sent is part of the figures.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer

from safepassage.schemas import Coordinates, Document

from ..kafka.publisher import hand_over, place_of
from ..kafka.records import Outgoing
from ..settings import Settings
from ..topics import DOCUMENTS


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document that the broker has, and when it was due and had, in `time.monotonic`."""

    place: Coordinates
    due: float
    accepted: float


def schedule(rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Times of arrival in [0, ``seconds``), with exponential gaps of ``rate`` a second."""
    draw = random.Random(seed)
    at = draw.expovariate(rate)
    while at < seconds:
        yield at
        at += draw.expovariate(rate)


async def arrive(
    producer: AIOKafkaProducer,
    settings: Settings,
    documents: Sequence[Document],
    times: Sequence[float],
) -> list[Arrival]:
    """Send each document at its time, whether the one before was acknowledged or not."""
    start = time.monotonic()
    sending = []
    for document, at in zip(documents, times, strict=True):
        await asyncio.sleep(max(0.0, start + at - time.monotonic()))
        sending.append(asyncio.create_task(_send(producer, settings, document, start + at)))
    return await asyncio.gather(*sending)


async def _send(
    producer: AIOKafkaProducer, settings: Settings, document: Document, due: float
) -> Arrival:
    future = await hand_over(producer, Outgoing(DOCUMENTS, document.id, document), settings)
    return Arrival(place_of(await future), due, time.monotonic())

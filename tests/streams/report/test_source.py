"""The report role on a broker: what it commits, and what it does while it takes up partitions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from safepassage.schemas import (
    Coordinates,
    DocumentRef,
    DocumentReport,
    Erasure,
    ExtractionManifest,
    Verdict,
)
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.erasures_and_seals import protection
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.report import report_source
from safepassage.streams.report.report_source import ReportSource
from safepassage.streams.runtime.progress import Progress
from safepassage.streams.settings import Settings
from safepassage.streams.topics import MANIFESTS, QUARANTINE, REPORTS
from tests.streams.broker import all_records, committed

from .test_document_completion import manifest, ref, scored

PATIENCE = 60.0
DISTANCE = 5


@asynccontextmanager
async def reporting(settings: Settings):
    """A running report role; yields it."""
    await create_topics(settings)
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    source = ReportSource(publisher, settings, distance=DISTANCE)
    stop = asyncio.Event()
    task = asyncio.create_task(source.run(stop))
    try:
        yield source
    finally:
        stop.set()
        await task
        await publisher.stop()


async def put(settings: Settings, *events: tuple[Any, Any]) -> None:
    """Events with their topics, all of one key and so of one partition."""
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        await publisher.publish([Outgoing(topic, "one-key", event) for topic, event in events])
    finally:
        await publisher.stop()


def document(number: int) -> DocumentRef:
    return ref(f"d{number}", number)


def ended(number: int) -> list[tuple[Any, ExtractionManifest | Verdict]]:
    return [
        (MANIFESTS, manifest(document(number), f"e{number}")),
        (QUARANTINE, scored(document(number), f"e{number}")),
    ]


async def reports(settings: Settings) -> dict[str, DocumentReport]:
    found = [
        DocumentReport.model_validate_json(r.value) for r in await all_records(settings, REPORTS)
    ]
    return {report.document.id: report for report in found}


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - it asks the broker
            await asyncio.sleep(0.1)


async def test_one_incomplete_document_does_not_pin_the_offsets(kafka: Settings) -> None:
    await create_topics(kafka)
    await put(kafka, (MANIFESTS, manifest(document(0), "lost")), *ended(1))
    async with reporting(kafka):
        await until(lambda: reports(kafka))  # so the first manifest was read, before the others
        for number in range(2, 3 * DISTANCE):
            await put(kafka, *ended(number))

        async def given_up() -> bool:
            return "d0" in await reports(kafka)

        await until(given_up)

        async def gone_on() -> bool:
            return max((await committed(kafka, "report", MANIFESTS)).values()) > DISTANCE

        await until(gone_on)
    assert (await reports(kafka))["d0"].missing == 1


async def test_polling_goes_on_while_the_reports_of_an_earlier_run_are_read(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    polled_while_reading = asyncio.Event()
    polls = 0

    async def slowly(self: ReportSource, _: object) -> list[Coordinates]:
        before = polls
        while polls < before + 3:  # noqa: ASYNC110 - counted by the role, not by us
            await asyncio.sleep(0.01)
        polled_while_reading.set()
        return []

    def polled(self: object) -> None:
        nonlocal polls
        polls += 1

    monkeypatch.setattr(report_source.ReportSource, "_reported", slowly)
    monkeypatch.setattr(Progress, "polled", polled)
    await create_topics(kafka)
    await put(kafka, *ended(1))
    async with reporting(kafka):
        async with asyncio.timeout(PATIENCE):
            await polled_while_reading.wait()
        await until(lambda: reports(kafka))
    assert set(await reports(kafka)) == {"d1"}


async def test_a_restart_reports_nothing_again(kafka: Settings) -> None:
    await create_topics(kafka)
    await put(kafka, (MANIFESTS, manifest(document(0), "lost")), *ended(1))
    for number in (2, 3):
        async with reporting(kafka):
            await put(kafka, *ended(number))

            async def there(wanted: int = number) -> bool:
                return len(await reports(kafka)) == wanted

            await until(there)
    assert len(await all_records(kafka, REPORTS)) == 3


async def test_a_document_that_is_erased_later_is_waited_for_no_longer(kafka: Settings) -> None:
    await create_topics(kafka)
    async with reporting(kafka) as source:
        await put(kafka, *ended(1))
        await until(lambda: reports(kafka))
        await put(kafka, (MANIFESTS, manifest(document(0), "lost")))

        async def holds(documents: int) -> bool:
            return source._tally._count == documents

        await until(lambda: holds(1))
        protection(kafka).add(Erasure(doc_id="d0", at=datetime.now(UTC), by="Ada", reason="asked"))
        await until(lambda: holds(0))
    assert set(await reports(kafka)) == {"d1"}


async def test_taking_up_partitions_reads_a_bounded_tail_of_the_reports(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many reports are retained: no more than could repeat are read."""
    await create_topics(kafka)
    await put(kafka, *(each for number in range(6) for each in ended(number)))

    async def all_there() -> bool:
        return len(await reports(kafka)) == 6

    async with reporting(kafka):
        await until(all_there)
    read: list[int] = []

    async def counted(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async for record in read_topics(*arguments, **options):
            read.append(record.offset)
            yield record

    monkeypatch.setattr(report_source, "read_topics", counted)
    monkeypatch.setattr(report_source, "TAIL_REPORTS", 2)
    await put(kafka, *ended(6))

    async def one_more() -> bool:
        return "d6" in await reports(kafka)

    async with reporting(kafka):
        await until(one_more)
    assert 0 < len(read) <= 2 * kafka.partitions

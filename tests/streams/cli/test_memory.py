"""What commands hold of a topic that they read: bytes a record, whatever the records' size."""

from __future__ import annotations

import asyncio
import base64
import gc
import itertools
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition

from safepassage.schemas import AuditBlock, AuditEntry, DeadLetter, DocumentRef
from safepassage.streams import agent_factory
from safepassage.streams.audit import chain, verification
from safepassage.streams.cli import labels
from safepassage.streams.kafka.records import Received, Record
from safepassage.streams.redrive import letters
from safepassage.streams.settings import Settings
from safepassage.streams.verdicts import deduplication, extractor_scores, latest
from tests.streams.judged import verdict

PADDING = 4_000
"""Bytes that each record has and no command needs."""
FEW, MANY = 200, 1_000
MOST_TEXTS = 4 * 2**20

_LARGE = verdict(7).model_copy(update={"hypothesis": "x" * PADDING})


def verdicts(count: int) -> Iterator[Record]:
    """Verdicts that differ in their ids."""
    template, own = _LARGE.to_json(), _LARGE.id.encode()
    for number in range(count):
        value = template.replace(b'"extraction-7"', b'"extraction-%d"' % number)
        value = value.replace(b'"May 7"', b'"May %d"' % number)
        value = value.replace(own, b"%032x" % number)
        yield Record("accepted", 0, number, None, value, timestamp=number)


def dead_letters(count: int) -> Iterator[Record]:
    value = base64.b64encode(b"x" * PADDING).decode()
    for number in range(count):
        source = {"topic": "documents", "partition": 0, "offset": number}
        letter = DeadLetter.model_validate(
            {"id": f"letter-{number}", "stage": "extract", "source": source, "value": value}
            | {"error": "llm_unavailable", "detail": "503", "key": None}
        )
        yield Record("dead-letters", 0, number, None, letter.to_json(), timestamp=number)


def no_reviews(_: int) -> Iterator[Record]:
    return iter(())


def blocks(count: int) -> Iterator[Record]:
    """The audit's chain of the verdicts, a block for each hundred."""
    name, previous = chain.chain_name("accepted", 0), chain.genesis("accepted-0").hex()
    entries = (
        AuditEntry(
            source=record.coordinates,
            verdict_id=f"{record.offset:032x}",
            sha256=chain.value_digest(record).hex(),
        )
        for record in verdicts(count)
    )
    for first in range(0, count, 100):
        run = tuple(itertools.islice(entries, 100))
        head = chain.fold(previous, run)
        block = AuditBlock(chain=name, index=first, previous=previous, hash=head, entries=run)
        yield Record("audit", 0, first, None, block.to_json(), timestamp=first)
        previous = head


def reading(records: Callable[[int], Iterator[Record]], count: int) -> Any:
    async def read(*_: Any, **__: Any) -> AsyncIterator[Record]:
        for record in records(count):
            yield record

    return read


def held(command: Callable[[], Coroutine[Any, Any, object]]) -> int:
    """The most that ``command`` held at once, in bytes. Cycles that wait for their collection are
    left out, as far as they are in few generations: what was there before is set aside."""
    gc.collect()
    gc.freeze()
    gc.collect()  # counts how much is there by now, of which it waits for a quarter
    tracemalloc.start()
    try:
        asyncio.run(command())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()


async def _exhausted(stream: AsyncIterator[object]) -> None:
    async for _ in stream:
        pass


@contextmanager
def topics(count: int) -> Iterator[None]:
    """The modules under test read ``count`` records."""

    async def result(value: Any) -> Any:
        return value

    with pytest.MonkeyPatch.context() as patch:
        for module in (deduplication, extractor_scores):
            patch.setattr(module, "read_topics", reading(verdicts, count))
        patch.setattr(latest, "stream_reviews", reading(no_reviews, count))
        patch.setattr(letters, "read_topics", reading(dead_letters, count))
        patch.setattr(chain, "read_topics", reading(blocks, count))
        patch.setattr(verification, "read_between", reading(verdicts, count))
        reach = {TopicPartition("accepted", 0): count}
        patch.setattr(verification, "ends", lambda *_: result(reach))
        kept = {"accepted": -1, "audit": -1}
        patch.setattr(verification, "topic_retention", lambda *_: result(kept))
        yield


COMMANDS: dict[str, tuple[Callable[[Settings], Coroutine[Any, Any, object]], int]] = {
    "verdicts": (lambda s: _exhausted(deduplication.read_verdicts(s)), 20),
    "verdicts --latest": (lambda s: _exhausted(latest.latest_verdicts(s)), 20),
    "compare extractors": (extractor_scores.compare_extractors, 20),
    "dead-letters list": (lambda s: letters.survey(s, letters.Selection()), 2_800),
    "audit verify": (verification.verify, 20),
}


@pytest.fixture(scope="module", autouse=True)
def _caches_are_full() -> None:
    """pydantic keeps the last 16,384 strings that it read: a megabyte."""
    with topics(MANY):
        asyncio.run(_exhausted(deduplication.read_verdicts(Settings())))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_holds_little_of_each_record(name: str):
    command, most = COMMANDS[name]

    def peak(count: int) -> int:
        with topics(count):
            return held(lambda: command(Settings()))

    peak(10)  # imports and caches
    each = (peak(MANY) - peak(FEW)) / (MANY - FEW)
    print(f"{name}: {each:.0f} bytes a record")  # noqa: T201 - docs/measured/scale.md has them
    assert each < most < PADDING


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [n for n, (_, most) in COMMANDS.items() if most < MANY])
def test_more_records_want_no_more_memory(name: str):
    """Beyond 60,000 of them: until then caches fill (`audit verify` holds 1.35 MB after 20,000,
    1.72 MB after 80,000 and 1.76 MB after 200,000)."""
    command, _ = COMMANDS[name]

    def peak(count: int) -> int:
        with topics(count):
            return held(lambda: command(Settings()))

    assert peak(200_000) < 1.2 * peak(60_000)


def test_what_was_measured_are_verdicts():
    async def read() -> list[object]:
        return [result async for result in latest.latest_verdicts(Settings())]

    with topics(20):
        found = asyncio.run(read())
    assert len(found) == 20
    assert {type(result) for result in found} == {Received}


def test_the_audit_that_was_measured_verifies():
    with topics(300):
        result = asyncio.run(verification.verify(Settings()))
    assert result.verified == 300
    assert result.findings == []


def test_an_export_holds_one_text_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Store:
        async def get(self, ref: DocumentRef) -> str:
            return ref.id * (2**20 // len(ref.id))

    async def store(*_: object) -> Store:
        return Store()

    monkeypatch.setattr(agent_factory, "document_store", store)
    refs = [DocumentRef(id=f"document-{n:04}", digest=f"{n:064x}", length=9) for n in range(40)]
    out = tmp_path / "documents.jsonl"
    peak = held(lambda: labels._write_documents(out, {ref: ref.id for ref in refs}))
    assert out.stat().st_size > 40 * 2**20 * 0.9
    assert peak < 3 * MOST_TEXTS

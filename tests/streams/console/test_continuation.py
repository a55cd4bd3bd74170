"""A console that reads on from a kept index: what it reads, and when it begins anew."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import ConsumerRecord

from safepassage.schemas import Erasure
from safepassage.schemas.reviews_that_count import case_id
from safepassage.streams.console.index.index_file import IndexUnwritable
from safepassage.streams.console.index.store import CaseStore
from safepassage.streams.console.review_source import ReviewSource
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.erasures_and_seals import protection
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ERASURES, REVIEWS

from .cases import review, verdict
from .running import console_settings, outcomes, put, running_console
from .test_source import Reviewer, browser


class Counted:
    """The records that consoles read, and the index as it is on disk."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.read = 0
        self.file = folder / "console" / "index.sqlite"
        noted = ReviewSource._note

        def note(source: ReviewSource, desk: object, messages: Iterable[ConsumerRecord]) -> None:
            self.read += len(list(messages))
            noted(source, desk, messages)  # type: ignore[arg-type]

        patch.setattr(ReviewSource, "_note", note)

    def cases(self) -> set[str]:
        connection = sqlite3.connect(self.file)
        found = {row[0] for row in connection.execute("SELECT id FROM cases")}
        connection.close()
        return found

    def change(self, statement: str) -> None:
        connection = sqlite3.connect(self.file)
        with connection:
            connection.execute(statement)
        connection.close()


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(tmp_path, monkeypatch)


def kept(kafka: Settings, tmp_path: Path) -> Settings:
    return console_settings(kafka, console_state=tmp_path)


async def ready(settings: Settings) -> None:
    """A console, started, read to the end, and stopped."""
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        await reviewer.next_page("/queue")


async def send(settings: Settings, topic: str, key: str, value: bytes | None) -> None:
    producer = new_producer(settings)
    await producer.start()
    await producer.send_and_wait(settings.topic(topic), value, key=key.encode())
    await producer.stop()


async def test_the_next_start_reads_what_is_new_and_nothing_again(
    kafka: Settings, tmp_path: Path, counted: Counted
) -> None:
    settings, told = kept(kafka, tmp_path), [verdict(n) for n in range(6)]
    await put(settings, told[:5])
    await ready(settings)
    assert counted.read == 5
    await put(settings, told[5:])
    await ready(settings)
    assert counted.read == 6
    await ready(settings)
    assert counted.read == 6
    assert counted.cases() == {case_id(one) for one in told}


async def test_a_decision_that_a_kept_index_owes_is_carried_out_by_the_next_console(
    kafka: Settings, tmp_path: Path, counted: Counted
) -> None:
    settings = kept(kafka, tmp_path)
    await put(settings, [verdict(1)])
    await send(settings, REVIEWS.name, "doc-1", review(verdict(1)).to_json())
    await ready(settings.model_copy(update={"console_grace_seconds": 10**9}))
    read = counted.read
    counted.change("UPDATE due SET at = 0")
    async with running_console(settings):
        (accepted,) = await outcomes(settings, ACCEPTED, 1)
    assert accepted.review is not None
    assert counted.read <= read + 2, "its own two, and nothing again"


async def test_what_was_erased_while_no_console_ran_is_gone_before_anything_is_shown(
    kafka: Settings, tmp_path: Path, counted: Counted
) -> None:
    settings, erased = kept(kafka, tmp_path), verdict(1, doc_id="canary")
    await put(settings, [erased, verdict(2)])
    await ready(settings)
    assert case_id(erased) in counted.cases()
    # The next one is another process, which knows of no erasure before it read the topic.
    erasure = Erasure(doc_id="canary", at=datetime.now(UTC), by="Ana", reason="asked")
    await send(settings, ERASURES.name, "canary", erasure.to_json())
    protection(settings)._read_at = float("-inf")
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        page = await reviewer.next_page("/queue")
        assert "canary" not in page
        assert "doc-2" in page
        assert (await client.get(f"/cases/{case_id(erased)}")).status_code == 404
        files = b"".join(path.read_bytes() for path in counted.file.parent.iterdir())
        assert b"canary" not in files
        assert case_id(erased).encode() not in files
    assert counted.cases() == {case_id(verdict(2))}


CHANGES = {
    "UPDATE positions SET last = last + 1000": "it was made anew",
    "UPDATE positions SET timestamp = timestamp - 1": "another record is at",
    "UPDATE positions SET first = -1": "the broker deleted records",
    "UPDATE positions SET partition = partition + 100": "is gone",
}


async def test_topics_that_are_others_now_are_read_from_the_beginning_with_a_line_that_says_why(
    kafka: Settings, tmp_path: Path, counted: Counted, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, told = kept(kafka, tmp_path), [verdict(n) for n in range(4)]
    await put(settings, told)
    await ready(settings)
    for number, (change, reason) in enumerate(CHANGES.items(), 2):
        counted.change(change)
        capsys.readouterr()
        await ready(settings)
        said = capsys.readouterr().out
        assert said.count("index_built_anew") == 1
        assert reason in said
        assert "Traceback" not in said
        assert counted.read == number * len(told)
        assert counted.cases() == {case_id(one) for one in told}


async def test_two_consoles_on_one_file_are_refused_and_the_first_goes_on(
    kafka: Settings, tmp_path: Path
) -> None:
    settings = kept(kafka, tmp_path)
    await put(settings, [verdict(1)])
    async with running_console(settings) as address, browser(address) as client:
        other = console_settings(settings, console_state=tmp_path)
        with pytest.raises(IndexUnwritable, match="give each console a folder of its own"):
            async with running_console(other):
                pass
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        assert "data-case" in await reviewer.next_page()


async def test_an_index_that_is_damaged_while_it_is_read_ends_the_role_with_one_line(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = kept(kafka, tmp_path)
    await put(settings, [verdict(1)])

    def damaged(*_: object) -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    async def until_it_is_deleted() -> None:
        async with running_console(settings) as address, browser(address) as client:
            reviewer = Reviewer(client)
            await reviewer.login("Ana")
            await reviewer.next_page()
            monkeypatch.setattr(CaseStore, "count", damaged)
            assert (await client.get("/queue")).status_code == 500
            for _ in range(600):
                if not (tmp_path / "console" / "index.sqlite").exists():
                    return
                await asyncio.sleep(0.05)

    with pytest.raises(IndexUnwritable, match=r"is deleted\. Start again"):
        await until_it_is_deleted()

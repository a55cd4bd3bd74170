"""A document is erased of every place, once and for all, and only that document."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from safepassage.schemas import Document, Extraction, Review
from safepassage.streams.audit.audit_source import AuditSource
from safepassage.streams.audit.verification import verify
from safepassage.streams.delivery.record_outcomes import Outcome, Role
from safepassage.streams.delivery.role_with_follower import Beside
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher, PublishFailed
from safepassage.streams.kafka.reading import follow_erasures, read_erasures, read_topics
from safepassage.streams.kafka.records import ErasedRecord, Outgoing, Received, decode
from safepassage.streams.labels.from_reviews import read_reviews
from safepassage.streams.memory.live import Snapshots
from safepassage.streams.privacy import erasure, keys
from safepassage.streams.privacy.erasure import erase, unfinished
from safepassage.streams.redrive.letters import Selection, survey
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DECISIONS, DOCUMENTS, EXTRACTIONS, QUARANTINE, REVIEWS
from safepassage.streams.verdicts.deduplication import read_verdicts
from safepassage.streams.verdicts.standing_decisions import StandingDecisions
from tests.streams.broker import faust_source, running, until
from tests.streams.console.running import console_settings, running_console
from tests.streams.console.test_source import Reviewer, browser

from .deployment import (
    COMPACTED,
    TOPICS,
    Traces,
    canary,
    deploy,
    forget_what_is_known,
    learnt_rows,
    places_with,
)


@pytest.fixture(params=["plain", "sealed"])
def settings(request: pytest.FixtureRequest, plain: Settings, sealed: Settings) -> Settings:
    return sealed if request.param == "sealed" else plain


async def test_what_remains_of_a_document_is_exactly_what_the_command_names(
    settings: Settings,
) -> None:
    await deploy(settings, ["gone", "stays"])
    topics = {topic.name for topic in (*TOPICS, *COMPACTED)}
    with_text = topics - {"manifests"}  # which has the digest alone
    if settings.keys_file:
        with_text = set()
    files = {"redis", "reviews.jsonl"}
    assert await places_with(settings, canary("gone")) == with_text | files | {"gone.pdf"}
    untouched = await places_with(settings, canary("stays"))

    report = await erase(settings, ["gone"], "Ana", "asked for it")

    assert {remains.topic for remains in report.remains} == {topic.name for topic in TOPICS}
    named = {remains.topic for remains in report.remains if remains.records}
    assert named == (set() if settings.keys_file else {topic.name for topic in TOPICS})
    assert await places_with(settings, canary("gone")) == named - {"manifests"}
    assert await places_with(settings, canary("stays")) == untouched
    assert (report.texts, report.answers, report.originals, report.lines) == (
        *(1, 1, ["gone.pdf"]),
        1,
    )
    assert report.tombstones == {"decisions": 1, "memories": 1}
    assert learnt_rows(settings) == ["stays"]
    for remains in report.remains:
        assert (remains.until is None) == (remains.topic in ("quarantine", "reviews"))


async def test_dry_run_says_the_same_and_changes_nothing(sealed: Settings) -> None:
    settings = sealed
    await deploy(settings, ["gone"])
    before = await places_with(settings, canary("gone"))
    would = await erase(settings, ["gone"], "Ana", "", dry_run=True)
    assert await places_with(settings, canary("gone")) == before
    assert (await read_erasures(settings)).erasures == {}
    report = await erase(settings, ["gone"], "Ana", "asked for it")
    assert would.remains == report.remains
    assert (would.texts, would.answers, would.originals) == (1, 1, report.originals)
    assert would.tombstones == report.tombstones


async def test_every_reader_passes_over_an_erased_document(settings: Settings) -> None:
    await deploy(settings, ["gone", "stays"])
    await erase(settings, ["gone"], "Ana", "asked for it")
    forget_what_is_known(settings)
    for topic, model in ((DOCUMENTS, Document), (EXTRACTIONS, Extraction), (REVIEWS, Review)):
        read, erased = [], 0
        async for record in read_topics(settings, [topic]):
            try:
                read.append(decode(record, model).record.key)
            except ErasedRecord:
                erased += 1
        assert (read, erased) == ([b"stays"], 1)
    reviews, unreadable = await read_reviews(settings)
    assert ([r.verdict.doc_id for r in reviews], unreadable) == (["stays"], 0)
    verdicts = [r async for r in read_verdicts(settings)]
    assert [r.event.doc_id for r in verdicts if isinstance(r, Received)] == ["stays"]
    assert len(verdicts) == 1
    letters, unread = await survey(settings, Selection())
    assert ([x.doc_id for x in letters.values()], unread) == (["stays"], 0)
    held = await StandingDecisions().read(settings)
    decisions = [held.get(case) for case in held.keys()]  # noqa: SIM118 - no dict
    assert [one.doc_id for one in decisions if one] == ["stays"]
    held.close()
    assert (await Snapshots().read(settings)).last("scorer").entries.keys() != set()


class Halted(Exception):
    """The process was killed."""


STEPS = ["survey", "_redis", "_originals", "_learnt", "_tombstones", "delete_keys", "_remains"]


@pytest.mark.parametrize("at", STEPS)
async def test_erasure_that_was_killed_is_finished_by_the_next_run(
    sealed: Settings, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    settings = sealed
    await deploy(settings, ["gone", "stays"])

    def die(*_: object, **__: object) -> None:
        raise Halted

    with monkeypatch.context() as killed:
        killed.setattr(erasure, at, die)
        with pytest.raises(Halted):
            await erase(settings, ["gone"], "Ana", "asked for it")
    await assert_next_run_finishes(settings)


async def test_erasure_that_was_killed_among_the_keys_is_finished_by_the_next_run(
    sealed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branches are written and nothing is deleted; or the first node is."""
    await deploy(sealed, ["gone", "stays"])
    real = keys._write

    async def half(settings: Settings, producer: Any, seals: Any, nodes: dict[str, bytes]) -> None:
        await real(settings, producer, seals, dict(list(nodes.items())[: len(nodes) // 2]))
        raise Halted

    with monkeypatch.context() as killed:
        killed.setattr(keys, "_write", half)
        with pytest.raises(Halted):
            await erase(sealed, ["gone"], "Ana", "asked for it")
    await assert_next_run_finishes(sealed)


async def test_keys_that_another_run_brought_back_are_deleted_by_the_next_erasure(
    sealed: Settings,
) -> None:
    await deploy(sealed, ["gone", "other"])
    before = await read_erasures(sealed)
    assert before.seals
    old = dict(before.seals.tree.nodes)
    await erase(sealed, ["gone"], "Ana", "asked for it")
    producer = new_producer(sealed)
    await producer.start()
    await keys._write(sealed, producer, before.seals, old)
    await producer.stop()
    forget_what_is_known(sealed)
    assert (await read_erasures(sealed)).seals.tree.has("gone")  # type: ignore[union-attr]
    await erase(sealed, ["other"], "Ana", "asked for it")
    forget_what_is_known(sealed)
    tree = (await read_erasures(sealed)).seals.tree  # type: ignore[union-attr]
    assert [tree.has(name) for name in ("gone", "other", "stays")] == [False, False, True]


async def assert_next_run_finishes(settings: Settings) -> None:
    forget_what_is_known(settings)
    assert await unfinished(settings) == ["gone"]
    await erase(settings, await unfinished(settings), "Bo", "another reason")
    await erase(settings, ["gone"], "Bo", "once more")  # and nothing comes of a repetition
    forget_what_is_known(settings)
    assert await unfinished(settings) == []
    known = await read_erasures(settings)
    (erasure,) = known.erasures.values()
    assert (erasure.by, erasure.reason) == ("Ana", "asked for it")
    assert known.seals
    assert [known.seals.tree.has(name) for name in ("gone", "stays")] == [False, True]
    assert await places_with(settings, canary("gone")) == set()
    assert learnt_rows(settings) == ["stays"]


async def test_erasure_that_misses_a_place_says_so_and_is_not_done(
    sealed: Settings,
) -> None:
    settings = sealed
    await deploy(settings, ["gone"])
    away = settings.model_copy(
        update={"redis_url": type(settings.redis_url)("redis://127.0.0.1:1")}
    )
    elsewhere = away.model_copy(update={"originals": None})
    report = await erase(elsewhere, ["gone"], "Ana", "asked for it")
    assert ["Redis" in one or "original" in one for one in report.unreached] == [True, True]
    assert (await read_erasures(settings)).seals.tree.has("gone")  # type: ignore[union-attr]
    assert await unfinished(settings) == ["gone"]


@asynccontextmanager
async def working(settings: Settings, seen: list[str]) -> AsyncIterator[None]:
    """A role that notes what it is given of ``documents``, and follows erasures."""

    async def step(batch: Sequence[Received[Any]]) -> list[Outcome]:
        seen.extend(received.event.id for received in batch)
        return [[] for _ in batch]

    def source(role: Role, publisher: Any, chosen: Settings) -> Beside:
        faust = faust_source(role, publisher, chosen)
        return Beside(faust, lambda: follow_erasures(chosen))

    role = Role("extract", "extract", (DOCUMENTS,), step)
    async with running(source, role, settings) as member:
        yield
        assert not member.task.done()


async def test_role_at_work_stops_working_on_an_erased_document_and_writes_no_letter(
    settings: Settings,
) -> None:
    await deploy(settings, ["gone", "stays"])
    seen: list[str] = []
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    async with working(settings, seen):
        await until(lambda: {"gone", "stays"} <= set(seen), "the documents")
        await erase(settings, ["gone"], "Ana", "asked for it")
        forget_what_is_known(settings)
        await read_erasures(settings)
        producer = new_producer(settings)
        await producer.start()
        again = Traces("gone").document.to_json()
        later = Traces("later").document.to_json()
        name = settings.topic(DOCUMENTS.name)
        await producer.send_and_wait(name, again, key=b"gone", partition=0)
        await producer.send_and_wait(name, again, key=b"another key", partition=0)
        await producer.send_and_wait(name, later, key=b"later", partition=0)
        await producer.stop()
        await until(lambda: "later" in seen, "the document behind it")
    assert seen.count("gone") == 1
    assert await publisher.publish([Outgoing(QUARANTINE, "gone", Traces("gone").verdict)]) == {}
    await publisher.stop()
    left = [r async for r in read_topics(settings, [QUARANTINE])]
    assert [r.key for r in left].count(b"gone") == 1  # of before: nothing new is published


async def test_console_drops_the_cases_live_and_after_a_restart(settings: Settings) -> None:
    settings = console_settings(settings)
    (gone, _) = await deploy(settings, ["gone", "stays"])
    case = gone.decision.case_id
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        await reviewer.next_page()
        assert canary("gone") in (await client.get(f"/cases/{case}")).text
        await erase(settings, ["gone"], "Ana", "asked for it")
        answer = await client.get(f"/cases/{case}")
        assert (answer.status_code, canary("gone") in answer.text) == (404, False)
    forget_what_is_known(settings)
    async with running_console(settings) as address, browser(address) as client:
        reviewer = Reviewer(client)
        await reviewer.login("Ana")
        await reviewer.next_page()
        answer = await client.get(f"/cases/{case}")
        assert (answer.status_code, canary("gone") in answer.text) == (404, False)
        standing = {r.key: r.value async for r in read_topics(settings, [DECISIONS])}
    assert standing[case.encode()] is None  # the console writes it no second time


async def test_audit_chains_verify_after_an_erasure_and_count_it(settings: Settings) -> None:
    await deploy(settings, ["gone", "stays"])
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    stop = asyncio.Event()
    auditing = asyncio.create_task(AuditSource(publisher, settings).run(stop))
    try:
        async with asyncio.timeout(60):
            while (await verify(settings)).verified < 2:
                pass
        await erase(settings, ["gone"], "Ana", "asked for it")
    finally:
        stop.set()
        await auditing
        await publisher.stop()
    result = await verify(settings)
    assert (result.verified, result.erased, result.findings) == (2, 1, [])


async def test_publisher_that_is_refused_ends_the_erasure(
    plain: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = plain
    await deploy(settings, ["gone"])

    async def refuse(_: object, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        return dict.fromkeys(range(len(outgoing)), "MessageSizeTooLargeError")

    monkeypatch.setattr(KafkaPublisher, "publish", refuse)
    with pytest.raises(PublishFailed):
        await erase(settings, ["gone"], "Ana", "asked for it")
    assert (await read_erasures(settings)).erasures == {}

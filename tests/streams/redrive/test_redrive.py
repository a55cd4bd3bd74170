"""Dead letters go back once: the very bytes, counted, after a canary, and across a kill."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    Event,
    Extraction,
    ExtractionManifest,
    Redrive,
)
from safepassage.streams.audit.verification import verify
from safepassage.streams.cli import app
from safepassage.streams.cli import dead_letters as command
from safepassage.streams.delivery.dead_letter_event import dead_letter, subject_of
from safepassage.streams.delivery.record_outcomes import Failed, Outcome, Role
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher, Publisher
from safepassage.streams.kafka.reading import ends
from safepassage.streams.kafka.records import Outgoing, Received, Record, Redriven
from safepassage.streams.redrive import engine
from safepassage.streams.redrive.engine import (
    OUTCOME_TOPICS,
    RedriveRequest,
    RedriveResult,
    outcomes,
    plan,
    put_back_before,
    redrive,
)
from safepassage.streams.redrive.letters import Selection, survey
from safepassage.streams.report.report_source import ReportSource
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ALL_TOPICS,
    DEAD_LETTERS,
    DOCUMENTS,
    EXTRACTIONS,
    REDRIVES,
)
from safepassage.streams.topology import route
from tests.streams.audit.test_audit import auditing, recorded
from tests.streams.broker import all_records, batch_source, running, send_documents
from tests.streams.doubles import FakePublisher, delivery_of, document_record, document_role
from tests.streams.judged import aligned, publish, verdict

LETTER = "0" * 32
LATER = datetime.now(UTC) + timedelta(hours=1)


class Killed(Exception):
    """Where the process died."""


async def failed_extractions(settings: Settings, count: int, error: str = "Boom") -> list[Record]:
    """Extractions that align set aside."""
    await publish(settings, EXTRACTIONS, [aligned(n).extraction for n in range(count)])
    records = await all_records(settings, EXTRACTIONS)
    await publish(settings, DEAD_LETTERS, [letter_of(record, error) for record in records])
    return records


def letter_of(record: Record, error: str = "Boom") -> DeadLetter:
    event = Extraction.model_validate_json(record.value or b"")
    return dead_letter(record, "align", error, "a detail", about=subject_of(event))


def request(**changes: object) -> RedriveRequest:
    plain = RedriveRequest("run", "Ada", Selection(), canary=0, rate=10_000, watch_seconds=30)
    return replace(plain, **changes)  # type: ignore[arg-type]


async def redriven(settings: Settings, wanted: RedriveRequest) -> RedriveResult:
    planned = await plan(settings, await put_back_before(settings), wanted)
    return await redrive(settings, planned.letters, wanted)


async def put_back(settings: Settings) -> list[Record]:
    return [record for record in await all_records(settings, EXTRACTIONS) if record.redriven]


def judging(outcome: Callable[[Extraction], Outcome]) -> Role:
    """A role that ends extractions as `align` does."""

    async def step(batch: Sequence[Received[Extraction]]) -> list[Outcome]:
        return [outcome(received.event) for received in batch]

    return Role("align", "align", (EXTRACTIONS,), step, batch=8)


def verdict_of(extraction: Extraction) -> Outcome:
    return [route(verdict(int(extraction.id.rpartition("-")[2])))]


async def test_the_very_bytes_go_back_once_into_their_partition(kafka: Settings):
    failed = await failed_extractions(kafka, 12)
    result = await redriven(kafka, request())
    assert len(result.published) == 12
    assert (await redriven(kafka, request(run="again"))).published == {}
    again = await put_back(kafka)
    as_it_was = Counter((r.partition, r.key, r.value) for r in failed)
    assert Counter((r.partition, r.key, r.value) for r in again) == as_it_was
    assert {r.redriven.letter for r in again if r.redriven} == set(result.published)
    assert {r.redriven.count for r in again if r.redriven} == {1}


async def test_a_dry_run_changes_nothing(kafka: Settings):
    await failed_extractions(kafka, 3)
    before = await ends(kafka, ALL_TOPICS)
    assert len((await plan(kafka, set(), request())).letters) == 3
    assert await ends(kafka, ALL_TOPICS) == before


async def test_letters_are_chosen_by_error_stage_and_time(kafka: Settings):
    await failed_extractions(kafka, 2, "Boom")
    records = await all_records(kafka, EXTRACTIONS)
    later = dead_letter(replace(records[0], offset=99), "score", "Other", "")
    await publish(kafka, DEAD_LETTERS, [later])

    async def chosen(selection: Selection) -> int:
        return len((await plan(kafka, set(), request(selection=selection))).letters)

    assert await chosen(Selection(errors={"Boom"})) == 2
    assert await chosen(Selection(stages={"score"})) == 1
    assert await chosen(Selection(ids={later.id}, errors={"Boom"})) == 0
    assert await chosen(Selection(since=LATER)) == 0
    assert await chosen(Selection(until=LATER)) == 3


async def test_what_failed_too_often_or_names_no_input_is_refused(kafka: Settings):
    (record,) = await failed_extractions(kafka, 1)
    known = letter_of(record)
    place = known.source
    forged = {
        "redriven too often": {"redriven": 3},
        "onto the results": {"source": place.model_copy(update={"topic": kafka.topic("accepted")})},
        "no such partition": {"source": place.model_copy(update={"partition": 9_999})},
        "no bytes": {"value": None},
        "not base64": {"value": "?"},
    }
    letters = [known.model_copy(update={"id": id, **changes}) for id, changes in forged.items()]
    await publish(kafka, DEAD_LETTERS, letters)
    made = await plan(kafka, set(), request())
    assert [letter.id for letter in made.letters] == [known.id]
    assert made.refusals.total() == len(forged)
    assert any("redriven 3 times" in why for why in made.refusals)


async def test_a_record_that_fails_again_is_counted_and_stops_the_rest(kafka: Settings):
    await failed_extractions(kafka, 6)
    role = judging(lambda _: Failed("StillBroken"))
    async with running(batch_source, role, kafka):
        result = await redriven(kafka, request(canary=2))
    assert list(result.canary.values()) == ["StillBroken", "StillBroken"]
    assert (result.held_back, len(await put_back(kafka))) == (4, 2)
    letters = [
        DeadLetter.model_validate_json(record.value or b"")
        for record in await all_records(kafka, DEAD_LETTERS)
    ]
    again = [letter for letter in letters if letter.redriven]
    assert {letter.redrive_of for letter in again} == set(result.canary)
    assert {letter.redriven for letter in again} == {1}


async def test_the_rest_follows_a_canary_that_ends_well(kafka: Settings):
    await failed_extractions(kafka, 6)
    async with running(batch_source, judging(verdict_of), kafka):
        result = await redriven(kafka, request(canary=2))
    assert list(result.canary.values()) == [None, None]
    assert len(result.published) == 6
    events = [
        Redrive.model_validate_json(r.value or b"") for r in await all_records(kafka, REDRIVES)
    ]
    assert [(e.step, e.canary, len(e.letters)) for e in events] == [
        ("begun", True, 2),
        ("ended", True, 2),
        ("begun", False, 4),
        ("ended", False, 4),
    ]


async def test_a_canary_of_which_nothing_is_heard_stops_the_rest(kafka: Settings):
    await failed_extractions(kafka, 3)
    result = await redriven(kafka, request(canary=1, watch_seconds=3))
    assert (result.unwatched, result.held_back, result.canary_failed) == (1, 2, True)


def reporting(_: Role, publisher: Publisher, settings: Settings) -> ReportSource:
    return ReportSource(publisher, settings)


async def test_a_document_ends_with_its_report(kafka: Settings):
    """Its verdicts carry the letter's id too, and come one by one."""
    await publish(kafka, EXTRACTIONS, [])
    await send_documents(kafka, ["d"])
    (record,) = await all_records(kafka, DOCUMENTS)
    await publish(kafka, DEAD_LETTERS, [dead_letter(record, "extract", "Timeout", "")])

    async with (
        running(batch_source, document_role(), kafka),
        running(
            lambda _, publisher, settings: ReportSource(publisher, settings), document_role(), kafka
        ),
    ):
        result = await redriven(kafka, request(canary=1))
    assert list(result.canary.values()) == [None]


async def test_a_kill_between_two_records_loses_none(kafka: Settings, monkeypatch):
    await failed_extractions(kafka, 7)
    real, sent = engine._put_back, []

    async def killed(*given):
        if len(sent) == 3:
            await asyncio.gather(*sent)
            raise Killed
        sent.append(await real(*given))
        return sent[-1]

    monkeypatch.setattr(engine, "_put_back", killed)
    with pytest.raises(Killed):
        await redriven(kafka, request())
    monkeypatch.setattr(engine, "_put_back", real)
    assert len(await put_back(kafka)) == 3
    assert len((await redriven(kafka, request(run="later"))).published) == 7
    again = Counter(r.redriven.letter for r in await put_back(kafka) if r.redriven)
    assert sorted(again.values()) == [1, 1, 1, 1, 2, 2, 2]
    assert (await redriven(kafka, request(run="done"))).published == {}


async def test_each_batch_is_in_the_audit_chain(kafka: Settings):
    await failed_extractions(kafka, 3)
    await redriven(kafka, request())
    async with auditing(kafka):
        await recorded(kafka, 2)
    result = await verify(kafka)
    assert (result.verified, result.findings) == (2, [])
    assert any("redrives" in head.chain and head.entries == 2 for head in result.heads)


async def test_what_a_redriven_record_leads_to_carries_the_letter():
    redriven_before = Redriven(2, LETTER)
    record = replace(document_record("d", 4), headers=(redriven_before.header(),))
    publisher = FakePublisher()
    await delivery_of(document_role(), publisher).handle([record])
    (manifest,) = publisher.published
    assert isinstance(manifest.event, ExtractionManifest)
    assert (
        Record("t", 0, 0, b"", b"", headers=tuple(manifest.headers())).redriven == redriven_before
    )


async def test_a_second_failure_says_which_letter_it_was_and_how_often():
    async def fail(batch: Sequence[Received[Event]]) -> list[Outcome]:
        return [Failed("Boom") for _ in batch]

    record = replace(document_record("d", 4), headers=(Redriven(2, LETTER).header(),))
    publisher = FakePublisher()
    await delivery_of(document_role(fail), publisher).handle([record])
    (letter,) = publisher.to(DEAD_LETTERS)
    assert (letter.redriven, letter.redrive_of) == (2, LETTER)


@pytest.mark.parametrize("value", [b"", b"0 " + LETTER.encode(), b"1 x", b"1e3 " + b"0" * 32])
def test_a_header_of_somebody_else_is_no_count(value: bytes):
    assert Record("t", 0, 0, b"", b"", headers=(("safepassage-redriven", value),)).redriven is None


def test_a_letter_that_was_never_redriven_is_as_it_was():
    told = json.loads(dead_letter(document_record("d", 4), "extract", "Boom", "").to_json())
    assert told.keys().isdisjoint({"redriven", "redrive_of"})


async def test_verdicts_of_a_redriven_document_are_not_its_end(kafka: Settings):
    place = Coordinates(topic=kafka.topic("documents"), partition=0, offset=7)
    await publish(kafka, REDRIVES, [])
    from_now = await ends(kafka, OUTCOME_TOPICS)
    told = Outgoing(route(verdict(1)).topic, "doc-0", verdict(1), redriven=Redriven(1, LETTER))
    publisher = KafkaPublisher(new_producer(kafka), kafka)
    await publisher.start()
    await publisher.publish([told])
    await publisher.stop()
    source = replace(document_record("d", 7), topic=place.topic)
    letter = dead_letter(source, "extract", "Boom", "").model_copy(update={"id": LETTER})
    again = letter.model_copy(update={"id": "1" * 32, "redriven": 1, "redrive_of": LETTER})
    await publish(kafka, DEAD_LETTERS, [letter, again])
    first = (await survey(kafka, Selection(ids={LETTER})))[0][LETTER]
    found = outcomes(kafka, from_now, [first], {LETTER: place})
    assert [each async for each in found] == [(LETTER, "Boom")]


@pytest.fixture
def operator(kafka: Settings, monkeypatch) -> Settings:
    asyncio.run(failed_extractions(kafka, 2, "Bo\x1bom"))
    monkeypatch.setattr(command, "settings", lambda: kafka)
    return kafka


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["dead-letters", *words], env={"COLUMNS": "200"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_text_is_printed_only_where_it_is_asked_for(operator: Settings):
    text = "small courtroom"
    code, output = run("list", "--json")
    assert code == 0
    letters = [json.loads(line) for line in output.splitlines()]
    shown = run("show", letters[0]["id"])[1]
    everything = output + shown + run("list")[1] + run("redrive", "--dry-run")[1]
    assert text not in everything
    assert "\x1b" not in everything
    assert json.loads(shown)["bytes"] == letters[0]["bytes"]
    assert text in run("show", letters[0]["id"], "--text")[1]
    with pytest.raises(OperatorError, match="there is no dead letter"):
        run("show", "unknown")


def test_the_command_puts_back_and_then_says_so(operator: Settings):
    code, output = run("redrive", "--canary", "0", "--by", "Ada", "--reason", "mended")
    assert (code, "2 put back, 0 held back" in output) == (0, True), output
    assert "0 to put back, 2 were put back before" in run("redrive")[1]
    assert {json.loads(line)["put_back"] for line in run("list", "--json")[1].splitlines()} == {
        True
    }
    code, output = run("redrive", "--canary", "1", "--watch", "1", "--error", "none")
    assert code == 0, output

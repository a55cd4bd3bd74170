"""A replay gives the live verdicts byte for byte, resumes, and leaves live topics alone."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import TopicPartition

from safepassage.agents.claims import split_claims
from safepassage.schemas import Coordinates, Document, Response
from safepassage.scoring_worker.manifest import ModelError, Thresholds, read_contract
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.specified_scorer import SpecifiedScorer
from safepassage.streams.delivery.circuit_breaker import CircuitBreaker
from safepassage.streams.delivery.record_outcomes import Delivery
from safepassage.streams.kafka import reading
from safepassage.streams.kafka.admin import committed_offsets
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import ends, read_topics
from safepassage.streams.replay import engine
from safepassage.streams.replay.engine import ReplayRequest, run_replay
from safepassage.streams.replay.plan import last_state, parse_offsets, verdicts_topic
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    ALIGNMENTS,
    ALL_TOPICS,
    CLAIMS,
    EXTRACTIONS,
    QUARANTINE,
)
from safepassage.streams.topology import align_role, score_role
from safepassage.streams.wiring import assess_off_the_loop
from tests.stack import Stack
from tests.streams.doubles import FakePublisher
from tests.streams.judged import SENTENCE, FakeScorer, aligned, publish

SCORER = FakeScorer(stop=frozenset({"May 3", "May 7"}))
EVENTS = [aligned(n, entity_type="Claim" if n % 5 == 0 else "Hearing Date") for n in range(40)]


class NoRest:
    """A pace that never rests."""

    async def rest(self, records: int, seconds: float) -> None:
        """Nothing."""


class StopAfter:
    """A crash after so many batches."""

    def __init__(self, batches: int) -> None:
        self.batches = batches

    async def rest(self, records: int, seconds: float) -> None:
        self.batches -= 1
        if not self.batches:
            raise ConnectionAbortedError("killed")


async def judge_live(settings: Settings, scorer: FakeScorer) -> None:
    """What the score role makes of everything on `alignments`."""
    role = score_role(assess_off_the_loop(scorer), batch=512)
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    models = {settings.topic(ALIGNMENTS.name): ALIGNMENTS.model}
    delivery = Delivery(role, publisher, CircuitBreaker(), models)
    await delivery.handle([r async for r in read_topics(settings, [ALIGNMENTS])])
    await publisher.stop()


async def values(settings: Settings, *topics) -> list[bytes]:
    return sorted([r.value async for r in read_topics(settings, topics)])


@pytest.fixture
async def live(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Forty alignments, judged live in batches of 16; a replay takes 8 at a time."""
    monkeypatch.setattr(engine, "BATCH_RECORDS", 8)
    settings = kafka.model_copy(update={"score_batch_records": 16})
    await publish(settings, ALIGNMENTS, EVENTS)
    await judge_live(settings, SCORER)
    return settings


async def test_same_scorer_gives_byte_equal_verdicts_claims_included(live: Settings):
    state = await run_replay(ReplayRequest("same"), SCORER, live, NoRest())
    assert state.done
    assert state.verdicts == len(EVENTS)
    replayed = await values(live, verdicts_topic("same"))
    assert replayed == await values(live, ACCEPTED, QUARANTINE)
    assert any(b'"Claim"' in value for value in replayed)


async def test_live_topics_and_groups_are_not_touched(live: Settings):
    before = await ends(live, ALL_TOPICS)
    await run_replay(ReplayRequest("apart"), FakeScorer(revision="other"), live, NoRest())
    assert await ends(live, ALL_TOPICS) == before
    partitions = [TopicPartition(live.topic("alignments"), p) for p in range(live.partitions)]
    assert await committed_offsets(live, {"score": partitions}) == {"score": {}}


async def test_crashed_replay_goes_on_where_it_stopped(live: Settings):
    with pytest.raises(ConnectionAbortedError):
        await run_replay(ReplayRequest("crash"), SCORER, live, StopAfter(2))
    halfway = await last_state(live, "crash")
    assert (halfway.verdicts, halfway.done) == (16, False)
    state = await run_replay(ReplayRequest("crash"), SCORER, live, NoRest())
    assert state.verdicts == len(EVENTS)
    live_verdicts = await values(live, ACCEPTED, QUARANTINE)
    assert await values(live, verdicts_topic("crash")) == live_verdicts


async def test_crash_between_verdicts_and_progress_repeats_the_same_verdicts(
    live: Settings, monkeypatch
):
    async def crash(*_):
        raise ConnectionAbortedError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(engine._Replay, "_save", crash)
        with pytest.raises(ConnectionAbortedError):
            await run_replay(ReplayRequest("twice"), SCORER, live, NoRest())
    await run_replay(ReplayRequest("twice"), SCORER, live, NoRest())
    replayed = await values(live, verdicts_topic("twice"))
    assert len(replayed) == len(EVENTS) + 8
    assert sorted(set(replayed)) == await values(live, ACCEPTED, QUARANTINE)


async def test_another_scorer_cannot_go_on_with_it(live: Settings):
    await run_replay(ReplayRequest("mine"), SCORER, live, NoRest())
    with pytest.raises(OperatorError, match="begun with revision fake-1, not fake-2"):
        await run_replay(ReplayRequest("mine"), FakeScorer(revision="fake-2"), live, NoRest())


async def test_finished_replay_does_nothing_again(live: Settings):
    await run_replay(ReplayRequest("done"), SCORER, live, NoRest())
    held = await values(live, verdicts_topic("done"))
    state = await run_replay(ReplayRequest("done"), SCORER, live, NoRest())
    assert state.done
    assert await values(live, verdicts_topic("done")) == held


async def test_offsets_choose_what_is_replayed(live: Settings):
    held = [r async for r in read_topics(live, [ALIGNMENTS])]
    partition = max(r.partition for r in held)
    request = ReplayRequest("some", offsets=f"{partition}:1-3")
    state = await run_replay(request, SCORER, live, NoRest())
    assert state.verdicts == 2


async def test_times_choose_what_is_replayed(live: Settings, stack: Stack):
    now = datetime.now(UTC)
    later = ReplayRequest("later", since=now + timedelta(hours=1))
    state = await run_replay(later, SCORER, live, NoRest())
    # The embedded broker has no index of times: what is older is read, and passed over.
    assert (state.verdicts, state.skipped) == (0, len(EVENTS) if stack.embedded else 0)
    request = ReplayRequest("until", since=now - timedelta(hours=1), until=now + timedelta(hours=1))
    assert (await run_replay(request, SCORER, live, NoRest())).verdicts == len(EVENTS)


async def test_records_that_are_none_are_left_out(live: Settings):
    await publish(live, ALIGNMENTS, [Document(id="not an alignment", text="x")])
    state = await run_replay(ReplayRequest("odd"), SCORER, live, NoRest())
    assert (state.verdicts, state.skipped) == (len(EVENTS), 1)


@pytest.mark.parametrize("text", ["0", "a:1-2", "0:1-2-3", "0:1-2,", "-1:0-3"])
def test_offsets_that_do_not_read_are_refused(text: str):
    with pytest.raises(OperatorError, match="PARTITION:FROM-TO"):
        parse_offsets(text)


async def test_unknown_partition_is_refused(live: Settings):
    with pytest.raises(OperatorError, match="no partition 99"):
        await run_replay(ReplayRequest("p", offsets="99:0-1"), SCORER, live, NoRest())


async def test_thresholds_can_be_replaced(live: Settings, tmp_path):
    path = tmp_path / "thresholds.json"
    path.write_text('{"default": 1.0, "by_type": {"claim": {"value": 0.0, "n": 3}}}')
    thresholds = read_contract(Thresholds, path, "file of thresholds")
    scorer = SpecifiedScorer(ScorerSpec(SCORER.name), SCORER, thresholds=thresholds)
    assert scorer.revision != SCORER.revision
    await run_replay(ReplayRequest("strict"), scorer, live, NoRest())
    replayed = await values(live, verdicts_topic("strict"))
    assert sum(b'"decision":"accepted"' in value for value in replayed) == 8  # the claims


def test_thresholds_that_are_none_are_refused(tmp_path):
    path = tmp_path / "thresholds.json"
    path.write_text('{"default": 7}')
    with pytest.raises(ModelError, match="default"):
        read_contract(Thresholds, path, "file of thresholds")


async def test_replay_from_extractions_aligns_again(kafka: Settings):
    settings = await judged_from_documents(kafka)
    same = ReplayRequest("again", origin="extractions")
    await run_replay(same, SCORER, settings, NoRest())
    live_verdicts = await values(settings, ACCEPTED, QUARANTINE)
    assert await values(settings, verdicts_topic("again")) == live_verdicts
    strict = ReplayRequest("strict", origin="extractions", alignment_threshold=1.0)
    await run_replay(strict, SCORER, settings, NoRest())
    stricter = await values(settings, verdicts_topic("strict"))
    assert len(stricter) == len(live_verdicts)
    assert sum(b"not_found" in v for v in stricter) > sum(b"not_found" in v for v in live_verdicts)


async def judged_from_documents(settings: Settings) -> Settings:
    """A document with a sloppy quote, and a response, through the live steps of both roles."""
    from contextlib import AsyncExitStack

    from safepassage.pipeline import new_aligner
    from safepassage.streams.agent_factory import document_store
    from safepassage.streams.topics import DOCUMENTS, RESPONSES

    text = " ".join(SENTENCE.format(value=f"May {n}") for n in range(3))
    document = Document(id="doc-0", text=text)
    response = Response(id="answer", context=text, response="It was on May 1. The room was small.")
    await publish(settings, DOCUMENTS, [document], key="doc-0")
    await publish(settings, RESPONSES, [response], key="answer")
    places = {r.key: r.coordinates async for r in read_topics(settings, [DOCUMENTS, RESPONSES])}
    ref = document.ref(Coordinates(**places[b"doc-0"].model_dump()))
    extractions = [
        aligned(n).extraction.model_copy(
            update={
                "doc_id": "doc-0",
                "document": ref,
                "context": aligned(n).extraction.context[k:],
            }
        )
        for n, k in ((0, 0), (1, 0), (9, 0))
    ]
    sloppy = extractions[0].model_copy(
        update={"id": "sloppy", "context": "The hearing took place on May 0 in the smell courtroon"}
    )
    claims = split_claims(response, response.ref(places[b"answer"]))
    await publish(settings, EXTRACTIONS, [*extractions, sloppy])
    await publish(settings, CLAIMS, claims, key="answer")
    async with AsyncExitStack() as resources:
        aligner = new_aligner(settings)
        resources.callback(aligner.close)
        role = align_role(aligner, await document_store(settings, resources))
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        models = {settings.topic(t.name): t.model for t in role.topics}
        delivery = Delivery(role, publisher, CircuitBreaker(), models)
        await delivery.handle([r async for r in read_topics(settings, role.topics)])
        await publisher.stop()
    await judge_live(settings, SCORER)
    return settings


class BreaksOn(FakeScorer):
    """A scorer that raises on some values instead of answering."""

    def assess(self, pairs):
        if any(pair.value in ("May 11", "May 12") for pair in pairs):
            raise ZeroDivisionError
        return super().assess(pairs)


async def test_a_record_on_which_the_scorer_breaks_is_left_out_and_ends_nothing(live: Settings):
    state = await run_replay(ReplayRequest("poison"), BreaksOn(), live, NoRest())
    assert state.done
    assert (state.verdicts, state.skipped) == (len(EVENTS) - 2, 2)


async def test_a_scorer_that_breaks_on_everything_stops_the_replay(live: Settings, monkeypatch):
    class Broken(FakeScorer):
        def assess(self, pairs):
            raise ZeroDivisionError

    made = []
    new_reader = reading.new_reader
    monkeypatch.setattr(
        reading, "new_reader", lambda *of, **more: made.append(new_reader(*of, **more)) or made[-1]
    )

    @asynccontextmanager
    async def publisher(_):
        yield FakePublisher()  # closed at once: the reader has no time to be closed meanwhile

    monkeypatch.setattr(engine, "open_publisher", publisher)
    with pytest.raises(OperatorError, match="every record of a batch"):
        await run_replay(ReplayRequest("broken"), Broken(), live, NoRest())
    assert made
    assert all(reader._closed for reader in made)


async def test_a_resumed_replay_refuses_another_range(live: Settings):
    chosen = ReplayRequest("range", offsets="0:0-20,1:0-20,2:0-20,3:0-20")
    with pytest.raises(ConnectionAbortedError):
        await run_replay(chosen, SCORER, live, StopAfter(1))
    with pytest.raises(OperatorError, match="begun with offsets"):
        await run_replay(ReplayRequest("range"), SCORER, live, NoRest())
    assert (await run_replay(chosen, SCORER, live, NoRest())).done


async def test_a_resumed_replay_refuses_another_configured_threshold(kafka: Settings):
    settings = await judged_from_documents(kafka)
    request = ReplayRequest("tau", origin="extractions")
    with pytest.raises(ConnectionAbortedError):
        await run_replay(request, SCORER, settings, StopAfter(1))
    other = settings.model_copy(update={"alignment_threshold": 0.9})
    with pytest.raises(OperatorError, match=r"alignment_threshold 0\.5, not 0\.9"):
        await run_replay(request, SCORER, other, NoRest())

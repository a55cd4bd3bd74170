"""The guarantee: when `handle` returns, every record of the batch ended; when it raises, none may
be committed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace

import pytest
from aiokafka.errors import KafkaConnectionError
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Document, Extraction, Verdict, undetermined
from safepassage.streams.delivery.circuit_breaker import CircuitBreaker, CircuitOpen
from safepassage.streams.delivery.record_outcomes import Failed, Outcome
from safepassage.streams.kafka.publisher import PublishFailed
from safepassage.streams.kafka.records import Outgoing, Received, Record
from safepassage.streams.topics import DEAD_LETTERS, MANIFESTS, QUARANTINE
from tests.streams.doubles import (
    FakePublisher,
    delivery_of,
    document_record,
    document_role,
    manifest_of,
    note_each,
)

POISON = Record("documents", 0, 99, b"key", b'{"id": "half a docu')


def documents_noted(publisher: FakePublisher) -> list[str]:
    return [manifest.document.id for manifest in publisher.to(MANIFESTS)]


async def test_every_readable_record_leads_to_its_results_in_order():
    publisher = FakePublisher()
    records = [document_record(f"d{n}", n) for n in range(5)]
    await delivery_of(document_role(), publisher).handle(records)
    assert documents_noted(publisher) == ["d0", "d1", "d2", "d3", "d4"]
    assert publisher.to(DEAD_LETTERS) == []


async def test_an_unreadable_record_becomes_a_dead_letter_with_its_bytes():
    publisher = FakePublisher()
    records = [document_record("d0", 0), POISON, document_record("d1", 1)]
    await delivery_of(document_role(), publisher).handle(records)
    [letter] = publisher.to(DEAD_LETTERS)
    assert base64.b64decode(letter.value) == POISON.value
    assert base64.b64decode(letter.key) == b"key"
    assert letter.source == POISON.coordinates
    assert (letter.stage, letter.error) == ("extract", "UnreadableRecord")
    assert documents_noted(publisher) == ["d0", "d1"]


async def test_a_null_value_becomes_a_dead_letter_with_a_null_value():
    publisher = FakePublisher()
    await delivery_of(document_role(), publisher).handle([Record("documents", 0, 0, None, None)])
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.key, letter.value, letter.detail) == (None, None, "the value is null")


async def test_a_letter_does_not_quote_what_could_not_be_read():
    publisher = FakePublisher()
    secret = b'{"id": 7, "text": "the applicant\'s name", "version": 9}'
    await delivery_of(document_role(), publisher).handle([Record("documents", 0, 0, b"k", secret)])
    [letter] = publisher.to(DEAD_LETTERS)
    assert "applicant" not in letter.detail
    assert "version" in letter.detail


async def test_an_error_in_the_step_is_pinned_on_the_record_that_causes_it():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        if any(received.event.id == "d2" for received in batch):
            raise MemoryError
        return await note_each(batch)

    publisher = FakePublisher()
    records = [document_record(f"d{n}", n) for n in range(4)]
    await delivery_of(document_role(step), publisher).handle(records)
    assert documents_noted(publisher) == ["d0", "d1", "d3"]
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.doc_id, letter.error, letter.attempts) == ("d2", "MemoryError", 2)


@pytest.mark.parametrize("extra", [-1, 1])
async def test_a_wrong_number_of_outcomes_is_assigned_to_nobody(extra: int):
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return (await note_each([*batch, *batch]))[: len(batch) + extra]

    publisher = FakePublisher()
    await delivery_of(document_role(step), publisher).handle(
        [document_record(f"d{n}", n) for n in range(3)]
    )
    assert publisher.to(MANIFESTS) == []
    assert [letter.error for letter in publisher.to(DEAD_LETTERS)] == ["WrongOutcomeCount"] * 3


async def test_a_failed_record_is_a_dead_letter_that_says_why():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [Failed("Refusal", "the model refused", attempts=6, fault=False) for _ in batch]

    publisher = FakePublisher()
    await delivery_of(document_role(step), publisher).handle([document_record("d", 0)])
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.error, letter.detail, letter.attempts) == ("Refusal", "the model refused", 6)


async def test_a_record_whose_result_is_refused_becomes_one_dead_letter():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [manifest_of(received) * 3 for received in batch]

    def refuse(out: Outgoing) -> str | None:
        too_large = out.key == "d1" and out.topic is MANIFESTS
        return "MessageSizeTooLargeError" if too_large else None

    publisher = FakePublisher(refuse=refuse)
    records = [document_record(f"d{n}", n) for n in range(3)]
    await delivery_of(document_role(step), publisher).handle(records)
    assert documents_noted(publisher) == ["d0"] * 3 + ["d2"] * 3
    [letter] = publisher.to(DEAD_LETTERS)
    assert (letter.doc_id, letter.error) == ("d1", "MessageSizeTooLargeError")
    assert base64.b64decode(letter.value) == records[1].value


@pytest.mark.parametrize("refused", [POISON, document_record("d1", 0)])
async def test_a_refused_dead_letter_stops_the_role(refused: Record):
    publisher = FakePublisher(refuse=lambda _: "MessageSizeTooLargeError")
    with pytest.raises(PublishFailed, match="refuses a dead letter"):
        await delivery_of(document_role(), publisher).handle([refused])


async def test_a_broker_that_is_gone_stops_the_role():
    with pytest.raises(PublishFailed):
        await delivery_of(document_role(), FakePublisher(broken=True)).handle(
            [document_record("d", 0)]
        )


async def test_a_step_that_misses_the_broker_stops_the_role_and_blames_no_record():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        raise KafkaConnectionError

    publisher = FakePublisher()
    with pytest.raises(KafkaConnectionError):
        await delivery_of(document_role(step), publisher).handle([document_record("d", 0)])
    assert publisher.published == []


async def test_an_open_breaker_stops_the_role_before_the_batch_is_published():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [Failed("ModelGone") for _ in batch]

    publisher = FakePublisher()
    delivery = delivery_of(document_role(step), publisher, breaker=CircuitBreaker(consecutive=3))
    await delivery.handle([document_record("d0", 0), document_record("d1", 1)])
    with pytest.raises(CircuitOpen, match="the last one by ModelGone"):
        await delivery.handle([document_record("d2", 2)])
    assert len(publisher.to(DEAD_LETTERS)) == 2


async def test_unreadable_records_never_open_the_breaker():
    publisher = FakePublisher()
    delivery = delivery_of(
        document_role(), publisher, breaker=CircuitBreaker(consecutive=2, window=4)
    )
    await delivery.handle([POISON] * 20)
    assert len(publisher.to(DEAD_LETTERS)) == 20


@pytest.mark.parametrize("spoiled", ["unreadable", "refused", "undetermined"])
async def test_spoiled_records_do_not_hide_that_all_the_others_fail(spoiled: str):
    """Two of three records are their sender's defect; every one of the rest fails."""

    async def step(batch):
        return [outcome(received) for received in batch]

    def outcome(received):
        if int(received.event.id) % 3 == 0:
            return Failed("Down")
        if spoiled == "refused":
            return Failed("EmptyDocument", fault=False)
        doc_id = received.event.id
        claimed = Extraction(id="e", doc_id=doc_id, entity_type="Name", value="A", context="A")
        verdict = undetermined(claimed, "context_too_long", received.event.ref())
        return [Outgoing(QUARANTINE, doc_id, verdict)]

    breaker = CircuitBreaker(consecutive=4, ratio=0.9, window=4)
    delivery = delivery_of(document_role(step), FakePublisher(), breaker=breaker)
    records = [document_record(str(number), number) for number in range(12)]
    if spoiled == "unreadable":
        records = [r if i % 3 == 0 else replace(r, value=b"?") for i, r in enumerate(records)]
    with pytest.raises(CircuitOpen):
        await delivery.handle(records)


async def test_verdicts_that_could_not_be_measured_open_the_breaker():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        return [[Outgoing(QUARANTINE, r.event.id, unmeasured(r.event))] for r in batch]

    def unmeasured(document: Document) -> Verdict:
        extraction = Extraction(
            id="e", doc_id=document.id, entity_type="Name", value="A", context="A"
        )
        return undetermined(extraction, "alignment_failed", document.ref(), "OSError: full")

    publisher = FakePublisher()
    delivery = delivery_of(document_role(step), publisher, breaker=CircuitBreaker(consecutive=3))
    with pytest.raises(CircuitOpen, match=r"the last one by alignment_failed \(OSError: full\)"):
        await delivery.handle([document_record(f"d{n}", n) for n in range(3)])
    assert publisher.published == []


async def test_a_batch_of_unreadable_records_needs_no_step():
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        raise AssertionError("called with nothing to do")

    publisher = FakePublisher()
    await delivery_of(document_role(step), publisher).handle([POISON])
    assert len(publisher.to(DEAD_LETTERS)) == 1


Fate = st.sampled_from(["fine", "unreadable", "failed", "raises", "refused", "silent"])


@given(st.lists(Fate, min_size=1, max_size=12))
async def test_every_record_ends_exactly_once_whatever_happens_to_its_neighbours(fates: list[str]):
    async def step(batch: Sequence[Received[Document]]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for received in batch:
            fate = received.event.id.partition("-")[0]
            if fate == "raises":
                raise ValueError(fate)
            outcomes.append(Failed("Failed") if fate == "failed" else manifest_of(received))
            if fate == "silent":
                outcomes[-1] = []
        return outcomes

    def refuse(out: Outgoing) -> str | None:
        return "TooLarge" if out.key.startswith("refused") and out.topic is MANIFESTS else None

    records = [
        POISON if fate == "unreadable" else document_record(f"{fate}-{n}", n)
        for n, fate in enumerate(fates)
    ]
    publisher = FakePublisher(refuse=refuse)
    await delivery_of(document_role(step), publisher).handle(records)
    assert documents_noted(publisher) == [
        f"fine-{n}" for n, fate in enumerate(fates) if fate == "fine"
    ]
    ended_badly = [fate for fate in fates if fate not in ("fine", "silent")]
    assert len(publisher.to(DEAD_LETTERS)) == len(ended_badly)

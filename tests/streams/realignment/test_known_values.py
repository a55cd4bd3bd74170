"""What is kept of a document: bounded, and not moved on twice by one record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas import Coordinates, Document, DocumentValues
from safepassage.schemas.realignment import KnownValue
from safepassage.streams.kafka.records import Record
from safepassage.streams.realignment.known_values import Told, noted, requested, within
from safepassage.streams.realignment.role import ValuesStore, in_time
from tests.streams.judged import verdict

ACCEPTED = Coordinates(topic="accepted", partition=0, offset=5)


def values(count: int) -> DocumentValues:
    known = [
        KnownValue(extraction_id=f"{n:032}", version=1, at=n, accepted=n, digest="d", stands=True)
        for n in range(count)
    ]
    return DocumentValues(doc_id="d", values=tuple(known))


def test_a_document_with_too_many_values_keeps_the_last_ones():
    state = values(2_000)
    kept = within(state, 20_000)
    assert len(kept.to_json()) <= 20_000
    assert kept.values == state.values[-len(kept.values) :]
    assert len(kept.values) > 80
    assert within(kept, 20_000) is kept


def test_a_record_that_was_counted_is_passed_over():
    told = Told(verdict(1), ACCEPTED, 10, "accepted")
    before = DocumentValues(doc_id="doc-0")
    after, _ = noted(before, told)
    assert [known.accepted for known in after.values] == [5]
    assert noted(after, told) == (after, None)
    version = Document(id="doc-0", text="new").ref(
        Coordinates(topic="documents", partition=0, offset=9)
    )
    again, values = requested(after, version, 3)
    assert [known.accepted for known in values or ()] == [5]
    assert requested(again, version, 3) == (again, None)
    repeated, none = requested(again, version, 4)  # sent twice, by a worker that was killed
    assert (none, repeated.values) == (None, again.values)


def test_a_quarantined_value_that_never_was_accepted_is_none():
    stopped = verdict(1).model_copy(
        update={"decision": "quarantined", "reasons": ("unsupported",), "score": 0.1}
    )
    place = ACCEPTED.model_copy(update={"topic": "quarantine"})
    after, late = noted(DocumentValues(doc_id="doc-0"), Told(stopped, place, 10, "accepted"))
    assert (after.values, after.reach, late) == ((), (0, 6, 0), None)


def test_a_document_that_was_forgotten_is_unknown():
    store = ValuesStore()
    store.put(values(2))
    assert store.of("d") == values(2)
    store.forget("d")
    assert store.of("d") == DocumentValues(doc_id="d")
    store.put(values(2))
    store.clear()
    assert store.of("d").values == ()
    store.close()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=30))
def test_records_of_one_partition_keep_their_order_whatever_the_clocks_say(given_records):
    records = [
        Record(topic, 0, offset, None, b"", timestamp=at)
        for offset, (topic, at) in enumerate(given_records)
    ]
    order = in_time(records)
    assert sorted(order) == list(range(len(records)))
    for topic in "abc":
        own = [records[position].offset for position in order if records[position].topic == topic]
        assert own == sorted(own)
    if [r.timestamp for r in records] == sorted(r.timestamp for r in records):
        assert [records[position].timestamp for position in order] == sorted(
            record.timestamp for record in records
        )

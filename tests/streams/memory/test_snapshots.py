"""The topic of snapshots, read: chains, damage, tombstones."""

from __future__ import annotations

import pytest

from safepassage.schemas import MemorySnapshot
from safepassage.scoring_worker.memory.index import NO_MEMORY
from safepassage.streams.kafka.records import Record
from safepassage.streams.memory.live import SnapshotLost, Snapshots
from tests.scoring_worker.memory.entries import entry, snapshot

SCORER = "scorer"


def noted(*snapshots: MemorySnapshot) -> Snapshots:
    found = Snapshots()
    for offset, one in enumerate(snapshots):
        found.note(Record("memories", 0, offset, one.name.encode(), one.to_json()))
    return found


FIRST = snapshot(NO_MEMORY, [entry(1), entry(2)])
BASE = NO_MEMORY.changed(FIRST)
SECOND = snapshot(BASE, [entry(3)], [entry(1).id])


def test_any_snapshot_is_built_from_its_chain_in_whatever_order_compaction_left():
    for order in ((FIRST, SECOND), (SECOND, FIRST)):
        found = noted(*order)
        assert found.memory(FIRST.name, SCORER).entries == BASE.entries
        assert set(found.memory(SECOND.name, SCORER).entries) == {entry(2).id, entry(3).id}
    assert noted(FIRST, SECOND).last(SCORER).name == SECOND.name


def test_what_was_taken_back_makes_another_name_for_the_same_content():
    before = NO_MEMORY.changed(FIRST)
    learnt = before.changed(snapshot(before, [entry(3)]))
    undone = learnt.changed(snapshot(learnt, removed=[entry(3).id]))
    assert undone.entries == before.entries
    assert undone.name != before.name, "or two snapshots could rest on each other"


def test_a_name_that_nobody_wrote_is_refused():
    with pytest.raises(SnapshotLost, match="is not on the topic"):
        noted(FIRST).memory("0123456789abcdef", SCORER)
    with pytest.raises(SnapshotLost, match="another scorer"):
        noted(FIRST).memory(FIRST.name, "another")


def test_a_tombstone_takes_what_rests_on_it_along():
    found = noted(FIRST, SECOND)
    found.note(Record("memories", 0, 2, FIRST.name.encode(), None))
    with pytest.raises(SnapshotLost):
        found.memory(SECOND.name, SCORER)
    assert found.last(SCORER) is NO_MEMORY, "the worker begins anew"


def test_rubbish_is_left_out():
    found = noted(FIRST)
    altered = FIRST.to_json().replace(b'"ana"', b'"eve"')
    for value in (b"{}", b"\xff", altered):
        found.note(Record("memories", 0, 1, b"key", value))
    assert found.last(SCORER).name == FIRST.name


def test_a_damaged_chain_is_refused():
    hole = MemorySnapshot.of(SCORER, FIRST.name, (), ("no such entry",))
    with pytest.raises(SnapshotLost, match="damaged"):
        noted(FIRST, hole).memory(hole.name, SCORER)


def test_last_of_a_scorer_that_never_learnt_is_empty():
    assert noted().last(SCORER) is NO_MEMORY

"""The memory itself: what it holds, what it forgets, and that its name stands for its content."""

from __future__ import annotations

import random

import pytest
from pydantic import ValidationError

from safepassage.schemas import MemorySnapshot
from safepassage.scoring_worker.memory import index
from safepassage.scoring_worker.memory.index import (
    NO_MEMORY,
    Memory,
    MemoryFull,
    within_bounds,
)
from safepassage.scoring_worker.memory.reviewed_alike import recalled
from safepassage.scoring_worker.memory.weights import MemoryWeights, packaged_weights

from .entries import SPACE, entry, memory, snapshot, state


def recall(of: Memory, *numbers: int, entity_type: str = "Rent"):
    return of.recall(SPACE, entity_type, "located", state(*numbers))


def test_a_rejection_lowers_what_is_like_it_and_names_the_case():
    found = recall(memory(entry(1), entry(2, (0, 100, 0), supported=True)), 100, 1, 0)
    assert found.shift < 0
    assert [case.case_id for case in found.cases] == ["case-1", "case-2"]
    (finding,) = recalled(found)
    assert (finding.code, finding.detail) == (
        "reviewed_alike",
        "1 like this was rejected by ana",
    )


def test_case_and_shape_of_the_type_are_what_it_is_found_by():
    one = memory(entry(1))
    assert recall(one, 100, 0, 0, entity_type="RENT") is not None
    assert recall(one, 100, 0, 0, entity_type="Deposit") is None
    assert one.recall("another scorer", "Rent", "located", state(100, 0, 0)) is None
    assert one.recall(SPACE, "Rent", "unlocated", state(100, 0, 0)) is None


def test_a_state_of_another_width_is_like_nothing():
    assert recall(memory(entry(1)), 100, 0) is None


def test_no_memory_recalls_nothing():
    assert recall(NO_MEMORY, 1, 2, 3) is None
    assert not NO_MEMORY.knows(SPACE, "Rent", "located")


def test_order_of_learning_changes_nothing():
    entries = [entry(n, (n, 100 - n, 7), supported=n % 3 == 0) for n in range(40)]
    other = list(entries)
    random.Random(1).shuffle(other)
    assert recall(memory(*entries), 30, 60, 7) == recall(memory(*other), 30, 60, 7)


def test_what_is_taken_out_is_gone_and_the_former_memory_as_it_was():
    before = memory(entry(1), entry(2, (0, 100, 0)))
    after = before.changed(snapshot(before, removed=[entry(1).id]))
    assert [case.case_id for case in recall(after, 100, 0, 0).cases] == ["case-2"]
    assert len(recall(before, 100, 0, 0).cases) == 2
    empty = after.changed(snapshot(after, removed=[entry(2, (0, 100, 0)).id]))
    assert recall(empty, 100, 0, 0) is None


def test_a_change_needs_its_base():
    with pytest.raises(ValueError, match="rests on"):
        memory(entry(1)).changed(snapshot(NO_MEMORY, [entry(2)]))
    with pytest.raises(ValueError, match="does not hold"):
        memory(entry(1)).changed(snapshot(memory(entry(1)), removed=["nothing"]))


def test_a_snapshot_is_what_its_name_says():
    told = snapshot(NO_MEMORY, [entry(1)]).model_dump(mode="json")
    assert MemorySnapshot.model_validate(told).name == memory(entry(1)).name
    told["added"][0]["votes"][0]["supported"] = True
    with pytest.raises(ValidationError, match="not what its name says"):
        MemorySnapshot.model_validate(told)


def test_the_oldest_of_a_type_give_way(monkeypatch):
    monkeypatch.setattr(index, "MOST_OF_TYPE", 2)
    monkeypatch.setattr(index, "MOST", 3)
    kept = within_bounds([entry(n, entity_type="A" if n < 4 else "B") for n in range(6)])
    assert [one.case_id for one in kept] == ["case-3", "case-4", "case-5"]
    with pytest.raises(MemoryFull):
        memory(*[entry(n) for n in range(3)])


def test_no_number_of_votes_moves_more_than_the_bound():
    wrong = memory(*[entry(n, (100, n, 0), log_odds=4.0) for n in range(120)])
    assert -packaged_weights().alone <= recall(wrong, 100, 0, 0).shift < 0
    weights = MemoryWeights(weights={"vote": 99.0}, bound=1.5, alone=0.5, fitted_on=())
    assert [weights.shift({"vote": -1}, reviewers) for reviewers in (1, 2)] == [-0.5, -1.5]


def test_one_reviewer_who_judged_much_is_outvoted_by_two_who_judged_little():
    wrong = [entry(n, (100, n % 3, 0), reviewer="eve") for n in range(50)]
    right = [entry(50, supported=True), entry(51, supported=True, reviewer="ben")]
    assert recall(memory(*wrong), 100, 0, 0).shift < 0
    assert recall(memory(*wrong, *right), 100, 0, 0).shift > 0


def test_reviewers_who_differ_on_a_case_are_shown_and_cancel():
    found = recall(memory(entry(1, votes=[("ana", True), ("eve", False)])), 100, 0, 0)
    assert found.cases[0].supported is None
    (finding,) = recalled(found)
    assert finding.detail == "1 like this was disputed by ana, eve"
    assert abs(found.shift) < abs(recall(memory(entry(1)), 100, 0, 0).shift)

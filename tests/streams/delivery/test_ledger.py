"""Promise P1 rests on this arithmetic: no commit passes a record that is not finished."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from safepassage.streams.delivery.ledger import OffsetLedger

PARTITION = ("documents", 0)
OTHER = ("documents", 1)


def outstanding(ledger: OffsetLedger[Any], *partitions: object) -> int:
    """How many delivered records are not finished, of these partitions or of all."""
    known = ledger._progress
    return sum(len(known[p].outstanding) for p in partitions or known if p in known)


def ledger_with(*offsets: int) -> OffsetLedger[tuple[str, int]]:
    ledger: OffsetLedger[tuple[str, int]] = OffsetLedger()
    for offset in offsets:
        ledger.delivered(PARTITION, offset)
    return ledger


def test_nothing_is_committable_before_something_finished():
    assert ledger_with(7, 8).committable(PARTITION) == 7
    assert OffsetLedger().committable(PARTITION) is None


def test_a_slow_record_holds_back_the_commit_of_those_behind_it():
    ledger = ledger_with(0, 1, 2)
    ledger.finished(PARTITION, 1)
    ledger.finished(PARTITION, 2)
    assert ledger.committable(PARTITION) == 0
    ledger.finished(PARTITION, 0)
    assert ledger.committable(PARTITION) == 3


def test_gaps_in_the_offsets_are_not_waited_for():
    ledger = ledger_with(3, 10, 40)
    ledger.finished(PARTITION, 3)
    assert ledger.committable(PARTITION) == 10
    ledger.finished(PARTITION, 10)
    ledger.finished(PARTITION, 40)
    assert ledger.committable(PARTITION) == 41


def test_the_marker_of_a_transaction_is_passed_when_all_before_it_is_done():
    ledger = ledger_with(0, 1)
    ledger.skipped(PARTITION, 2, 3)
    ledger.finished(PARTITION, 1)
    assert ledger.committable(PARTITION) == 0
    ledger.finished(PARTITION, 0)
    assert (ledger.committable(PARTITION), ledger.reached(PARTITION)) == (3, 3)
    ledger.delivered(PARTITION, 3)
    assert ledger.committable(PARTITION) == 3


def test_a_marker_is_not_passed_while_a_record_before_it_is_not_delivered():
    ledger = ledger_with(0)
    ledger.skipped(PARTITION, 2, 3)  # the record 1 was fetched, and is on its way
    ledger.finished(PARTITION, 0)
    assert ledger.committable(PARTITION) == 1
    ledger.skipped(OTHER, 0, 3)
    assert ledger.committable(OTHER) is None


def test_what_is_committed_is_not_committed_again():
    ledger = ledger_with(0)
    ledger.finished(PARTITION, 0)
    ledger.committed(PARTITION, 1)
    assert ledger.committable(PARTITION) is None


def test_a_finish_after_the_partition_left_changes_nothing():
    ledger = ledger_with(0, 1)
    ledger.forget([PARTITION])
    ledger.finished(PARTITION, 0)
    assert ledger.committable(PARTITION) is None
    assert outstanding(ledger) == 0


def test_a_rewound_partition_is_counted_from_where_it_starts_again():
    ledger = ledger_with(4, 5, 6)
    ledger.finished(PARTITION, 6)
    ledger.delivered(PARTITION, 4)
    ledger.delivered(PARTITION, 5)
    assert ledger.committable(PARTITION) == 4
    ledger.finished(PARTITION, 4)
    assert ledger.committable(PARTITION) == 5


def test_partitions_do_not_hold_back_each_other():
    ledger = ledger_with(0)
    ledger.delivered(OTHER, 5)
    ledger.finished(OTHER, 5)
    assert (ledger.committable(OTHER), ledger.committable(PARTITION)) == (6, 0)
    assert outstanding(ledger) == outstanding(ledger, PARTITION) == 1


class LedgerAgainstSets(RuleBasedStateMachine):
    """Deliveries with gaps, finishes in any order, commits, rewinds and revocations, against a
    model that keeps every offset."""

    in_flight: Bundle[int] = Bundle("in_flight")

    @initialize()
    def start(self) -> None:
        self.ledger: OffsetLedger[tuple[str, int]] = OffsetLedger()
        self.delivered: list[int] = []
        self.unfinished: set[int] = set()
        self.committed = 0
        self.end = 0

    @rule(target=in_flight, gap=st.integers(0, 3))
    def deliver(self, gap: int) -> int:
        offset = self.end + gap
        self.end = offset + 1
        self.delivered.append(offset)
        self.unfinished.add(offset)
        self.ledger.delivered(PARTITION, offset)
        return offset

    @rule(offset=consumes(in_flight))
    def finish(self, offset: int) -> None:
        self.unfinished.discard(offset)
        self.ledger.finished(PARTITION, offset)

    @rule()
    def commit(self) -> None:
        offset = self.ledger.committable(PARTITION)
        if offset is not None:
            self.committed = offset
            self.ledger.committed(PARTITION, offset)

    @rule(by_revocation=st.booleans())
    def deliver_again_from_the_committed_offset(self, by_revocation: bool) -> None:
        again = [offset for offset in self.delivered if offset >= self.committed]
        if by_revocation:
            self.ledger.forget([PARTITION])
        self.unfinished = set(again)
        for offset in again:
            self.ledger.delivered(PARTITION, offset)

    @invariant()
    def no_commit_passes_an_unfinished_record(self) -> None:
        offset = self.ledger.committable(PARTITION)
        if offset is not None and self.unfinished:
            assert offset <= min(self.unfinished)

    @invariant()
    def everything_finished_is_committable(self) -> None:
        if self.delivered and not self.unfinished:
            assert self.ledger.committable(PARTITION) in (None, self.end)

    @invariant()
    def only_the_unfinished_are_outstanding(self) -> None:
        assert outstanding(self.ledger) == len(self.unfinished)


TestLedgerAgainstSets = LedgerAgainstSets.TestCase

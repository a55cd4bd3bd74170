"""A role is alive while it finishes, polls, or waits for a deadline that is kept."""

from __future__ import annotations

from safepassage.streams.runtime.progress import Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_role_that_holds_a_record_and_does_nothing_grows_old():
    clock = Clock()
    progress = Progress("extract", clock)
    progress.delivered()
    clock.now = 50
    progress.polled()
    assert progress.age_seconds == 50


def test_waiting_for_a_deadline_is_progress_until_it_is_past():
    clock = Clock()
    progress = Progress("extract", clock)
    progress.delivered()
    with progress.within(120):
        clock.now = 120
        assert progress.age_seconds == 0
        clock.now = 150
        assert progress.age_seconds == 30
    assert progress.age_seconds == 150  # a deadline that was broken was no progress
    with progress.within(120):
        clock.now = 200
    assert progress.age_seconds == 0


def test_partition_without_a_position_grows_old_however_busy_the_others_are():
    clock = Clock()
    progress = Progress("align", clock)
    for clock.now in range(0, 200, 10):
        progress.polled()
        progress.note_unplaced(["extractions-3"])
    assert progress.age_seconds == 190
    progress.note_unplaced([])
    assert progress.age_seconds == 0
    clock.now = 1000
    progress.polled()
    progress.note_unplaced(["extractions-1"])  # a rebalance just now
    assert progress.age_seconds == 0


def test_the_last_of_several_deadlines_counts():
    clock = Clock()
    progress = Progress("extract", clock)
    progress.delivered(2)
    with progress.within(10), progress.within(40):
        clock.now = 30
        assert progress.age_seconds == 0
        clock.now = 45
        assert progress.age_seconds == 5

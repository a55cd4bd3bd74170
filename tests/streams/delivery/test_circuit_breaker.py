"""A broken deployment stops; a single bad record, or any number of unreadable ones, does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.streams.delivery.circuit_breaker import CircuitBreaker, CircuitOpen


def opens_after(breaker: CircuitBreaker, outcomes: list[bool]) -> int | None:
    for position, failed in enumerate(outcomes):
        try:
            breaker.record(failed)
        except CircuitOpen:
            return position + 1
    return None


def test_it_opens_at_the_given_number_of_failures_in_a_row():
    assert opens_after(CircuitBreaker(consecutive=3), [True, True, False, True, True, True]) == 6


def test_a_success_starts_the_row_again():
    assert opens_after(CircuitBreaker(consecutive=2), [True, False] * 20) is None


def test_it_opens_at_the_ratio_of_a_full_window():
    breaker = CircuitBreaker(consecutive=100, ratio=0.75, window=4)
    assert opens_after(breaker, [True, False, True, True]) == 4


def test_a_window_that_is_not_full_says_nothing_yet():
    assert opens_after(CircuitBreaker(consecutive=100, ratio=0.5, window=4), [True] * 3) is None


def test_what_left_the_window_no_longer_counts():
    breaker = CircuitBreaker(consecutive=100, ratio=0.75, window=4)
    assert opens_after(breaker, [True, True, False, False, False, True, True]) is None


def test_the_message_says_how_much_failed():
    breaker = CircuitBreaker(consecutive=2)
    breaker.record(True)
    with pytest.raises(CircuitOpen, match="last 2 records failed"):
        breaker.record(True)


@given(
    outcomes=st.lists(st.booleans(), max_size=60),
    consecutive=st.integers(1, 10),
    ratio=st.floats(0.1, 1),
    window=st.integers(1, 12),
)
def test_it_opens_exactly_when_its_rule_says(
    outcomes: list[bool], consecutive: int, ratio: float, window: int
):
    def rule_says(seen: list[bool]) -> bool:
        in_a_row = len(seen) >= consecutive and all(seen[-consecutive:])
        full = len(seen) >= window and sum(seen[-window:]) >= ratio * window
        return seen[-1] and (in_a_row or full)

    first = next((n for n in range(1, len(outcomes) + 1) if rule_says(outcomes[:n])), None)
    breaker = CircuitBreaker(consecutive=consecutive, ratio=ratio, window=window)
    assert opens_after(breaker, outcomes) == first

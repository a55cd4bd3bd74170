"""Proportions and their intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.schemas.proportion import Proportion, wilson


def test_wilson_agrees_with_a_published_example():
    """81 of 263: Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_an_interval_lies_in_the_unit_interval_and_holds_the_share(successes, total):
    share = min(successes, total) / total
    low, high = wilson(min(successes, total), total)
    assert 0.0 <= low <= share <= high <= 1.0


def test_nothing_is_known_without_a_trial():
    assert wilson(0, 0) == (0.0, 1.0)
    assert Proportion(0, 0).share is None


def test_more_successes_than_trials_are_refused():
    with pytest.raises(ValueError, match="no proportion"):
        Proportion(3, 2)

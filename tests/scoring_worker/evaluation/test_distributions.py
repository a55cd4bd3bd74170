"""Distances between distributions of scores."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.scoring_worker.evaluation.distributions import (
    BINS,
    bin_of,
    histogram,
    ks_distance,
    ks_limit,
    population_stability,
)

counts = st.lists(st.integers(0, 1000), min_size=BINS, max_size=BINS)


@given(st.floats(0, 1))
def test_every_score_has_a_bin(score: float):
    assert 0 <= bin_of(score) < BINS


@given(counts)
def test_distribution_is_no_distance_from_itself(some):
    assert population_stability(some, some) == 0
    assert ks_distance(some, some) == 0


@given(counts, counts)
def test_distances_are_symmetric_and_finite(some, other):
    assert population_stability(some, other) == pytest.approx(population_stability(other, some))
    assert math.isfinite(population_stability(some, other))
    assert 0 <= ks_distance(some, other) <= 1


def test_opposite_ends_are_as_far_apart_as_can_be():
    low, high = histogram([0.0] * 100), histogram([1.0] * 100)
    assert ks_distance(low, high) == 1
    assert population_stability(low, high) > 5


def test_known_population_stability():
    assert population_stability([50, 50], [25, 75]) == pytest.approx(
        (0.25 - 0.5) * math.log(0.5) + (0.75 - 0.5) * math.log(1.5)
    )


def test_limit_is_seldom_exceeded_by_samples_of_one_distribution():
    source = random.Random(5)
    exceeded = 0
    for _ in range(300):
        first = histogram(source.random() for _ in range(200))
        second = histogram(source.random() for _ in range(200))
        exceeded += ks_distance(first, second) > ks_limit(200, 200, alpha=0.01)
    assert exceeded <= 9

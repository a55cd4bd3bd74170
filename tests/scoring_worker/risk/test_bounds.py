"""Bounds on a share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from safepassage.scoring_worker.risk import bounds


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    low, high = bounds.clopper_pearson(3, 100, 0.975)
    assert low == pytest.approx(beta.ppf(0.025, 3, 98))
    assert high == pytest.approx(beta.ppf(0.975, 4, 97))
    assert bounds.clopper_pearson(0, 148, 0.95)[1] > 0.02 >= bounds.clopper_pearson(0, 149, 0.95)[1]


@given(st.integers(1, 400), st.data(), st.floats(0.01, 0.99))
def test_a_count_refutes_a_risk_exactly_where_the_upper_bound_is_not_above_it(
    n: int, data: st.DataObject, risk: float
) -> None:
    wrong = data.draw(st.integers(0, n))
    high = bounds.clopper_pearson(wrong, n, 0.95)[1]
    if abs(high - risk) > 1e-9:
        assert bounds.refutes(wrong, n, risk, 0.05) == (high <= risk)


@pytest.mark.parametrize(("risk", "wanted"), [(0.01, 299), (0.02, 149), (0.05, 59)])
def test_the_labels_needed_are_the_fewest_that_certify(risk: float, wanted: int) -> None:
    assert bounds.labels_needed(risk, 0.95) == wanted
    assert bounds.labels_needed(risk, 0.95, observed=risk) is None
    some = bounds.labels_needed(risk, 0.95, observed=risk / 2)
    assert some is not None
    assert some > wanted


def test_the_least_share_to_people_leaves_the_risk_behind() -> None:
    share = bounds.least_share_to_people(0.1, 0.02)
    assert (0.1 - share) / (1 - share) == pytest.approx(0.02)
    assert bounds.least_share_to_people(0.01, 0.02) == 0.0


def test_capital_exceeds_twenty_in_at_most_a_twentieth_of_fair_games() -> None:
    chance = np.random.default_rng(1)
    risk, games = 0.1, 1_000
    weights = chance.choice([0.4, 1.0, 3.0], p=[0.5, 0.4, 0.1], size=(games, 300))
    weights /= 0.9
    wrong = chance.random((games, 300)) < risk  # the mean is exactly what is to be refuted
    won = sum(
        bounds.capital(w * (y - risk), 3.0 / 0.9 * (1 - risk)) >= 20
        for w, y in zip(weights, wrong, strict=True)
    )
    assert won <= binom.ppf(0.9999, games, 0.05)


def test_weighted_bounds_hold_the_share_and_close_in_on_it() -> None:
    chance = np.random.default_rng(2)
    wrong = (chance.random(2_000) < 0.04).astype(float)
    few = bounds.weighted_bounds(wrong[:200], np.ones(200), 1.0, 0.95)
    many = bounds.weighted_bounds(wrong, np.ones(2_000), 1.0, 0.95)
    assert few[0] < 0.04 < few[1]
    assert many[0] < 0.04 < many[1]
    assert many[1] - many[0] < few[1] - few[0]
    assert bounds.weighted_bounds(np.zeros(0), np.zeros(0), 1.0, 0.95) == (0.0, 1.0)

"""Draws whose probability is known."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from safepassage.scoring_worker.risk.draws import FLOOR, draw


def test_every_case_is_drawn_as_often_as_the_draw_says() -> None:
    chance, draws, seen = random.Random(0), 20_000, Counter[int]()
    said: dict[int, float] = {}
    for _ in range(draws):
        one = draw([2, 3], 10, chance)
        seen[one.position] += 1
        said[one.position] = one.probability
    assert sum(said.values()) == pytest.approx(1.0)
    for position, probability in said.items():
        assert seen[position] / draws == pytest.approx(probability, abs=0.015)


def test_weighed_draws_estimate_a_share_without_bias() -> None:
    wrong = [True, True, False, False, True, False, False, False, False, False]
    chance, total, draws = random.Random(1), 0.0, 20_000
    for _ in range(draws):
        one = draw([0, 1], 10, chance)
        total += one.weight * wrong[one.position]
    assert total / draws == pytest.approx(0.3, abs=0.02)


def test_no_weight_exceeds_the_inverse_of_the_floor() -> None:
    chance = random.Random(2)
    assert all(draw(range(5), 1_000, chance).weight <= 1 / FLOOR + 1e-9 for _ in range(500))
    assert draw([], 7, chance).weight == pytest.approx(1.0)
    with pytest.raises(ValueError, match="floor"):
        draw([], 0, chance)

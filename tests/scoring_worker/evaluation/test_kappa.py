"""Agreement beyond chance, against another implementation and worked examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from safepassage.scoring_worker.evaluation.kappa import (
    cohens_kappa,
    fleiss_kappa,
    pairwise_kappas,
)

pairs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=60)


@given(pairs)
def test_cohens_kappa_is_that_of_scikit_learn_where_it_is_defined(
    drawn: list[tuple[int, int]],
) -> None:
    ours = cohens_kappa(drawn)
    if ours is not None:
        assert ours == pytest.approx(cohen_kappa_score(*zip(*drawn, strict=True)))


@pytest.mark.parametrize("drawn", [[], [(1, 1), (1, 1)]])
def test_without_cases_or_variance_kappa_is_not_defined(drawn: list[tuple[int, int]]) -> None:
    assert cohens_kappa(drawn) is None


def test_fleiss_kappa_of_a_worked_example() -> None:
    # Three raters, four cases: agreement (1 + 1 + 1/3 + 1/3) / 4 = 2/3, chance 1/2.
    ratings = [
        {"a": 1, "b": 1, "c": 1},
        {"a": 0, "b": 0, "c": 0},
        {"a": 1, "b": 1, "c": 0},
        {"a": 0, "b": 0, "c": 1},
    ]
    assert fleiss_kappa(ratings) == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


def test_fleiss_kappa_takes_cases_with_different_numbers_of_raters_and_none_with_one() -> None:
    ratings = [{"a": 1, "b": 1}, {"a": 0, "b": 0, "c": 0}, {"a": 1}]
    assert fleiss_kappa(ratings) == pytest.approx(1.0)
    assert fleiss_kappa([{"a": 1}]) is None
    assert fleiss_kappa([{"a": 1, "b": 1}]) is None


def test_each_pair_of_raters_is_compared_on_the_cases_they_share() -> None:
    ratings = [{"a": 1, "b": 1}, {"a": 0, "b": 0}, {"a": 1, "c": 0}]
    assert pairwise_kappas(ratings) == {("a", "b"): (2, 1.0), ("a", "c"): (1, 0.0)}

"""Which decisions count as made without sight of another's, and how far they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from safepassage.schemas import Review
from safepassage.scoring_worker.evaluation.kappa import (
    cohens_kappa,
    exchangeable_kappa,
    kappa_interval,
)
from safepassage.streams.labels.reviewer_agreement import agreement, blind_pair
from tests.streams.console.cases import review, verdict

CASE = verdict(1)


def said(decision: str = "supports", *, blind: bool = True, **about: Any) -> Review:
    made = review(CASE, decision, value="x" if decision == "corrected" else None, **about)
    return made.model_copy(update={"double_blind": 0.2 if blind else None})


def test_two_people_who_saw_nothing_are_a_pair() -> None:
    first, second = said(), said("insufficient", by="Ben", minute=1)
    assert blind_pair([first]) is None
    assert blind_pair([second, first]) == (1, 0)
    assert blind_pair([first, said("corrected", by="Ben", minute=1)]) == (1, 0)


def test_one_who_saw_the_other_and_one_who_skipped_are_none() -> None:
    assert blind_pair([said(), said(by="Ben", minute=1, blind=False)]) is None
    assert blind_pair([said(), said("skipped", by="Ben", minute=1)]) is None
    assert blind_pair([said(), said("insufficient", minute=1)]) is None, "one person twice"


def test_after_both_spoke_the_first_word_counts() -> None:
    made = [said(), said("insufficient", by="Ben", minute=1)]
    changed = said("insufficient", minute=2, blind=False)
    undone = said("undone", by="Ben", minute=3, supersedes=made[1].id)
    assert blind_pair([*made, changed, undone]) == (1, 0)


def test_a_slip_that_was_taken_back_before_anybody_else_spoke_counts_for_nothing() -> None:
    slip = said()
    undone = said("undone", minute=1, supersedes=slip.id)
    assert blind_pair([slip, undone, said("insufficient", by="Ben", minute=2)]) is None
    again = said("insufficient", minute=2)
    assert blind_pair([slip, undone, again, said(by="Ben", minute=3)]) == (0, 1)


def test_agreement_is_over_all_and_by_type() -> None:
    pairs = [("Judge", (1, 1))] * 6 + [("Judge", (0, 0))] * 3 + [("Date", (1, 0)), ("Date", (0, 1))]
    every, judge, date = agreement(pairs)
    assert (every.entity_type, every.cases, every.agree) == ("", 11, 9)
    assert (judge.entity_type, judge.kappa) == ("Judge", 1.0)
    assert judge.interval is not None
    assert judge.interval[0] < 0.9, "nine cases prove no perfect agreement"
    assert date.kappa == -1.0
    assert every.interval is not None
    assert every.kappa is not None
    assert every.interval[0] < every.kappa < every.interval[1]


def test_nothing_is_said_where_nothing_can_be() -> None:
    (every,) = agreement([])
    assert (every.cases, every.kappa, every.interval) == (0, None, None)
    every, _ = agreement([("Judge", (1, 1))] * 5)
    assert (every.kappa, every.interval) == (None, None)


def test_who_was_the_first_does_not_matter() -> None:
    pairs = [(1, 1), (1, 0), (1, 0), (0, 0), (0, 1)]
    turned = [(b, a) for a, b in pairs]
    assert exchangeable_kappa(pairs) == exchangeable_kappa(turned)
    symmetric = pairs + turned
    assert exchangeable_kappa(symmetric) == pytest.approx(cohens_kappa(symmetric))


def test_the_interval_of_the_paper() -> None:
    """Donner and Eliasziw's closed form at kappa = observed: the test rejects nothing there, and
    both ends are where the statistic reaches 3.84."""
    pairs = [(1, 1)] * 40 + [(1, 0)] * 6 + [(0, 1)] * 4 + [(0, 0)] * 50
    kappa, bounds = exchangeable_kappa(pairs), kappa_interval(pairs)
    assert kappa is not None
    assert bounds is not None
    ones = 0.45
    for bound in bounds:
        spread = ones * (1 - ones)
        expected = np.array(
            [ones**2 + bound * spread, 2 * spread * (1 - bound), (1 - ones) ** 2 + bound * spread]
        )
        statistic = ((np.array([40, 10, 50]) - 100 * expected) ** 2 / (100 * expected)).sum()
        assert statistic == pytest.approx(3.84, abs=0.05)
    assert bounds[0] < kappa < bounds[1]


@pytest.mark.parametrize("kappa", [0.2, 0.6, 0.9])
def test_the_interval_holds_the_truth_as_often_as_it_says(kappa: float) -> None:
    rng = np.random.default_rng(7)
    ones, n, held, trials = 0.4, 40, 0, 300
    spread = ones * (1 - ones)
    cells = [ones**2 + kappa * spread, 2 * spread * (1 - kappa), (1 - ones) ** 2 + kappa * spread]
    for _ in range(trials):
        both, one, none = rng.multinomial(n, cells)
        bounds = kappa_interval([(1, 1)] * both + [(1, 0)] * one + [(0, 0)] * none)
        held += bounds is not None and bounds[0] <= kappa <= bounds[1]
    assert held / trials > 0.92

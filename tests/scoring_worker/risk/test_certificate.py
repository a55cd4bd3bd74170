"""Thresholds that keep a promise."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import binom

from safepassage.scoring_worker.risk.certificate import (
    CertifiedThreshold,
    Shortfall,
    Stratum,
    certified_threshold,
    certify,
)

from .streams import NormalStream, reviewed

CONFIDENCE = 0.95


def test_a_promise_needs_as_many_right_labels_as_clopper_and_pearson_ask() -> None:
    few = certified_threshold(np.full(148, 0.9), np.zeros(148), None, 0.02)
    enough = certified_threshold(np.full(149, 0.9), np.zeros(149), None, 0.02)
    assert isinstance(few, Shortfall)
    assert few.wanted == 1
    assert "1 more" in str(few)
    assert isinstance(enough, CertifiedThreshold)
    assert enough.accepted == 1.0
    assert enough.method == "Clopper–Pearson"
    assert enough.observed_ci[1] <= 0.02


def test_the_threshold_parts_what_is_wrong_from_what_is_right() -> None:
    scores = [*[0.95] * 300, *[0.3] * 100]
    wrong = [*[False] * 300, *[True] * 100]
    found = certified_threshold(scores, wrong, None, 0.02)
    assert isinstance(found, CertifiedThreshold)
    assert 0.3 < found.value <= 0.95
    assert (found.labels, found.wrong, found.accepted) == (300, 0, 0.75)


def test_where_nothing_can_be_promised_it_says_what_people_must_do() -> None:
    none = certified_threshold([0.5] * 100, [True] * 10 + [False] * 90, None, 0.02)
    assert isinstance(none, Shortfall)
    assert none.wanted is None
    assert none.to_people == pytest.approx(0.08 / 0.98)
    empty = certified_threshold([], [], None, 0.02)
    assert isinstance(empty, Shortfall)
    assert empty.wanted == 149
    assert empty.base == 0


def test_draws_that_favour_wrong_values_do_not_hide_the_right_ones() -> None:
    """Half of the labels are wrong because wrong ones were drawn ninety times as often."""
    wrong = np.array([True] * 300 + [False] * 300)
    weights = np.where(wrong, 0.02, 1.98)
    weighed = certified_threshold(np.full(600, 0.9), wrong, weights, 0.05, highest=1.98)
    assert isinstance(weighed, CertifiedThreshold)
    assert weighed.method == "betting"
    assert weighed.observed == pytest.approx(0.01)
    assert weighed.observed_ci[0] <= 0.01 <= weighed.observed_ci[1]
    assert isinstance(certified_threshold(np.full(600, 0.9), wrong, None, 0.05), Shortfall)


@pytest.mark.parametrize(
    "columns",
    [([0.5, float("nan")], [0, 0], None), ([0.5], [0, 1], None), ([0.5], [0], [0.0])],
)
def test_columns_that_make_no_sense_are_refused(columns: tuple[list, list, list | None]) -> None:
    with pytest.raises(ValueError, match=r"differ in number|not finite"):
        certified_threshold(*columns, 0.02)
    with pytest.raises(ValueError, match="risk"):
        certified_threshold([0.5], [0], None, 0.0)
    with pytest.raises(ValueError, match="highest"):
        Stratum.of([0.5], [0], [2.0], highest=1.5)


def broken(stream: NormalStream, risk: float, labels: int, streams: int, seed: int) -> int:
    """How many promises break, on plain labels."""
    chance = np.random.default_rng(seed)
    count = 0
    for _ in range(streams):
        found = certified_threshold(*stream.sample(labels, chance), None, risk, CONFIDENCE)
        count += isinstance(found, CertifiedThreshold) and stream.risk(found.value) > risk
    return count


def broken_by_reviews(
    stream: NormalStream, risk: float, labels: int, streams: int, seed: int
) -> int:
    """How many promises break, on labels as the console draws them of 4 · ``labels`` values."""
    chance, lots = np.random.default_rng(seed), random.Random(seed)
    count = 0
    for _ in range(streams):
        scores, wrong = stream.sample(4 * labels, chance)
        found = certify(reviewed(scores, wrong, 0.9, labels, lots), risk, CONFIDENCE)
        if isinstance(found, CertifiedThreshold):
            count += bool(wrong[scores >= found.value].mean() > risk)
    return count


@pytest.mark.parametrize(
    ("stream", "risk", "labels"),
    [
        (NormalStream(0.051, 0.0), 0.05, 200),  # every promise breaks: the worst case
        (NormalStream(0.1, 2.5), 0.05, 200),
        (NormalStream(0.3, 2.0), 0.1, 150),
    ],
)
def test_promises_break_no_more_often_than_said(
    stream: NormalStream, risk: float, labels: int
) -> None:
    streams = 150
    allowed = binom.ppf(0.9999, streams, 1 - CONFIDENCE)
    assert broken(stream, risk, labels, streams, seed=1) <= allowed
    assert broken_by_reviews(stream, risk, labels, streams // 3, seed=2) <= allowed / 2


@pytest.mark.long
@pytest.mark.parametrize("apart", [0.0, 1.0, 2.5])
@pytest.mark.parametrize(("base", "risk"), [(0.0205, 0.02), (0.051, 0.05), (0.2, 0.1)])
def test_thousands_of_promises_break_no_more_often_than_said(
    base: float, risk: float, apart: float
) -> None:
    stream, streams = NormalStream(base, apart), 2_000
    allowed = binom.ppf(0.9999, streams, 1 - CONFIDENCE)
    for labels in (100, 400, 1_600):
        assert broken(stream, risk, labels, streams, seed=labels) <= allowed
        reviews = broken_by_reviews(stream, risk, labels, streams // 20, seed=labels)
        assert reviews <= binom.ppf(0.9999, streams // 20, 1 - CONFIDENCE)

"""Calibration and thresholds: what is fitted, what is reached, and what is written."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.calibration import apply, carried_over, fit
from safepassage.scoring_worker.manifest import (
    IsotonicCalibration,
    PlattCalibration,
    Thresholds,
    TypeThreshold,
)
from safepassage.scoring_worker.threshold_fitting import Target, fit_threshold, fit_thresholds


def expected_error(scores, supported):
    """Mean distance between score and share of supported, over ten bins."""
    which = np.minimum((scores * 10).astype(int), 9)
    return np.mean(
        [
            abs(scores[which == at].mean() - supported[which == at].mean())
            for at in set(which.tolist())
        ]
    )


def skewed(count, seed=0):
    """Overconfident scores: a pair of score p is supported with probability p³."""
    draws = np.random.default_rng(seed)
    raw = draws.uniform(0.01, 0.99, count)
    return raw, draws.random(count) < raw**3


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_calibration_makes_scores_honest(kind):
    """The expected calibration error falls, on other rows than those it was fitted on."""
    raw, supported = skewed(2000)
    other, labels = skewed(2000, seed=1)
    fitted = fit(raw, supported, kind)
    assert expected_error(apply(fitted, other), labels) < 0.5 * expected_error(other, labels)


def test_auto_takes_isotonic_only_with_enough_labels():
    """Few labels get the two-number curve."""
    assert isinstance(fit(*skewed(100)), PlattCalibration)
    assert isinstance(fit(*skewed(600)), IsotonicCalibration)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["platt", "isotonic"]),
    st.integers(0, 50),
    st.lists(st.floats(0, 1), min_size=2, max_size=20),
)
def test_calibrated_scores_keep_their_order_and_range(kind, seed, scores):
    """Whatever is fitted: in [0, 1], and a higher score never becomes a lower one."""
    calibrated = apply(fit(*skewed(60, seed), kind), sorted(scores))
    assert ((calibrated >= 0) & (calibrated <= 1)).all()
    assert (np.diff(calibrated) >= -1e-12).all()


def test_a_missing_score_stays_missing():
    """NaN in, NaN out: calibration cannot invent a measurement."""
    for calibration in (None, fit(*skewed(60), "platt"), fit(*skewed(60), "isotonic")):
        assert np.isnan(apply(calibration, [0.2, np.nan]))[1]
        assert np.isfinite(apply(calibration, [0.2, np.nan]))[0]


@pytest.mark.parametrize(
    ("scores", "labels"), [([0.1, 0.2], [1, 1]), ([0.1, np.nan], [1, 0]), ([], [])]
)
def test_what_cannot_be_fitted_is_refused(scores, labels):
    """One class, or a pair without a score."""
    with pytest.raises(ValueError, match="calibrat"):
        fit(scores, labels)


def flags(scores, supported, threshold):
    flagged = np.asarray(scores) < threshold
    unsupported = ~np.asarray(supported)
    hits = (flagged & unsupported).sum()
    return hits / max(flagged.sum(), 1), hits / max(unsupported.sum(), 1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=60),
    st.sampled_from(["precision", "recall", "refused", "f1"]),
    st.floats(0.5, 1),
)
def test_a_threshold_reaches_its_target_or_says_so(rows, measure, value):
    """The reported precision and recall are those that the threshold really gives."""
    scores = [score / 20 for score, _ in rows]
    supported = [label for _, label in rows]
    fitted = fit_threshold(scores, supported, Target(measure=measure, value=value))
    precision, recall = flags(scores, supported, fitted.value)
    assert fitted.precision == pytest.approx(precision)
    assert fitted.recall == pytest.approx(recall)
    if measure == "recall" and fitted.met and fitted.unsupported:
        assert recall >= value
    if measure == "precision" and fitted.met and (np.asarray(scores) < fitted.value).any():
        assert precision >= value
    right = [score for score, label in zip(scores, supported, strict=True) if label]
    if measure == "refused" and right:
        assert sum(score < fitted.value for score in right) <= value * len(right)


def test_of_the_thresholds_that_refuse_no_more_the_highest_is_taken():
    scores, supported = [0.1, 0.2, 0.3, 0.4, 0.5], [True, False, False, True, True]
    fitted = fit_threshold(scores, supported, Target(measure="refused", value=0.4))
    assert fitted.value == pytest.approx(0.35)
    assert (fitted.recall, fitted.met) == (1.0, True)
    none = fit_threshold(scores, supported, Target(measure="refused", value=0.0))
    assert none.value <= 0.1


def test_a_recall_target_costs_no_more_precision_than_needed():
    """Of two thresholds that reach the recall, the one with fewer false alarms is taken."""
    scores, supported = [0.1, 0.2, 0.3, 0.4], [False, False, True, True]
    fitted = fit_threshold(scores, supported, Target(measure="recall", value=1.0))
    assert fitted.value == pytest.approx(0.25)
    assert (fitted.precision, fitted.recall, fitted.met) == (1.0, 1.0, True)


def test_types_with_too_few_labels_fall_back():
    """A type gets its own threshold only with 40 labels and 10 of each class."""
    chooser = random.Random(0)
    rows = [("Many", 100), ("Few", 30), ("One Sided", 60)]
    types = [name for name, count in rows for _ in range(count)]
    supported = [name == "One Sided" or chooser.random() < 0.5 for name in types]
    scores = [0.6 * label + 0.4 * chooser.random() for label in supported]
    thresholds, fitted = fit_thresholds(scores, supported, types, Target())
    assert set(thresholds.by_type) == {"Many"}
    assert thresholds.by_type["Many"].n == 100
    assert thresholds.of("many") == thresholds.by_type["Many"].value
    assert thresholds.of("Few") == thresholds.of("Never Seen") == fitted[""].value


KNOWN = Thresholds(
    default=0.45,
    by_type={CLAIM_TYPE: TypeThreshold(value=0.18, n=591), "Rent": TypeThreshold(value=0.7, n=50)},
)


def two_classes(entity_type, count):
    """Scores, labels and types of ``count`` pairs, half of them supported."""
    supported = [at % 2 == 0 for at in range(count)]
    return [0.8 if label else 0.3 for label in supported], supported, [entity_type] * count


def test_a_type_keeps_its_threshold_until_there_are_enough_labels_of_it():
    scores, supported, types = map(
        sum, zip(two_classes("Date", 60), two_classes("rent", 12), strict=True), ([], [], [])
    )
    thresholds, fitted = fit_thresholds(scores, supported, types, Target(), known=KNOWN)
    assert thresholds.of(CLAIM_TYPE) == 0.18
    assert thresholds.of("Rent") == 0.7
    assert thresholds.default == fitted[""].value == pytest.approx(0.55)
    scores, supported, types = two_classes("RENT", 60)
    thresholds, _ = fit_thresholds(scores, supported, types, Target(), known=KNOWN)
    assert thresholds.of("Rent") == pytest.approx(0.55)
    assert list(map(str.casefold, thresholds.by_type)) == [CLAIM_TYPE.casefold(), "rent"]


def test_labels_of_claims_leave_the_threshold_of_values_alone():
    rows = two_classes(CLAIM_TYPE, 20)
    thresholds, _ = fit_thresholds(*rows, Target(), known=KNOWN)
    assert thresholds.of(CLAIM_TYPE) == pytest.approx(0.55)
    assert (thresholds.default, thresholds.of("Rent")) == (0.45, 0.7)
    alone, _ = fit_thresholds(*rows, Target())
    assert alone.default == pytest.approx(0.55), "where nothing is known, it is all there is"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([None, "platt", "isotonic"]),
    st.sampled_from([None, "platt", "isotonic"]),
    st.integers(0, 50),
    st.floats(0, 1, exclude_max=True),
)
def test_a_threshold_carried_over_stops_what_it_stopped(before, after, seed, value):
    """And passes what it passed, but where the other calibration tells the two no more apart."""
    one, other = (
        fit(*skewed(80, seed + at), kind) if kind else None
        for at, kind in enumerate((before, after))
    )
    moved = carried_over(Thresholds(default=value), one, other).default
    raw = np.linspace(0, 1, 2001)
    passed = apply(one, raw) >= value
    passes = (apply(other, raw) >= moved) & (moved < 1.0)  # at 1 the scorer lets nothing pass
    assert not (passes & ~passed).any()
    if other is None and moved < 1.0:
        assert (passes == passed).mean() > 0.999


def test_what_lets_nothing_pass_lets_nothing_pass_afterwards():
    closed = Thresholds(default=1.0, by_type=KNOWN.by_type)
    moved = carried_over(closed, None, fit(*skewed(600)))
    assert moved.default == 1.0
    assert moved.by_type["Rent"].value < 0.7, "scores of .7 are right in a third of the cases"

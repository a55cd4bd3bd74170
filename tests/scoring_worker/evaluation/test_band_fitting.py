"""The band of a cascade, fitted to what its second may be asked."""

from __future__ import annotations

import numpy as np
import pytest

from safepassage.schemas import Assessment, Finding
from safepassage.scoring_worker.evaluation.band_fitting import fit_band
from safepassage.scoring_worker.evaluation.model_calibration import Asking
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.scorer import Pair


class First:
    """Scores by position, threshold .5; a contradiction where a score is negative."""

    def __init__(self, scores):
        self.scores = scores

    def assess(self, pairs):
        own = {"scorer": "first", "revision": "1", "threshold": 0.5}
        denied = (Finding(code="date_differs"),)
        return [
            Assessment(**own, score=abs(score), findings=denied if score < 0 else ())
            for score, _ in zip(self.scores, pairs, strict=True)
        ]


def fitted(scores, labels, second, most):
    pairs = [Pair("a quote", f"Fact: {at}", "Fact", str(at)) for at in range(len(scores))]
    second, labels = (np.array(one, dtype=bool) for one in (second, labels))
    return fit_band(First(scores), pairs, second, labels, most)


SCORES = [0.95, 0.9, 0.85, 0.6, 0.55, 0.45, 0.4, 0.1, 0.05, 0.02]
RIGHT = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]


def test_it_asks_where_the_first_errs_and_no_more_than_it_may():
    """A second that knows is asked about the four in the middle, which the first has wrong."""
    found = fitted(SCORES, RIGHT, RIGHT, 0.4)
    assert (found.asked, found.wrong_stopped, found.right_stopped) == (0.4, 1.0, 0.0)
    assert 0.1 < found.low <= 0.4
    assert 0.6 <= found.high < 0.85
    half = fitted(SCORES, RIGHT, RIGHT, 0.2)
    assert half.asked == 0.2
    assert half.wrong_stopped - half.right_stopped < 1
    assert fitted(SCORES, RIGHT, RIGHT, 1.0).asked == 0.4, "a question that changes nothing is none"


def test_a_second_that_errs_is_not_asked():
    assert fitted(SCORES, RIGHT, [not one for one in RIGHT], 1.0).asked == 0.0
    assert fitted(SCORES, RIGHT, RIGHT, 0.0).asked == 0.0


def test_what_a_check_contradicts_is_stopped_and_nobody_is_asked():
    found = fitted([-0.9, 0.6, 0.55, 0.4], [0, 1, 0, 1], [1, 1, 0, 1], 1.0)
    assert found.wrong_stopped == 1.0
    assert found.asked < 1


def test_labels_of_one_class_are_refused():
    with pytest.raises(DatasetError, match="unsupported"):
        fitted([0.4, 0.6], [1, 1], [1, 1], 0.5)


def test_a_cost_is_a_share_where_the_price_is_known():
    assert Asking(most=0.3).share(None) == 0.3
    assert Asking(usd=9.0).share(30e-6) == pytest.approx(0.3)
    assert Asking(usd=90.0).share(30e-6) == 1.0
    with pytest.raises(DatasetError, match="USD_PER_MILLION"):
        Asking(usd=9.0).share(None)

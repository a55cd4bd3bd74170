"""Threshold and figures of sources left out."""

from __future__ import annotations

import numpy as np
import pytest

from recipes.source_figures import (
    answer_blocks,
    best_threshold,
    claim_threshold,
    figures,
    mean_figures,
)
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.manifest import Thresholds
from safepassage.scoring_worker.training.judged_pairs import Judged


def judged(labels):
    pairs = [LabelledPair("a", "A", "b", label, "k") for label in labels]
    return Judged(pairs, [()] * len(pairs))


def test_the_threshold_is_the_best_for_the_mean_source():
    """A large source does not outvote two small ones."""
    sources = {"large": judged([0] * 50 + [1] * 50), "s": judged([0, 1]), "t": judged([0, 1])}
    scores = {
        "large": np.array([0.1] * 50 + [0.3] * 50),
        "s": np.array([0.5, 0.9]),
        "t": np.array([0.5, 0.9]),
    }
    assert best_threshold(sources, scores) == 0.55
    assert best_threshold({"large": sources["large"]}, scores) == 0.15


def test_figures_are_of_the_unsupported():
    sources = {"a": judged([0, 0, 1, 1]), "of one label": judged([1])}
    scores = {"a": np.array([0.1, 0.6, 0.3, 0.8]), "of one label": np.array([0.9])}
    found = figures(sources, scores, Thresholds())
    assert found == {"a": {"rows": 4, "auroc": 0.75, "caught": 0.5, "refused": 0.5}}
    found["b"] = {"rows": 2, "auroc": 0.25, "caught": 1.0, "refused": 0.0}
    means = {"sources": 2, "auroc": 0.5, "caught": 0.75, "refused": 0.25}
    assert mean_figures(found) == means


def test_a_score_at_the_threshold_is_accepted():
    found = figures({"a": judged([0, 1])}, {"a": np.array([0.49, 0.5])}, Thresholds())
    assert (found["a"]["caught"], found["a"]["refused"]) == (1.0, 0.0)
    assert found["a"]["auroc"] == pytest.approx(1.0)


def test_the_threshold_of_claims_stops_at_most_its_share_of_good_answers():
    good, bad = np.ones(10, dtype=bool), np.zeros(4, dtype=bool)
    labels = np.concatenate([good, bad])
    scores = np.concatenate([np.linspace(0.05, 0.95, 10), [0.01, 0.02, 0.03, 0.5]])
    threshold = claim_threshold({"a": (labels, scores)}, 0.1)
    assert threshold == 0.15
    assert (scores[labels] < threshold).mean() == pytest.approx(0.1)
    assert claim_threshold({"a": (labels, scores)}, 0.0) == 0.05
    assert claim_threshold({"a": (good, np.zeros(10))}, 0.1) == 0.0


def test_what_is_stopped_by_share_is_of_sources_without_a_say_in_their_threshold():
    one = (np.array([True, True, False]), np.array([0.9, 0.8, 0.1]))
    other = (np.array([True, False, False]), np.array([0.5, 0.6, 0.2]))
    found = answer_blocks({"one": one, "other": other}, Thresholds(default=0.7))
    assert found["answers"]["other"]["refused"] == 1.0
    by_share = found["answers, by the good ones that may be stopped"]["0.1"]
    # "one" is judged at .5, which stops its bad answer; "other" at .8, which stops all of it.
    assert by_share == {"threshold": 0.5, "good stopped": 0.5, "bad stopped": 1.0}

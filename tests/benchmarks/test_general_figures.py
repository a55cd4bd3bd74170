"""The figures of benchmarks/general.py on a handful of scores whose figures are known."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "general_figures.py"


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("general_figures", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows(figures, *scored, kind="same_kind", language="en"):
    return [
        figures.Row("s", label, "pos" if label else kind, f"g{at}", language, score, 0.5, 1.0)
        for at, (label, score) in enumerate(scored)
    ]


def test_caught_allows_six_false_alarms_in_a_hundred_and_not_seven(figures):
    right = np.array([True] * 100 + [False] * 2)
    supported = np.linspace(0.5, 0.9, 100)
    sixth, seventh = supported[5:7]
    between = np.array([*supported, (sixth + seventh) / 2, (seventh + supported[7]) / 2])
    assert figures.caught_at(between, right, figures.FALSE_ALARMS) == 0.5


def test_equal_scores_are_flagged_together_or_not_at_all(figures):
    assert figures.caught_at(np.full(20, 0.5), np.array([True] * 10 + [False] * 10), 0.06) == 0.0


def test_review_is_all_where_every_wrong_one_scores_highest(figures):
    scores = np.array([0.1, 0.2, 0.9, 0.9])
    assert figures.review_at(scores, np.array([True, True, False, False])) == 1.0


def test_review_is_the_wrong_ones_alone_where_they_rank_below(figures):
    scores = np.array([0.8, 0.9, 0.1, 0.2])
    assert figures.review_at(scores, np.array([True, True, False, False])) == 0.5


def test_figures_without_both_classes_are_undefined(figures):
    found = figures.describe(rows(figures, (1, 0.9), (1, 0.2)))
    assert (found.auroc, found.caught, found.escaped, found.review) == (None, None, None, None)
    assert found.refused == 0.5


def test_what_was_not_judged_is_flagged_and_left_out_of_the_calibration_error(figures):
    given = rows(figures, (1, figures.NOT_JUDGED), (1, 1.0), (0, 0.0))
    found = figures.describe(given)
    assert (found.not_judged, found.refused, found.ece) == (1, 0.5, 0.0)


def test_words_that_always_stand_there_tell_nothing_apart(figures):
    assert figures.describe(rows(figures, (1, 0.9), (0, 0.1))).words == 0.5


def test_a_kind_is_measured_beside_every_right_case(figures):
    given = rows(figures, (1, 0.9), (0, 0.1)) + rows(figures, (1, 0.4), (0, 0.7), kind="denied")
    found = figures.of_kinds(given)
    assert {kind: (one.n, one.escaped) for kind, one in found.items()} == {
        "denied": (3, 1.0),
        "same_kind": (3, 0.0),
    }


def test_lines_stand_below_their_heading(figures):
    found = figures.describe(rows(figures, (1, 0.9), (0, 0.1)))
    assert len(figures.line_of("x", found)) == len(figures.HEADING)
    assert len(figures.short_line("x", found)) == len(figures.SHORT_HEADING)

"""The fit of the memory's weights, on made-up rows whose neighbours tell what the scorer missed."""

from __future__ import annotations

import random

import numpy as np

from recipes.memory_weights import (
    FEATURES,
    TracedRow,
    fit_weights,
    trials,
)
from safepassage.scoring_worker.memory.states import quantised, written


def rows(telling: bool, count: int = 160) -> list[TracedRow]:
    """Values of two kinds, of which one is wrong; the scorer knows of neither. Where they are not
    ``telling``, kind and label have nothing to do with each other."""
    chooser = random.Random(1)
    made = []
    for number in range(count):
        kind = chooser.random() < 0.5
        right = kind if telling else chooser.random() < 0.5
        noise = [chooser.gauss(0, 0.2) for _ in range(8)]
        state = quantised(np.array([1.0 if kind else -1.0, *noise]))
        made.append(
            TracedRow(
                group=f"doc-{number // 4}",
                label=int(right),
                entity_type="rent",
                shape="located",
                state=written(state),
            )
        )
    return made


def test_votes_that_tell_get_weight_and_others_next_to_none():
    told = fit_weights({"told": list(trials(rows(True), 40))})
    untold = fit_weights({"untold": list(trials(rows(False), 40))})
    assert sum(told.weights.values()) > 1
    assert sum(untold.weights.values()) < 0.3
    assert all(weight > 0 for weight in told.weights.values())
    assert told.weights.keys() <= set(FEATURES)


def test_no_document_is_both_reviewed_and_judged():
    every = rows(True)
    for trial in trials(every, 40, 3):
        assert len(trial.labels) == len(every) - 40
        assert all(len(column) == len(trial.labels) for column in trial.features.values())


def test_what_is_decided_without_a_reader_is_moved_by_nothing():
    decided = [row.model_copy(update={"state": None}) for row in rows(True)]
    weights = fit_weights({"told": list(trials(rows(True), 40))})
    for trial in trials(decided, 40, 2):
        assert trial.decided.all()
        assert not trial.shifts(weights).any()


def test_without_reviews_nothing_moves():
    weights = fit_weights({"told": list(trials(rows(True), 40))})
    (trial,) = trials(rows(True), 0, 1)
    assert len(trial.labels) == 160
    assert not trial.shifts(weights).any()

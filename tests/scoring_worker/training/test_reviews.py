"""Quality by the number of reviews: how they are drawn, learnt from, judged, and gone on with."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from safepassage.scoring_worker.evaluation.cases import Dataset, LabelledCase
from safepassage.scoring_worker.evaluation.judgement import JudgedCase
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.training import Recipe, TuningSettings
from safepassage.scoring_worker.training.reviews import curve as experiment
from safepassage.scoring_worker.training.reviews.draws import reviews, split
from safepassage.scoring_worker.training.reviews.figures import (
    CHECKS,
    Judged,
    caught_at,
    point_of,
)
from tests.scoring_worker import tiny

STAGE = TuningSettings(
    epochs=1, batch_size=8, learning_rate=1e-3, rehearsal=0.1, rehearsal_least=4, layers=1
)


def field(count: int = 90) -> Dataset:
    """Two years in a passage, of which one answers; three cases a document."""
    rng = random.Random(0)
    cases = []
    for at in range(count):
        signed, ended = rng.sample(range(1990, 2020), 2)
        pair = tiny.pair(
            f"signed {signed}, ended {ended}", str(signed if at % 2 else ended), "Signed"
        )
        cases.append(LabelledCase(str(at), f"d{at // 3}", bool(at % 2), "Signed", (pair,)))
    return Dataset("years", "pairs", "by hand", tuple(cases))


def test_reviews_are_drawn_from_what_was_stopped_and_stand_for_the_others():
    cases = field(40).cases
    outcomes = [JudgedCase(case, at < 10, 0.5) for at, case in enumerate(cases)]
    drawn = reviews(outcomes, 20, 2, 1)
    kinds = [pair.kind for pair in drawn]
    assert (kinds.count("spot_check"), kinds.count("review")) == (2, 18)
    assert {pair.weight for pair in drawn} == {10 / 2, 30 / 18}
    assert sum(pair.weight for pair in drawn) == pytest.approx(40)
    assert drawn == reviews(outcomes, 20, 2, 1) != reviews(outcomes, 20, 2, 2)
    assert [p.kind for p in reviews(outcomes, 35, 4, 1)].count("spot_check") == 5


def test_no_document_is_both_reviewed_and_judged():
    parts = split(field(), 40, 0, 20)
    reviewed, judged = ({case.group for case in own} for own in (parts.reviewed, parts.judged))
    assert len(parts.reviewed) >= 45
    assert 20 <= len(parts.judged) <= 22
    assert not reviewed & judged
    with pytest.raises(DatasetError, match="too few"):
        split(field(24), 10, 0, None)


def test_what_is_caught_is_counted_where_no_more_alarms_are_false():
    wrong = np.array([True] * 4 + [False] * 100)
    doubt = np.array([0.99, 0.95, 0.5, 0.1, *np.linspace(0, 0.98, 100)])
    assert caught_at(wrong, doubt, np.ones(104)) == 0.5
    assert caught_at(wrong, np.zeros(104), np.ones(104)) == 0.0
    assert caught_at(wrong[:4], doubt[:4], np.ones(4)) is None


def judged(doubt_of_wrong: float) -> Judged:
    supported = (True,) * 60 + (False,) * 60
    doubt = tuple([at / 200 for at in range(60)] + [doubt_of_wrong] * 60)
    return Judged(
        size=5, draw=0, reviewed=5, supported_reviewed=2, seconds=1, learnt={},
        supported=supported, accepted=tuple(d < 0.5 for d in doubt), doubt=doubt,
        groups=tuple(range(120)),
    )  # fmt: skip


def test_a_scorer_that_tells_them_apart_may_let_nearly_all_pass_and_a_blind_one_nothing():
    good, blind = point_of([judged(0.9)]), point_of([judged(0.0)])
    assert (good.auroc, good.macro_f1, good.caught) == (1, 1, 1)
    strict = next(one for one in good.certified if (one.wrong, one.risk) == (0.1, 0.02))
    assert strict.accepted == pytest.approx(0.9, abs=0.02)
    assert strict.broken <= 0.05
    assert [one.accepted for one in blind.certified if one.wrong == 0.1 and one.risk < 0.05] == [
        0,
        0,
    ]
    assert CHECKS == 300


def test_a_curve_is_learnt_once_and_gone_on_with(tmp_path, monkeypatch):
    base = tiny.reader_scorer(tmp_path / "base")
    settings = experiment.ReviewsSettings(
        base=str(base), sizes=(0, 24), draws=1, checks=0.4, recipe=Recipe(gold=STAGE)
    )
    told = []
    made = experiment.reviews_curve(field(), settings, tmp_path, lambda *said: told.append(said))
    assert [(point.size, point.draws) for point in made.results] == [(0, 1), (24, 1)]
    assert made.results[1].learnt[0]["reader"] == "learnt"
    assert told[-1] == ("draws of reviews learnt from", 2, 2)
    (kept,) = tmp_path.glob("reviews-*.jsonl")
    with kept.open("a") as file:
        file.write('{"size": 24, "dra')  # a kill in the middle of a line
    monkeypatch.setattr(experiment, "train", None)
    again = experiment.reviews_curve(field(), settings, tmp_path, lambda *_: None)
    assert again == made
    other = replace(settings, checks=0.1)
    with pytest.raises(TypeError):
        experiment.reviews_curve(field(), other, tmp_path, lambda *_: None)

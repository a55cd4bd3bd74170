"""Figure 4 of cross-encoders: both starts at no labels and at some, and what each kind adds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.experiments.curve_scorers import CurveSettings
from research.experiments.label_curve import label_curve
from research.experiments.tables import curve_table
from safepassage.scoring_worker.evaluation.cases import Dataset, LabelledCase
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.cross_encoder import (
    EncoderRecipe,
    train_cross_encoder,
)
from safepassage.scoring_worker.training.fine_tuning import FineTuning
from safepassage.scoring_worker.training.recipe import TrainingLabels
from tests.scoring_worker import tiny

QUICK = FineTuning(batch=8, epochs=6, base_rate=3e-3, head_rate=3e-3, max_length=64, truncate=True)


def pairs(count: int, *, turned: bool = False) -> list[LabelledPair]:
    """Supported where the span says "yes", or with ``turned`` where it says "no"."""
    return [
        LabelledPair(
            f"it says {'yes yes' if at % 2 else 'no no'}.", "Fact", "so",
            int((at % 2 == 1) != turned), "made", group=f"doc-{at}",
        )
        for at in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """(without silver, with silver): the first was taught the opposite of what the labels say."""
    folder = tmp_path_factory.mktemp("starts")
    encoder = tiny.bert(folder / "encoder", labels={0: "one", 1: "other"})
    recipe = EncoderRecipe(silver=QUICK)
    for name, turned in (("without", True), ("silver", False)):
        labels = TrainingLabels(silver=pairs(120, turned=turned))
        (folder / name).mkdir()
        train_cross_encoder((encoder, "tiny"), labels, folder / name, recipe)
    return str(folder / "without"), str(folder / "silver")


def dataset(count: int) -> Dataset:
    cases = tuple(
        LabelledCase(
            id=pair.group,
            group=pair.group,
            supported=bool(pair.label),
            entity_type="Fact",
            kind="made",
            parts=(tiny.pair(pair.premise, "so", "Fact"),),
        )
        for pair in pairs(count)
    )
    return Dataset(name="made", kind="pairs", labels="people", cases=cases)


def test_each_start_is_judged_as_it_is_and_with_gold_labels_of_other_documents(starts):
    without, silver = starts
    settings = CurveSettings(
        silver=silver, base=without, sizes=(0, 16), folds=2, learning_rate=3e-3
    )
    curve = label_curve(
        dataset(48), replace(settings, alone=replace(settings.alone, epochs=2)),
        on_progress=lambda *_: None,
    )  # fmt: skip
    points = {(point.silver, point.gold): point for point in curve.results}
    assert points.keys() == {(False, 0), (False, 16), (True, 0), (True, 16)}
    assert curve.trained == "encoder"
    assert curve.absent == ()
    assert all(point.n == 48 for point in points.values())
    assert points[True, 0].f1 == 1.0
    assert points[False, 0].auroc == 0.0  # it was taught the opposite
    gains = {(gain.by, gain.gold): gain for gain in curve.gains}
    assert gains.keys() == {("silver", 0), ("silver", 16), ("gold", 16)}
    assert gains["silver", 0].f1 == pytest.approx(1.0 - (points[False, 0].f1 or 0.0))
    low, high = gains["silver", 0].f1_ci
    assert low <= gains["silver", 0].f1 <= high
    assert "Cross-encoder" in str(curve_table(curve).caption)


def test_without_a_start_that_has_no_silver_its_points_are_absent(starts):
    settings = CurveSettings(silver=starts[1], sizes=(0,), folds=2)
    curve = label_curve(dataset(8), settings, on_progress=lambda *_: None)
    assert [(point.silver, point.gold) for point in curve.results] == [(True, 0)]
    assert len(curve.absent) == 1
    assert curve.gains == ()

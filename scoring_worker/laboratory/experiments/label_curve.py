"""Figure 4: F1 by the number of gold labels, with and without silver ones.

Each document is judged by models that saw none of its labels, and the decisions of all folds are
pooled. The threshold is .5 throughout, since at no labels nothing else is known.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from transformers.utils import logging as transformers_logging

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.laboratory.evaluation.cases import Dataset, learnable
from safepassage.scoring_worker.laboratory.evaluation.judgement import JudgedCase, evaluate
from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.laboratory.evaluation.metrics import Metrics, measure
from safepassage.scoring_worker.laboratory.evaluation.plots import axes_of
from safepassage.scoring_worker.laboratory.evaluation.sources import DatasetError, OnProgress
from safepassage.scoring_worker.laboratory.evaluation.splits import folds, in_order

from .curve_scorers import CurveSettings, FineTuned, MakeScorer, NothingLearned, RefitHead
from .published import LLM_F1


class CurvePoint(Metrics):
    """One point: ``gold`` labels, from a silver start or not. ``trained_on`` is how many labels
    there really were, on average over the folds: a fold may have fewer than asked."""

    silver: bool
    gold: int
    trained_on: float


class LabelCurve(Contract):
    """What ``evaluate --experiment figure4 --json`` writes.

    ``trained`` is what the labels trained, ``absent`` which points there are none of, and why.
    """

    version: Literal[1] = 1
    experiment: Literal["figure4"] = "figure4"
    dataset: str
    labels: str
    trained: Literal["reader", "head"]
    silver: str
    base: str
    folds: int
    seed: int
    results: tuple[CurvePoint, ...]
    absent: tuple[str, ...] = ()
    published_llm_f1: float = LLM_F1


def label_curve(
    dataset: Dataset, settings: CurveSettings, *, on_progress: OnProgress
) -> LabelCurve:
    """Train and judge at every size, from both starts.

    Raises:
        DatasetError: there are fewer documents than folds.
        ModelError: a start cannot be loaded.
    """
    _quiet()
    parts = _folds(dataset, settings)
    labels = [pair for fold in parts for pair in fold.judged_labels]
    make: MakeScorer = RefitHead(settings, labels) if settings.head_only else FineTuned(settings)
    points: list[CurvePoint] = []
    absent: list[str] = []
    asked = [(silver, size) for silver in (False, True) for size in sorted(set(settings.sizes))]
    for done, (silver, size) in enumerate(asked, start=1):
        try:
            points.append(_point(parts, make, silver, size))
        except NothingLearned as error:
            absent.append(f"{'with' if silver else 'without'} silver, {size} labels: {error}")
        on_progress("points of the curve", done, len(asked))
    return LabelCurve(
        dataset=dataset.name,
        labels=dataset.labels,
        trained="head" if settings.head_only else "reader",
        silver=settings.silver,
        base=make.base,
        folds=settings.folds,
        seed=settings.seed,
        results=tuple(points),
        absent=tuple(absent),
    )


def plot(path: Path, curve: LabelCurve) -> None:
    """F1 by gold labels, with the bootstrap's intervals; the paper's LLM as a line."""
    with axes_of(path) as axes:
        for silver, name in ((True, "silver, then gold"), (False, "gold only")):
            points = [point for point in curve.results if point.silver == silver]
            sizes = [point.gold for point in points]
            found = [point.f1 or 0.0 for point in points]
            intervals = [point.f1_ci or (0.0, 1.0) for point in points]
            axes.plot(sizes, found, marker="o", label=name)
            low, high = [one[0] for one in intervals], [one[1] for one in intervals]
            axes.fill_between(sizes, low, high, alpha=0.15)
        axes.axhline(curve.published_llm_f1, color="0.5", linestyle=":", label="paper's LLM")
        axes.set(
            xlabel="gold labels",
            ylabel="F1",
            title=f"{curve.dataset}: {curve.trained} by gold labels",
        )
        axes.legend()


def _quiet() -> None:
    """One bar for all models, not several for each."""
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class _Fold:
    """Cases to judge with their labels, and labels of other documents in the order they are given
    out."""

    judged: Dataset
    judged_labels: tuple[LabelledPair, ...]
    labels: tuple[LabelledPair, ...] = ()


def _folds(dataset: Dataset, settings: CurveSettings) -> list[_Fold]:
    groups = [case.group for case in dataset.cases]
    order = in_order(groups, settings.seed)
    if len(order) < settings.folds:
        raise DatasetError(f"{dataset.name}: {len(order)} documents for {settings.folds} folds")
    fold_of = folds(groups, settings.folds, settings.seed)
    cases = sorted(dataset.cases, key=lambda case: order[case.group])
    inside = [
        tuple(case for case in cases if fold_of[case.group] == number)
        for number in range(settings.folds)
    ]
    bare = [_Fold(replace(dataset, cases=own), tuple(learnable(own))) for own in inside]
    return [_given(fold, bare, order) for fold in bare]


def _given(fold: _Fold, folds: Sequence[_Fold], order: dict[str, int]) -> _Fold:
    """``fold`` with the labels of all others, by the order of their documents."""
    others = (label for other in folds if other is not fold for label in other.judged_labels)
    return replace(fold, labels=tuple(sorted(others, key=lambda label: order[label.group])))


def _point(folds: Sequence[_Fold], make: MakeScorer, silver: bool, size: int) -> CurvePoint:
    outcomes: list[JudgedCase] = []
    used = 0
    for fold in folds:
        labels = fold.labels[:size]
        used += len(labels)
        with tempfile.TemporaryDirectory(prefix="safepassage-") as folder:
            scorer = make(silver, labels, Path(folder))
            judged = evaluate(
                fold.judged, scorer, name="", on_progress=lambda *_: None, latency=False
            )
            scorer.close()
        outcomes += judged.outcomes
    metrics = measure(
        [one.case.supported for one in outcomes],
        [one.accepted for one in outcomes],
        [one.doubt for one in outcomes],
        [one.case.group for one in outcomes],
    )
    trained_on = used / len(folds)
    return CurvePoint(**metrics.model_dump(), silver=silver, gold=size, trained_on=trained_on)

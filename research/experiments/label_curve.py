"""Figure 4: F1 by the number of gold labels, with and without silver ones.

Each document is judged by models that saw none of its labels, and the decisions of all folds are
pooled. The threshold of scorers with a reader is .5 throughout, since at no labels nothing else is
known; that of cross-encoders is what their training fitted.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import structlog
from transformers.utils import logging as transformers_logging

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.cases import Dataset, learnable
from safepassage.scoring_worker.evaluation.intervals import Interval, Weights, bootstrap
from safepassage.scoring_worker.evaluation.judgement import JudgedCase, evaluate
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.metrics import Metrics, f1_of, measure
from safepassage.scoring_worker.evaluation.plots import axes_of
from safepassage.scoring_worker.evaluation.sources import DatasetError, OnProgress
from safepassage.scoring_worker.evaluation.splits import folds, in_order

from .curve_encoders import fine_tuned_encoders
from .curve_scorers import CurveSettings, FineTuned, MakeScorer, NothingLearned, RefitHead
from .published import LLM_F1

log = structlog.get_logger(__name__)


class CurvePoint(Metrics):
    """One point: ``gold`` labels, from a silver start or not. ``trained_on`` is how many labels
    there really were, on average over the folds: a fold may have fewer than asked."""

    silver: bool
    gold: int
    trained_on: float


class Gain(Contract):
    """What F1 gains at ``gold`` labels by the ``silver`` ones before them, or after silver by the
    ``gold`` ones. Both points judge the same cases: the interval is of the difference."""

    by: Literal["silver", "gold"]
    gold: int
    f1: float
    f1_ci: Interval | None


class LabelCurve(Contract):
    """What ``experiments figure4 --json`` writes.

    ``trained`` is what the labels trained, ``absent`` which points there are none of, and why.
    """

    version: Literal[1] = 1
    experiment: Literal["figure4"] = "figure4"
    dataset: str
    labels: str
    trained: Literal["reader", "head", "encoder"]
    silver: str
    base: str
    folds: int
    seed: int
    results: tuple[CurvePoint, ...]
    gains: tuple[Gain, ...] = ()
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
    trained, make = _maker(settings, labels)
    judged: dict[tuple[bool, int], list[JudgedCase]] = {}
    points: list[CurvePoint] = []
    absent: list[str] = []
    asked = [(silver, size) for silver in (False, True) for size in sorted(set(settings.sizes))]
    for done, (silver, size) in enumerate(asked, start=1):
        try:
            judged[silver, size], used = _judged(parts, make, silver, size)
            points.append(_point(judged[silver, size], silver, size, used))
            log.info("point", silver=silver, gold=size, f1=points[-1].f1, auroc=points[-1].auroc)
        except NothingLearned as error:
            absent.append(f"{'with' if silver else 'without'} silver, {size} labels: {error}")
        on_progress("points of the curve", done, len(asked))
    return LabelCurve(
        dataset=dataset.name,
        labels=dataset.labels,
        trained=trained,
        silver=settings.silver,
        base=make.base,
        folds=settings.folds,
        seed=settings.seed,
        results=tuple(points),
        gains=tuple(_gains(judged)),
        absent=tuple(absent),
    )


def _maker(
    settings: CurveSettings, labels: Sequence[LabelledPair]
) -> tuple[Literal["reader", "head", "encoder"], MakeScorer]:
    """What the labels train, and what trains it."""
    if settings.head_only:
        return "head", RefitHead(settings, labels)
    encoders = fine_tuned_encoders(settings)
    return ("encoder", encoders) if encoders else ("reader", FineTuned(settings))


def _gains(judged: dict[tuple[bool, int], list[JudgedCase]]) -> list[Gain]:
    """At every size with both starts, and after silver at every size with labels."""
    gains = []
    for silver, size in judged:
        after = judged.get((True, size), [])
        if not silver and after:
            gains.append(_gain("silver", size, judged[False, size], after))
        elif silver and size and (True, 0) in judged:
            gains.append(_gain("gold", size, judged[True, 0], after))
    return gains


def _gain(
    by: Literal["silver", "gold"],
    size: int,
    before: Sequence[JudgedCase],
    after: Sequence[JudgedCase],
) -> Gain:
    truth = np.array([not one.case.supported for one in before])
    flagged = [np.array([not one.accepted for one in cases]) for cases in (before, after)]

    def difference(weights: Weights) -> float:
        low, high = (f1_of(truth, found, weights) for found in flagged)
        return high - low

    interval = bootstrap(difference, [one.case.group for one in before])
    return Gain(by=by, gold=size, f1=difference(np.ones(len(truth))), f1_ci=interval)


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


def _judged(
    folds: Sequence[_Fold], make: MakeScorer, silver: bool, size: int
) -> tuple[list[JudgedCase], float]:
    """All cases as scorers that learnt from other documents judge them, and how many labels these
    learnt from on average."""
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
    return outcomes, used / len(folds)


def _point(
    outcomes: Sequence[JudgedCase], silver: bool, size: int, trained_on: float
) -> CurvePoint:
    metrics = measure(
        [one.case.supported for one in outcomes],
        [one.accepted for one in outcomes],
        [one.doubt for one in outcomes],
        [one.case.group for one in outcomes],
    )
    return CurvePoint(**metrics.model_dump(), silver=silver, gold=size, trained_on=trained_on)

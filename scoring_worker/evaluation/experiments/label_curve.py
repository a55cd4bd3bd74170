"""Figure 4: F1 by the number of gold labels, with and without silver ones.

A cross-encoder alone is fine-tuned, as in the paper: without silver it starts from its base,
with silver from a scorer that was trained on silver labels. Folds are disjoint by document:
each document is judged by models that saw none of its labels, and the decisions of all folds
are pooled. The threshold is .5 throughout, since at no labels nothing else is known.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from transformers.utils import logging as transformers_logging

from schemas.base import Contract
from scoring_worker.corruption import LabelledPair
from scoring_worker.evaluation.cases import Case, Dataset
from scoring_worker.evaluation.judging import Outcome, evaluate
from scoring_worker.evaluation.labels import learnable
from scoring_worker.evaluation.metrics import Metrics, measure
from scoring_worker.evaluation.plots import axes_of
from scoring_worker.evaluation.sources import DatasetError, OnProgress
from scoring_worker.loading import load_folder, open_manifest
from scoring_worker.manifest import ModelError, ScorerManifest, Thresholds
from scoring_worker.scorer import Scorer
from scoring_worker.training.encoder import EncoderSettings, TrainedEncoder, train_encoder
from scoring_worker.training.splits import split_by_group
from scoring_worker.training.starting_point import StartingPoint, starting_point

from .published import LLM_F1

SIZES = (0, 100, 200, 300, 400, 500)


@dataclass(frozen=True, slots=True)
class CurveSettings:
    """How the curve is made. ``silver`` is a scorer trained on silver labels, ``base`` what it
    was trained from; None takes the weights under ``silver``'s adapter.

    Every training runs all its epochs and keeps the best: from a fresh head, F1 stands still for
    the first of them, and stopping early would measure the patience and not the labels.
    """

    silver: str = "default"
    base: str | None = None
    sizes: tuple[int, ...] = SIZES
    folds: int = 5
    validation_share: float = 0.2
    training: EncoderSettings = field(
        default_factory=lambda: EncoderSettings(
            epochs=6, learning_rate=3e-4, batch_size=16, evaluations=1, patience=100
        )
    )
    seed: int = 0


class CurvePoint(Metrics):
    """One point: ``gold`` labels, from a silver start or not. ``trained_on`` is how many labels
    there really were, on average over the folds: a fold may have fewer than asked."""

    silver: bool
    gold: int
    trained_on: float


class LabelCurve(Contract):
    """What ``evaluate --experiment figure4 --json`` writes.

    ``absent`` says which points there are none of, and why.
    """

    version: Literal[1] = 1
    experiment: Literal["figure4"] = "figure4"
    dataset: str
    labels: str
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
    starts = {False: _base(settings), True: starting_point(settings.silver)}
    folds = _folds(dataset, settings)
    points: list[CurvePoint] = []
    absent: list[str] = []
    asked = [(silver, size) for silver in starts for size in sorted(set(settings.sizes))]
    for done, (silver, size) in enumerate(asked, start=1):
        try:
            points.append(_point(folds, starts[silver], silver, size, settings))
        except _NothingLearned as error:
            absent.append(f"{'with' if silver else 'without'} silver, {size} labels: {error}")
        on_progress("points of the curve", done, len(asked))
    return LabelCurve(
        dataset=dataset.name,
        labels=dataset.labels,
        silver=settings.silver,
        base=settings.base or starts[True].base,
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
        axes.set(xlabel="gold labels", ylabel="F1", title=f"{curve.dataset}: F1 by gold labels")
        axes.legend()


def _quiet() -> None:
    """One bar for all models, not several for each."""
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]


class _NothingLearned(Exception):
    """A start that cannot judge without training, asked to."""


@dataclass(frozen=True, slots=True)
class _Fold:
    """Cases to judge, and labels of other documents in the order they are given out."""

    judged: Dataset
    labels: tuple[LabelledPair, ...]


def _base(settings: CurveSettings) -> StartingPoint:
    """The start without silver: the weights under the silver scorer's adapter, or another."""
    if settings.base is not None:
        return starting_point(settings.base)
    silver = starting_point(settings.silver)
    if silver.adapter is None:
        raise ModelError(f"{settings.silver} has no adapter: name what it was trained from as base")
    return replace(silver, adapter=None, stack=None)


def _folds(dataset: Dataset, settings: CurveSettings) -> list[_Fold]:
    groups = sorted({case.group for case in dataset.cases})
    if len(groups) < settings.folds:
        raise DatasetError(f"{dataset.name}: {len(groups)} documents for {settings.folds} folds")
    random.Random(settings.seed).shuffle(groups)
    fold_of = {group: at % settings.folds for at, group in enumerate(groups)}
    order = {group: at for at, group in enumerate(groups)}
    cases = sorted(dataset.cases, key=lambda case: order[case.group])
    return [_fold(dataset, cases, fold_of, number) for number in range(settings.folds)]


def _fold(dataset: Dataset, cases: Sequence[Case], fold_of: dict[str, int], number: int) -> _Fold:
    inside = tuple(case for case in cases if fold_of[case.group] == number)
    outside = (case for case in cases if fold_of[case.group] != number)
    return _Fold(replace(dataset, cases=inside), tuple(learnable(outside)))


def _point(
    folds: Sequence[_Fold], start: StartingPoint, silver: bool, size: int, settings: CurveSettings
) -> CurvePoint:
    outcomes: list[Outcome] = []
    used = 0
    for fold in folds:
        labels = fold.labels[:size]
        used += len(labels)
        with tempfile.TemporaryDirectory(prefix="safepassage-") as folder:
            scorer = _scorer(start, silver, labels, Path(folder), settings)
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


def _scorer(
    start: StartingPoint,
    silver: bool,
    labels: Sequence[LabelledPair],
    folder: Path,
    settings: CurveSettings,
) -> Scorer:
    """The encoder as it starts, or fine-tuned on ``labels``."""
    if not labels:
        return _untrained(settings.silver if silver else str(start.weights))
    train, validation = split_by_group(labels, settings.validation_share, settings.seed)
    trained = train_encoder(
        start.weights, train, validation, folder, settings.training, adapter=start.adapter
    )
    return load_folder(folder, _manifest(start, trained))


def _untrained(name: str) -> Scorer:
    try:
        folder, manifest = open_manifest(name)
    except ModelError as error:
        raise _NothingLearned("its base was never trained to tell entailment") from error
    return load_folder(folder, _plain(manifest))


def _plain(manifest: ScorerManifest) -> ScorerManifest:
    """The encoder alone, at .5: without checks, calibration and fitted thresholds."""
    update = {"kind": "encoder", "stack": None, "calibration": None, "thresholds": Thresholds()}
    return manifest.model_copy(update=update)


def _manifest(start: StartingPoint, trained: TrainedEncoder) -> ScorerManifest:
    return ScorerManifest(
        name="curve",
        kind="encoder",
        base=start.base if trained.adapter else None,
        adapter=trained.adapter,
        labels=trained.entailment,
        max_length=trained.max_length,
    )

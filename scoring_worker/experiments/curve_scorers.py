"""The scorers of figure 4: what a number of gold labels makes of each start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scoring_worker.corruption import LabelledPair
from scoring_worker.evaluation.splits import split_by_group
from scoring_worker.loading import load_encoder, load_folder, open_manifest
from scoring_worker.manifest import ModelError, ScorerManifest, Thresholds
from scoring_worker.scorer import Scorer
from scoring_worker.scorers.default import ENCODER, ENCODER_ALONE, UNDECIDED, Stack, StackedScorer
from scoring_worker.training.base import StartingPoint, starting_point
from scoring_worker.training.encoder import EncoderSettings, TrainedEncoder, train_encoder
from scoring_worker.training.stack import StackSettings, fit_stack

SIZES = (0, 100, 200, 300, 400, 500)


@dataclass(frozen=True, slots=True)
class CurveSettings:
    """How the curve is made. ``silver`` is a scorer trained on silver labels, ``base`` what it
    was trained from; None takes the weights under ``silver``'s adapter.

    ``head_only`` refits the head of ``silver`` and leaves its encoder alone, in seconds. Otherwise
    encoders are fine-tuned: every training runs all its epochs and keeps the best, since from a
    fresh head F1 stands still for the first of them, and stopping early would measure the patience
    and not the labels.
    """

    silver: str = "default"
    base: str | None = None
    head_only: bool = False
    sizes: tuple[int, ...] = SIZES
    folds: int = 5
    validation_share: float = 0.2
    training: EncoderSettings = field(
        default_factory=lambda: EncoderSettings(
            epochs=6, learning_rate=3e-4, batch_size=16, evaluations=1, patience=100
        )
    )
    seed: int = 0


class NothingLearned(Exception):
    """A start that cannot judge without training, asked to."""


class MakeScorer(Protocol):
    """Makes the scorer that ``labels`` give, from a ``silver`` start or not."""

    @property
    def base(self) -> str:
        """What the start without silver is."""

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The scorer; its files, where it needs any, go to ``folder``.

        Raises:
            NothingLearned: this start needs labels.
        """


class FineTuned:
    """A cross-encoder alone, fine-tuned as in the paper.

    Raises:
        ModelError: a start cannot be loaded.
    """

    def __init__(self, settings: CurveSettings) -> None:
        self._settings = settings
        self._starts = {False: _base(settings), True: starting_point(settings.silver)}
        self.base = settings.base or self._starts[True].base

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The encoder as it starts, or fine-tuned on ``labels``."""
        start, settings = self._starts[silver], self._settings
        if not labels:
            return _untrained(settings.silver if silver else str(start.weights))
        train, validation = split_by_group(labels, settings.validation_share, settings.seed)
        trained = train_encoder(
            start.weights, train, validation, folder, settings.training, adapter=start.adapter
        )
        return load_folder(folder, _manifest(start, trained))


class RefitHead:
    """The whole scorer with its checks, of which labels refit the head: `train --head-only`.

    With silver the head starts from the one fitted on silver labels. Without, it is fitted on the
    gold labels alone, to the checks alone: an encoder that nothing trained has no opinion.

    Raises:
        ModelError: the silver scorer cannot be loaded, or has no head.
    """

    base = "the checks without an encoder"

    def __init__(self, settings: CurveSettings, pairs: Sequence[LabelledPair]) -> None:
        folder, manifest = open_manifest(settings.silver)
        if manifest.kind != "stacked":
            raise ModelError(f"{settings.silver} is an encoder without a head to refit")
        update = {"calibration": None, "thresholds": Thresholds()}
        self._manifest = manifest.model_copy(update=update)
        self._start = Stack.of(manifest)
        self._encoder = load_encoder(manifest, folder)
        self._opinions = dict(zip(map(id, pairs), self._asked(pairs), strict=True))
        self._pairs = pairs  # keeps the ids theirs

    def __call__(self, silver: bool, labels: Sequence[LabelledPair], folder: Path) -> Scorer:
        """The head as it starts, or refitted on ``labels``; nothing is written."""
        if labels:
            stack = self._fitted(labels) if silver else _checks_alone(labels)
        elif silver:
            stack = self._start
        else:
            raise NothingLearned("nothing says how much each check counts")
        update = {"stack": stack.model_dump(mode="json")}
        return StackedScorer(self._manifest.model_copy(update=update), self._encoder)

    def _fitted(self, labels: Sequence[LabelledPair]) -> Stack:
        opinions = [self._opinions[id(pair)] for pair in labels]
        return fit_stack(labels, opinions, start=self._start)

    def _asked(self, pairs: Sequence[LabelledPair]) -> NDArray[np.float64]:
        return self._encoder.probabilities(
            [pair.premise for pair in pairs], [pair.pair.hypothesis for pair in pairs]
        )


def _checks_alone(labels: Sequence[LabelledPair]) -> Stack:
    fitted = fit_stack(labels, [UNDECIDED] * len(labels), StackSettings(humility=0))
    shapes = {
        shape: one.model_copy(
            update={
                "weights": {
                    name: weight
                    for name, weight in one.weights.items()
                    if name not in (ENCODER, ENCODER_ALONE)
                }
            }
        )
        for shape, one in fitted.shapes.items()
    }
    return Stack(shapes=shapes)


def _base(settings: CurveSettings) -> StartingPoint:
    """The start without silver: the weights under the silver scorer's adapter, or another."""
    if settings.base is not None:
        return starting_point(settings.base)
    silver = starting_point(settings.silver)
    if silver.adapter is None:
        raise ModelError(f"{settings.silver} has no adapter: name what it was trained from as base")
    return replace(silver, adapter=None, stack=None)


def _untrained(name: str) -> Scorer:
    try:
        folder, manifest = open_manifest(name)
    except ModelError as error:
        raise NothingLearned("its base was never trained to tell entailment") from error
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

"""The paper's recipe: base encoder, then silver labels, then gold ones (section 4.2.2).

Behind the encoder comes what the paper does not have: the stack with the deterministic checks,
and thresholds. A run writes a model directory that `load_scorer` takes, with a card that says
what it rests on. An interrupted run goes on where it stopped; a finished scorer can be trained
further on reviewers' labels, or have only its head refitted, which takes seconds.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import orjson
import structlog
from numpy.typing import NDArray
from pydantic import JsonValue

from scoring_worker.corruption import LabelledPair
from scoring_worker.encoders.encoder import Encoder
from scoring_worker.encoders.weights import base_digest
from scoring_worker.evaluation.metrics import at_threshold
from scoring_worker.evaluation.splits import split_by_group
from scoring_worker.loading import load_encoder
from scoring_worker.manifest import MANIFEST_NAME, ModelError, ScorerManifest, Thresholds
from scoring_worker.thresholds import Target, fit_thresholds

from .base import StartingPoint, starting_point
from .card import write_card
from .encoder import ADAPTER_FOLDER, EncoderSettings, TrainedEncoder, train_encoder
from .stack import StackSettings, fit_stack, stack_scores

log = structlog.get_logger(__name__)

STAGES_FOLDER = "stages"


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """What to learn from. ``gold`` was judged by people, ``silver`` by an LLM or made by
    corruption; the encoder does not see ``head``, which is for the stack alone. ``sources``
    names the sets and their licences for the model card."""

    gold: Sequence[LabelledPair] = ()
    silver: Sequence[LabelledPair] = ()
    head: Sequence[LabelledPair] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``head_only`` leaves the encoder as it is and refits stack and thresholds.

    ``max_length`` is how many tokens the scorer reads; training may cut earlier to save time.
    The gold stage is gentler than the silver one: ``gold_learning_rate``. ``target`` is what
    the thresholds are fitted to on the validation pairs.
    """

    name: str = "trained"
    silver: EncoderSettings = field(default_factory=EncoderSettings)
    gold_learning_rate: float = 2e-4
    gold_epochs: float = 4.0
    stack: StackSettings = field(default_factory=StackSettings)
    target: Target = field(default_factory=Target)
    validation_share: float = 0.2
    max_length: int = 256
    head_only: bool = False
    seed: int = 0

    @property
    def gold(self) -> EncoderSettings:
        """Settings of the gold stage."""
        return replace(self.silver, learning_rate=self.gold_learning_rate, epochs=self.gold_epochs)


def train(
    base: str | Path,
    labels: TrainingLabels,
    folder: Path,
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
) -> ScorerManifest:
    """Train a scorer into ``folder`` and return what its scorer.json says.

    Args:
        base: "default", a scorer's folder, a folder of weights, or a hub id.
        folder: a new folder, or with ``resume`` that of an interrupted run.

    Raises:
        ModelError: the base cannot be used, or ``folder`` already holds a scorer.
        ValueError: the labels are not of both kinds, or too few to validate on.
    """
    recipe = recipe or Recipe()
    start = starting_point(base)
    _make_room(folder, resume)
    pairs = _SplitLabels.of(labels, recipe)
    trained = None if recipe.head_only else _train_stages(start, pairs, folder, recipe, resume)
    manifest = _encoder_manifest(start, trained, folder, recipe, labels)
    fitted = _fit_head(manifest, folder, start, pairs, recipe)
    shutil.rmtree(folder / STAGES_FOLDER, ignore_errors=True)
    write_card(fitted, folder, recipe.target, counts=_counts(labels))
    return fitted.save(folder)


def _make_room(folder: Path, resume: bool) -> None:
    if (folder / MANIFEST_NAME).exists():
        raise ModelError(f"{folder} already holds a scorer; choose another folder")
    if folder.exists() and any(folder.iterdir()) and not resume:
        raise ModelError(f"{folder} is not empty; choose another folder, or resume")
    folder.mkdir(parents=True, exist_ok=True)


Split = tuple[list[LabelledPair], list[LabelledPair]]
"""(train, validation)."""


@dataclass(frozen=True, slots=True)
class _SplitLabels:
    silver: Split
    gold: Split
    head: Sequence[LabelledPair]

    @classmethod
    def of(cls, labels: TrainingLabels, recipe: Recipe) -> _SplitLabels:
        return cls(
            silver=split_by_group(labels.silver, recipe.validation_share / 2, recipe.seed),
            gold=split_by_group(labels.gold, recipe.validation_share, recipe.seed),
            head=labels.head,
        )


def _train_stages(
    start: StartingPoint, pairs: _SplitLabels, folder: Path, recipe: Recipe, resume: bool
) -> TrainedEncoder:
    """Silver, then gold, whichever there are; the second goes on from the first."""
    stages = [("silver", pairs.silver, recipe.silver), ("gold", pairs.gold, recipe.gold)]
    weights, adapter, trained = start.weights, start.adapter, None
    for name, (train_pairs, validation), settings in stages:
        if not train_pairs:
            continue
        log.info("stage", stage=name, pairs=len(train_pairs), validation=len(validation))
        target = folder / STAGES_FOLDER / name
        trained = train_encoder(
            weights, train_pairs, validation, target, settings, adapter=adapter, resume=resume
        )
        if trained.adapter is None:
            weights = target
        else:
            adapter = target / trained.adapter
    if trained is None:
        raise ValueError("there are no labels to train on")
    return trained


def _encoder_manifest(
    start: StartingPoint,
    trained: TrainedEncoder | None,
    folder: Path,
    recipe: Recipe,
    labels: TrainingLabels,
) -> ScorerManifest:
    """Copy the encoder's files into ``folder`` and describe them."""
    adapter = start.adapter if trained is None else _adapter_of(trained)
    full = trained is not None and trained.adapter is None
    if adapter is not None:
        _copy_adapter(adapter, folder / ADAPTER_FOLDER, start.base)
    if full and trained is not None:
        for path in trained.folder.iterdir():
            if path.is_file():
                shutil.copy2(path, folder / path.name)
    return ScorerManifest(
        name=recipe.name,
        kind="encoder",
        base=None if full else start.base,
        base_digest=None if full else base_digest(start.weights),
        adapter=ADAPTER_FOLDER if adapter is not None else None,
        labels=trained.entailment if trained else 0,
        max_length=start.max_length or recipe.max_length,
        precision=start.precision,
        trained_on=tuple(dict.fromkeys((*start.trained_on, *labels.sources))),
    )


_ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")


def _copy_adapter(source: Path, target: Path, base: str) -> None:
    """The two files that matter, without the path that the base had on this machine."""
    target.mkdir(exist_ok=True)
    for name in _ADAPTER_FILES:
        shutil.copy2(source / name, target / name)
    config_path = target / _ADAPTER_FILES[0]
    config = orjson.loads(config_path.read_bytes())
    config["base_model_name_or_path"] = base
    config_path.write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2) + b"\n")


def _adapter_of(trained: TrainedEncoder) -> Path | None:
    return trained.folder / trained.adapter if trained.adapter else None


def _fit_head(
    manifest: ScorerManifest,
    folder: Path,
    start: StartingPoint,
    pairs: _SplitLabels,
    recipe: Recipe,
) -> ScorerManifest:
    """Fit the stack, then thresholds on validation pairs that no coefficient was fitted on.

    Thresholds of single types are fitted to gold labels only: the types of silver ones are
    often invented.
    """
    held = pairs.silver[1]
    if pairs.gold[1]:
        fit_on, judged = [*pairs.head, *held, *pairs.gold[0]], pairs.gold[1]
    else:
        fit_on, judged = list(pairs.head) or held, held
    encoder = load_encoder(manifest, folder)
    stack = fit_stack(fit_on, _probabilities(encoder, fit_on), recipe.stack, start=start.stack)
    scores = stack_scores(stack, judged, _probabilities(encoder, judged))
    supported = [pair.label == 1 for pair in judged]
    thresholds, fitted = fit_thresholds(
        scores, supported, [pair.entity_type for pair in judged], recipe.target
    )
    if not pairs.gold[1]:
        thresholds, fitted = Thresholds(default=thresholds.default), {"": fitted[""]}
    found: dict[str, JsonValue] = {"validation": at_threshold(scores, judged, thresholds.default)}
    found["thresholds"] = {name or "all": f.model_dump(mode="json") for name, f in fitted.items()}
    return manifest.model_copy(
        update={
            "kind": "stacked",
            "stack": stack.model_dump(mode="json"),
            "thresholds": thresholds,
            "metrics": found,
        }
    )


def _probabilities(encoder: Encoder, pairs: Sequence[LabelledPair]) -> NDArray[np.float64]:
    """The encoder's p(entailment) of each pair."""
    return encoder.probabilities(
        [pair.premise for pair in pairs], [pair.pair.hypothesis for pair in pairs]
    )


def _counts(labels: TrainingLabels) -> dict[str, int]:
    pairs = [*labels.gold, *labels.silver]
    return {
        "gold": len(labels.gold),
        "silver": len(labels.silver),
        "supported": sum(pair.label for pair in pairs),
        "unsupported": sum(1 - pair.label for pair in pairs),
    }

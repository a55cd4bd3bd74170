"""Fine-tunes a cross-encoder on "{Type}: {Value}" against the span (SafePassage, section 4.2.2).

Silver labels first and gold ones after give the paper's NLI_synth>human; either alone its NLI_synth
and NLI_human. Each stage keeps the weights of the epoch with the best F1 of unsupported on labels
of documents that it did not see, and ends when no better one follows. F1 is taken at the threshold
that serves the epoch best, since a new head calls everything supported for its first hundred steps:
at .5 the first epoch, F1 0, was kept and ended the stage. The threshold is fitted on the same
held-out labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import structlog
import torch
from pydantic import JsonValue

from safepassage.scoring_worker.encoders.published import head_of, label_named_yes
from safepassage.scoring_worker.encoders.weights import (
    head_kind,
    load_config,
    load_full,
    load_tokenizer,
    load_with_new_head,
    longest_input,
)
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.metrics import at_threshold
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.evaluation.splits import split_by_group
from safepassage.scoring_worker.learnt_from import LearntFrom, more_learnt
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ScorerManifest, Thresholds
from safepassage.scoring_worker.scorers.folders import load_folder
from safepassage.scoring_worker.threshold_fitting import (
    MIN_PER_CLASS,
    Target,
    fit_threshold,
    fit_thresholds,
)

from .card import write_card
from .fine_tuning import Example, FineTuning, fine_tune, support
from .recipe import TrainingLabels

log = structlog.get_logger(__name__)

MAX_LENGTH = 256


NEW_HEAD_RATE = 1e-3
"""A new head learns at this rate or more: at 1e-4 a few hundred labels did not move it."""
HEAD_FACTOR = 5
"""A head that was taught before learns so much faster than the layers below it."""


def stage(epochs: int, base_rate: float = 2e-5) -> FineTuning:
    """A stage of at most ``epochs``, at ``base_rate`` for the layers of the encoder."""
    return FineTuning(
        epochs=epochs,
        base_rate=base_rate,
        head_rate=HEAD_FACTOR * base_rate,
        max_length=MAX_LENGTH,
        truncate=True,
        epoch_steps=20,
    )


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """How to train. ``epochs`` of a stage are the most; ``patience`` is how many without a better
    F1 end it. ``validation_share`` of the documents of each kind of label is held out."""

    name: str = "trained"
    silver: FineTuning = field(default_factory=lambda: stage(3))
    gold: FineTuning = field(default_factory=lambda: stage(10))
    target: Target = field(default_factory=Target)
    validation_share: float = 0.2
    patience: int = 2
    seed: int = 0


def train_cross_encoder(
    base: tuple[Path, str],
    labels: TrainingLabels,
    folder: Path,
    recipe: EncoderRecipe | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> ScorerManifest:
    """Train an encoder into the empty ``folder``; ``base`` is its own folder, and its name.

    What this wrote before goes on from its head, and so does an NLI model, whose other labels then
    say no. Any other encoder gets a new head. Raises `ModelError` where it is no encoder, or a loss
    is no number; `ValueError` where the labels of a stage are all of one class."""
    recipe = recipe or EncoderRecipe()
    source, named = base
    torch.manual_seed(recipe.seed)
    config, tokenizer = load_config(source), load_tokenizer(source, named)
    model, label, before = _start(source, named)
    new = label is None
    seen = [(pair.group, pair.premise) for pair in (*labels.gold, *labels.silver)]
    # Refused before hours of training.
    learnt = more_learnt(before.learnt_from if before else LearntFrom(), seen)
    longest = min(MAX_LENGTH, longest_input(config, tokenizer))
    kept: dict[str, list[LabelledPair]] = {}
    curves: dict[str, JsonValue] = {}
    for stage, pairs, settings in (
        ("silver", labels.silver, recipe.silver),
        ("gold", labels.gold, recipe.gold),
    ):
        if pairs:
            train, held = split_by_group(pairs, recipe.validation_share, recipe.seed)
            log.info("stage", stage=stage, pairs=len(train), held_out=len(held))
            kept[stage] = held
            head_rate = max(settings.head_rate, NEW_HEAD_RATE) if new else settings.head_rate
            own = replace(settings, head_rate=head_rate, label=label or 0)
            new = False
            tuned = _Stage(model, tokenizer, held, own, recipe.patience)
            curves[stage] = [round(f1, 4) for f1 in tuned.run(train, on_progress)]
    model.cpu().eval().save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    manifest = ScorerManifest(
        name=recipe.name,
        kind="encoder",
        labels=label or 0,
        max_length=longest,
        trained_on=(*(before.trained_on if before else (named,)), *labels.sources),
        learnt_from=learnt,
        metrics={"validation_f1_by_epoch": curves},
        thresholds=before.thresholds if before else Thresholds(),
    )
    fitted = _with_thresholds(manifest, folder, kept, recipe.target)
    counts = {"gold": len(labels.gold), "silver": len(labels.silver)}
    write_card(fitted, folder, recipe.target, counts)
    return fitted.save(folder)


class _Stage:
    """One kind of labels: the best epoch by F1 on ``held`` stays in ``model``."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        held: Sequence[LabelledPair],
        settings: FineTuning,
        patience: int,
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._held = _examples(held)
        self._settings = settings
        self._patience = patience
        self._curve: list[float] = []
        self._reached: tuple[float, float] = (-1.0, -1.0)
        self._since = 0
        self._best: dict[str, torch.Tensor] = {}

    def run(self, train: Sequence[LabelledPair], on_progress: OnProgress) -> list[float]:
        fine_tune(
            self._model,
            self._tokenizer,
            _examples(train),
            self._settings,
            on_progress,
            after_epoch=self._after_epoch,
        )
        self._model.load_state_dict(self._best)
        return self._curve

    def _after_epoch(self) -> bool:
        said = support(self._model, self._tokenizer, self._held, self._settings)
        reached = _quality(said, [one.label for one in self._held])
        self._curve.append(reached[0])
        self._since += 1
        if reached > self._reached:
            self._reached, self._since = reached, 0
            state = self._model.state_dict()
            self._best = {name: one.detach().cpu().clone() for name, one in state.items()}
        log.info("epoch", number=len(self._curve), f1=round(reached[0], 4))
        return self._since < self._patience


def _quality(said: Sequence[float], supported: Sequence[bool]) -> tuple[float, float]:
    """F1 of unsupported at its best threshold, then AUROC, of held-out labels; 0 of none."""
    if not supported:
        return 0.0, 0.0
    fitted = fit_threshold(said, supported, Target())
    both = fitted.precision + fitted.recall
    f1 = 2 * fitted.precision * fitted.recall / both if both else 0.0
    ranking = Ranking([not one for one in supported], [-score for score in said])
    return f1, ranking.auroc(np.ones(len(said))) or 0.0


def _start(source: Path, named: str) -> tuple[Any, int | None, ScorerManifest | None]:
    """The model to train, the logit of its head that says yes (None of a new head), and what it
    says of itself where it was trained here before."""
    before = ScorerManifest.load(source) if (source / MANIFEST_NAME).exists() else None
    config = load_config(source)
    label = label_named_yes(config) if before is None else None
    if before is not None and before.base is None and before.labels < config.num_labels:
        label = before.labels
    elif label is not None and (known := head_of(named)) is not None and known.sentence_first:
        label = None  # the spans would be in the place of the claims
    if label is None or head_kind(config, source) == "tokens":
        return load_with_new_head(source), None, before
    return load_full(source, torch.float32), label, before


def _examples(pairs: Sequence[LabelledPair]) -> list[Example]:
    return [Example(pair.premise, pair.pair.hypothesis, bool(pair.label)) for pair in pairs]


def _with_thresholds(
    manifest: ScorerManifest, folder: Path, kept: dict[str, list[LabelledPair]], target: Target
) -> ScorerManifest:
    """Thresholds fitted on held-out gold labels, or on silver ones where there are no others; of
    too few of either class those that it started with."""
    held = kept.get("gold") or kept.get("silver") or []
    scorer = load_folder(folder, manifest, device="cpu")
    said = [one.score for one in scorer.assess([pair.pair for pair in held])]
    known = [(score, pair) for score, pair in zip(said, held, strict=True) if score is not None]
    supported = [bool(pair.label) for _, pair in known]
    if min(supported.count(True), supported.count(False)) < MIN_PER_CLASS:
        log.warning("threshold_not_fitted", reason="too few held-out labels of one class")
        return manifest
    scores = np.array([score for score, _ in known])
    types = [pair.entity_type for _, pair in known]
    thresholds, fitted = fit_thresholds(scores, supported, types, target)
    if "gold" not in kept:  # types of silver labels are often invented
        thresholds, fitted = Thresholds(default=thresholds.default), {"": fitted[""]}
    measured: dict[str, JsonValue] = {
        **manifest.metrics,
        "validation": at_threshold(
            np.array(scores), [pair for _, pair in known], thresholds.default
        ),
        "thresholds": {name or "all": f.model_dump(mode="json") for name, f in fitted.items()},
    }
    return manifest.model_copy(update={"thresholds": thresholds, "metrics": measured})

"""The paper's recipe: a base, then silver labels, then gold ones (section 4.2.2).

The reader is fine-tuned on both in turn, rehearsing what it knew; then the stack is refitted, and
thresholds are fitted on labels that neither has seen. An interrupted run goes on where it stopped;
with ``head_only`` the reader stays as it is.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog
from pydantic import JsonValue

from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import save_reader
from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.laboratory.evaluation.metrics import at_threshold
from safepassage.scoring_worker.laboratory.evaluation.splits import split_by_group
from safepassage.scoring_worker.learnt_from import more_learnt
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    ModelError,
    ScorerManifest,
    Thresholds,
)
from safepassage.scoring_worker.packs.registry import packs_named
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.scorers.folders import open_reader
from safepassage.scoring_worker.thresholds import MIN_PER_CLASS, Target, fit_thresholds
from safepassage.scoring_worker.weighing.claim_support import forest_of
from safepassage.scoring_worker.weighing.stack import ShapeWeights, Stack

from .card import write_card
from .judged_pairs import Judged, refitted
from .stacking import StackSettings
from .starting_point import StartingPoint, starting_point, training_tokenizer
from .tuning import TuningSettings, tune

log = structlog.get_logger(__name__)

STAGES_FOLDER = "stages"
_RUN_NAME = "run.txt"
MIN_APART = 100
"""Gold pairs from which on some are kept from the reader, so that the stack weighs what the reader
makes of pairs it has not learnt by heart."""


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """What to learn from. ``gold`` was judged by people, ``silver`` by an LLM or made by
    corruption; the reader does not see ``head``, which is for the stack alone. ``sources``
    names the sets and their licences for the model card."""

    gold: Sequence[LabelledPair] = ()
    silver: Sequence[LabelledPair] = ()
    head: Sequence[LabelledPair] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``head_only`` leaves the reader as it is and refits stack and thresholds.

    The gold stage sees fewer labels, more often. ``validation_share`` of the gold documents (half
    of that of the silver ones) fits the thresholds and nothing else; ``stack_share`` of the other
    gold documents fits the stack and not the reader, from `MIN_APART` pairs on. ``target`` is
    what the thresholds are fitted to.
    """

    name: str = "trained"
    silver: TuningSettings = field(
        default_factory=lambda: TuningSettings(epochs=1.0, learning_rate=1e-4)
    )
    gold: TuningSettings = field(default_factory=lambda: TuningSettings(epochs=3.0))
    stack: StackSettings = field(default_factory=StackSettings)
    target: Target = field(default_factory=Target)
    validation_share: float = 0.2
    stack_share: float = 0.25
    head_only: bool = False
    seed: int = 0


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
        base: "default", or the folder of a scorer with a reader; encoders are fine-tuned by
            `cross_encoder`.
        folder: a new folder, or with ``resume`` that of an interrupted run.

    Raises:
        ModelError: the base cannot be used, or ``folder`` already holds a scorer, or an
            interrupted run on other labels.
        ValueError: there are no labels.
    """
    recipe = recipe or Recipe()
    start = starting_point(base)
    if not (labels.gold or labels.silver):
        raise ValueError("there are no labels to train on")
    make_room(folder, resume)
    _same_run(folder / STAGES_FOLDER, start, labels, recipe)
    split = SplitLabels.of(labels, recipe)
    if recipe.head_only:
        start.copy_reader(folder)
    else:
        _train_reader(start, split, folder, recipe)
    manifest = start.manifest_of(folder, recipe.name, labels.sources)
    seen = [(p.group, p.premise) for p in (*labels.gold, *labels.silver, *labels.head)]
    learnt = more_learnt(start.manifest.learnt_from, seen)
    manifest = manifest.model_copy(update={"learnt_from": learnt})
    fitted = _fit_head(manifest, folder, start.stack, split, recipe)
    shutil.rmtree(folder / STAGES_FOLDER, ignore_errors=True)
    write_card(fitted, folder, recipe.target, counts=_counts(labels))
    return fitted.save(folder)


def make_room(folder: Path, resume: bool) -> None:
    """Make the folder of a new scorer; one with content only to ``resume`` its run.

    Raises:
        ModelError: the folder holds something else.
    """
    if (folder / MANIFEST_NAME).exists():
        raise ModelError(f"{folder} already holds a scorer; choose another folder")
    if folder.exists() and any(folder.iterdir()) and not resume:
        raise ModelError(f"{folder} is not empty; choose another folder, or resume")
    folder.mkdir(parents=True, exist_ok=True)


def _same_run(stages: Path, start: StartingPoint, labels: TrainingLabels, recipe: Recipe) -> None:
    """Make sure that what ``stages`` may already hold came from the same labels and recipe."""
    pairs = [repr(pair) for pair in (*labels.silver, *labels.gold)]
    said = "\n".join([start.manifest.revision, repr(recipe), *pairs])
    digest = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
    path = stages / _RUN_NAME
    if path.exists() and path.read_text("utf-8") != digest:
        raise ModelError(f"{stages.parent} holds a run on other labels; choose another folder")
    stages.mkdir(parents=True, exist_ok=True)
    path.write_text(digest, "utf-8")


Pairs = list[LabelledPair]


@dataclass(frozen=True, slots=True)
class SplitLabels:
    """Each document is in one part only. With too few documents, ``weighed`` is the same as
    ``gold``."""

    silver: Pairs
    silver_held: Pairs
    gold: Pairs
    gold_held: Pairs
    weighed: Pairs
    head: Sequence[LabelledPair]

    @classmethod
    def of(cls, labels: TrainingLabels, recipe: Recipe) -> SplitLabels:
        """The split; the same each time."""
        silver, silver_held = split_by_group(
            labels.silver, recipe.validation_share / 2, recipe.seed
        )
        gold, gold_held = split_by_group(labels.gold, recipe.validation_share, recipe.seed)
        weighed = gold
        if len(gold) >= MIN_APART and not recipe.head_only:
            gold, weighed = split_by_group(gold, recipe.stack_share, recipe.seed + 1)
        return cls(silver, silver_held, gold, gold_held, weighed, labels.head)


def _train_reader(start: StartingPoint, split: SplitLabels, folder: Path, recipe: Recipe) -> None:
    """Silver, then gold, whichever there are; the second goes on from the first."""
    model, tokenizer = start.model(), training_tokenizer(start.words)
    for name, pairs, settings in (
        ("silver", split.silver, recipe.silver),
        ("gold", split.gold, recipe.gold),
    ):
        if pairs:
            log.info("stage", stage=name, pairs=len(pairs))
            seeded = replace(settings, seed=settings.seed + recipe.seed)
            tune(model, tokenizer, pairs, folder / STAGES_FOLDER / name, seeded)
    save_reader(model, folder)


def _fit_head(
    manifest: ScorerManifest, folder: Path, start: Stack, split: SplitLabels, recipe: Recipe
) -> ScorerManifest:
    """Refit the stack, then thresholds on validation pairs; with too few of either kind, on all
    gold pairs. Thresholds of single types are fitted to gold labels only: types of silver ones
    are often invented."""
    reader = open_reader(manifest, folder)
    scorer = DefaultScorer(manifest, reader, claims=forest_of(folder))
    held_silver = Judged.by(scorer, split.silver_held)
    by_people = bool(split.gold_held)
    held = Judged.by(scorer, split.gold_held) if by_people else held_silver
    weighed = Judged.by(scorer, split.weighed)
    labelled = [*Judged.by(scorer, split.head).labelled("head"), *weighed.labelled("gold")]
    if by_people:
        labelled += held_silver.labelled("silver")
    stack = refitted(start, labelled, recipe.stack)
    stack = stack.model_copy(
        update={"with_packs": _with_packs(manifest, reader, start, split, recipe)}
    )
    few = min(held.supported.count(True), held.supported.count(False)) < MIN_PER_CLASS
    judged = held + weighed if few else held
    update: dict[str, object] = {"stack": stack.model_dump(mode="json")}
    if not judged.pairs:
        log.warning("thresholds_kept", reason="none of the validation pairs could be read")
        return manifest.model_copy(update=update)
    scores = judged.scores(stack)
    thresholds, fitted = fit_thresholds(scores, judged.supported, judged.types, recipe.target)
    if not by_people:
        thresholds, fitted = Thresholds(default=thresholds.default), {"": fitted[""]}
    found: dict[str, JsonValue] = {
        "validation": at_threshold(held.scores(stack), held.pairs, thresholds.default)
        if held.pairs
        else {},
        "thresholds": {name or "all": f.model_dump(mode="json") for name, f in fitted.items()},
        "thresholds_fitted_on": "all labels: too few to hold any back" if few else "validation",
    }
    return manifest.model_copy(update={**update, "thresholds": thresholds, "metrics": found})


def _with_packs(
    manifest: ScorerManifest, reader: Reader, start: Stack, split: SplitLabels, recipe: Recipe
) -> dict[str, dict[str, ShapeWeights]]:
    """The coefficients for each set of packs that ``start`` has some for, refitted as well."""
    found = {}
    for names, shapes in start.with_packs.items():
        scorer = DefaultScorer(manifest, reader, packs_named(names.split("+")))
        labelled = list(Judged.by(scorer, split.weighed).labelled("gold"))
        before = Stack(shapes={**start.shapes, **shapes})
        found[names] = refitted(before, labelled, recipe.stack).shapes
    return found


def _counts(labels: TrainingLabels) -> dict[str, int]:
    pairs = [*labels.gold, *labels.silver]
    return {
        "gold": len(labels.gold),
        "silver": len(labels.silver),
        "supported": sum(pair.label for pair in pairs),
        "unsupported": sum(1 - pair.label for pair in pairs),
    }

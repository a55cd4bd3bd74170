"""The paper's recipe: a base, then silver labels, then gold ones (section 4.2.2).

The reader is fine-tuned on both in turn, rehearsing what it knew; then the stack is refitted, and
thresholds are fitted, on what readers say that have not seen the labels. An interrupted run goes on
where it stopped; with ``head_only`` the reader stays as it is. What too few labels would teach is
kept, and said (`outcome.Learnt`).
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog

from safepassage.scoring_worker.encoders.devices import use_threads
from safepassage.scoring_worker.encoders.reader_model import ReaderModel, save_reader
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.evaluation.splits import folds, split_by_group
from safepassage.scoring_worker.learnt_from import more_learnt
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ModelError, ScorerManifest
from safepassage.scoring_worker.threshold_fitting import Target

from .card import write_card
from .head import fit_head
from .judged_pairs import Judged, read_judged, write_judged
from .outcome import Learnt, lacking
from .stacking import StackSettings
from .starting_point import StartingPoint, starting_point, training_tokenizer
from .tuning import TuningSettings, tune

log = structlog.get_logger(__name__)

STAGES_FOLDER = "stages"
_RUN_NAME = "run.txt"
READER_LABELS = 5
"""Of each class, for the reader to learn: from wrong values alone it learns that all is wrong."""
REVIEWED = TuningSettings(
    epochs=5.0, learning_rate=5e-5, rehearsal=0.25, rehearsal_least=64, max_length=112, layers=6
)
"""How a reader learns from reviews: in its last layers, since all take twice as long. On the one
field where both were tried, with other draws of a hundred reviews, all of them did no better."""


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """What to learn from. ``gold`` was judged by people, ``silver`` by an LLM or made by
    corruption; the reader does not see ``head``, which is for the stack alone. ``sources``
    names the sets and their licences for the model card."""

    gold: Sequence[LabelledPair] = ()
    silver: Sequence[LabelledPair] = ()
    head: Sequence[LabelledPair] = ()
    sources: tuple[str, ...] = ()

    def only(self, start: StartingPoint) -> TrainingLabels:
        """The labels in languages that the reader of ``start`` reads. Raises `ValueError` where
        there are none."""
        kinds = (self.gold, self.silver, self.head)
        gold, silver, head = ([pair for pair in own if start.reads(pair)] for own in kinds)
        foreign = sum(map(len, kinds)) - len(gold) - len(silver) - len(head)
        if foreign:
            log.warning(
                "labels_left_out", pairs=foreign, reason="another reader serves their language"
            )
        if not (gold or silver):
            raise ValueError("no label is in a language that this reader reads")
        return replace(self, gold=gold, silver=silver, head=head)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. ``head_only`` leaves the reader as it is and refits stack and thresholds.

    The gold stage sees fewer labels, more often. Stack and thresholds are fitted to what readers
    that learnt from the gold labels of other documents say: ``folds`` of them. ``validation_share``
    of the silver documents takes that part where there is no gold. ``target`` is what the
    thresholds are fitted to.
    """

    name: str = "trained"
    silver: TuningSettings = field(
        default_factory=lambda: TuningSettings(epochs=1.0, learning_rate=1e-4)
    )
    gold: TuningSettings = REVIEWED
    stack: StackSettings = field(default_factory=StackSettings)
    target: Target = field(default_factory=Target)
    validation_share: float = 0.1
    folds: int = 2
    head_only: bool = False
    seed: int = 0


def train(
    base: str | Path,
    labels: TrainingLabels,
    folder: Path,
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
    on_progress: OnProgress = lambda *_: None,
) -> ScorerManifest:
    """Train a scorer into ``folder`` and return what its scorer.json says.

    Args:
        base: "default", or the folder of a scorer with a reader; encoders are fine-tuned by
            `cross_encoder`.
        folder: a new folder, or with ``resume`` that of an interrupted run.
        on_progress: is told how many labels the reader read, over all stages and epochs.

    Raises:
        ModelError: the base cannot be used, or ``folder`` already holds a scorer, or an
            interrupted run on other labels.
        ValueError: there are no labels.
    """
    recipe = recipe or Recipe()
    if not (labels.gold or labels.silver):
        raise ValueError("there are no labels to train on")
    use_threads()
    start = starting_point(base, [*labels.gold, *labels.silver])
    labels = labels.only(start)
    make_room(folder, resume)
    seen = [(p.group, p.premise) for p in (*labels.gold, *labels.silver, *labels.head)]
    learnt = more_learnt(start.manifest.learnt_from, seen)  # refused before hours of training
    stages = folder / STAGES_FOLDER
    _same_run(stages, start, labels, recipe)
    kept = _reader_kept(labels, recipe)
    if kept:
        log.info("reader_kept", reason=kept)
        start.copy_reader(folder)
        judged = Judged([], [])
    else:
        judged = _train_reader(start, labels, folder, recipe, on_progress)
    manifest = start.manifest_of(folder, recipe.name, labels.sources)
    manifest = manifest.model_copy(update={"learnt_from": learnt})
    fitted = fit_head(
        manifest,
        folder,
        start.stack,
        labels=labels,
        recipe=recipe,
        judged=judged,
        learnt=Learnt(reader=kept),
    )
    shutil.rmtree(stages, ignore_errors=True)
    write_card(fitted, folder, recipe.target, counts=_counts(labels))
    return fitted.save(folder)


def make_room(folder: Path, resume: bool) -> None:
    """Make the folder of a new scorer; one with content only to ``resume`` its run. Raises
    `ModelError` where the folder holds something else."""
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


def _reader_kept(labels: TrainingLabels, recipe: Recipe) -> str:
    if recipe.head_only:
        return "as asked"
    return lacking([*labels.gold, *labels.silver], READER_LABELS)


def _train_reader(
    start: StartingPoint,
    labels: TrainingLabels,
    folder: Path,
    recipe: Recipe,
    on_progress: OnProgress,
) -> Judged:
    """Silver, then gold, whichever there are; the second goes on from the first.

    Returns:
        What readers that learnt from the other gold documents make of every gold pair; of silver
        ones kept back where there is no gold.
    """
    stages = folder / STAGES_FOLDER
    silver, held = split_by_group(labels.silver, recipe.validation_share, recipe.seed)
    after = _Stages(start, stages, silver, recipe, _Reading(on_progress))
    if lacking(labels.gold, READER_LABELS):
        after.reading.of({"silver": silver}, recipe)
        model = after.silver()
        judged = after.judged(model, "held", held)
        model = after.silver()
    else:
        judged = after.crosswise(labels.gold)
        model = after.gold("gold", labels.gold)
    save_reader(model, folder)
    return judged


@dataclass(slots=True)
class _Reading:
    """How many labels the reader read, of all that its stages read."""

    on_progress: OnProgress
    work: dict[str, float] = field(default_factory=dict)

    def of(self, stages: Mapping[str, Sequence[LabelledPair]], recipe: Recipe) -> None:
        """These stages come, in this order; a stage without labels is left out."""
        for name, pairs in stages.items():
            epochs = (recipe.silver if name == "silver" else recipe.gold).epochs
            self.work[name] = len(pairs) * epochs

    def step(self, stage: str) -> Callable[[int, int], None]:
        """Is told how many steps of ``stage`` are done, of how many."""
        names = list(self.work)
        before = sum(self.work[name] for name in names[: names.index(stage)])
        total = round(sum(self.work.values()))

        def on_step(done: int, of: int) -> None:
            read = before + self.work[stage] * done / of
            self.on_progress("reading labels", round(read), total)

        return on_step


@dataclass(frozen=True, slots=True)
class _Stages:
    """The stages of one run, each in a folder of its own."""

    start: StartingPoint
    folder: Path
    labels: Sequence[LabelledPair]
    recipe: Recipe
    reading: _Reading

    def silver(self) -> ReaderModel:
        model = self.start.model()
        if self.labels:
            self._tune(model, "silver", self.labels, self.recipe.silver)
        return model

    def gold(self, name: str, pairs: Sequence[LabelledPair]) -> ReaderModel:
        model = self.silver()
        self._tune(model, name, pairs, self.recipe.gold)
        return model

    def crosswise(self, pairs: Sequence[LabelledPair]) -> Judged:
        """What readers that did not learn from a document make of its pairs; few documents, or
        labels of one class in what is left, are judged by the reader as it starts."""
        fold_of = folds([pair.group for pair in pairs], self.recipe.folds, self.recipe.seed)
        apart = {
            f"fold-{number}": [pair for pair in pairs if fold_of[pair.group] != number]
            for number in range(self.recipe.folds)
        }
        self.reading.of({"silver": self.labels, **apart, "gold": pairs}, self.recipe)
        judged = Judged([], [])
        for number, (name, others) in enumerate(apart.items()):
            inside = [pair for pair in pairs if fold_of[pair.group] == number]
            model = None
            if not (self.folder / f"{name}.jsonl").exists():
                enough = inside and not lacking(others, READER_LABELS // 2)
                model = self.gold(name, others) if enough else self.silver()
            judged += self.judged(model, name, inside)
        return judged

    def judged(self, model: ReaderModel | None, name: str, pairs: Sequence[LabelledPair]) -> Judged:
        """What the scorer with ``model`` makes of ``pairs``, kept in a file."""
        path = self.folder / f"{name}.jsonl"
        if not pairs:
            return Judged([], [])
        if model is not None and not path.exists():
            write_judged(path, {name: Judged.by(self.start.scorer(model), pairs)})
        return read_judged(path).get(name, Judged([], []))

    def _tune(
        self, model: ReaderModel, name: str, pairs: Sequence[LabelledPair], settings: TuningSettings
    ) -> None:
        log.info("stage", stage=name, pairs=len(pairs))
        seeded = replace(settings, seed=settings.seed + self.recipe.seed)
        words = training_tokenizer(self.start.words)
        folder, told = self.folder / name, self.reading.step(name)
        tune(model, words, pairs, folder, seeded, device=self.start.device, on_step=told)


def _counts(labels: TrainingLabels) -> dict[str, int]:
    pairs = [*labels.gold, *labels.silver]
    return {
        "gold": len(labels.gold),
        "silver": len(labels.silver),
        "supported": sum(pair.label for pair in pairs),
        "unsupported": sum(1 - pair.label for pair in pairs),
    }

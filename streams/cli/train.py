"""``train``: from labels to a scorer; ``learn``: from decisions to a candidate."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..runtime.errors import OperatorError
from ..runtime.logs import configure_logging
from ..settings import settings
from .label_options import (
    Documents,
    TargetOption,
    label_sources,
    progress_bars,
    read_target,
    show_refused,
)
from .output import complain, open_outputs, print_line

if TYPE_CHECKING:
    from safepassage.schemas import LearningEvent
    from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
    from safepassage.scoring_worker.evaluation.sources import Sources
    from safepassage.scoring_worker.manifest import ScorerManifest
    from safepassage.scoring_worker.training import Recipe, TrainingLabels
    from safepassage.scoring_worker.training.cross_encoder import EncoderRecipe
    from safepassage.scoring_worker.training.fine_tuning import FineTuning


Gold = Annotated[
    list[Path], Option(help="Labels by people: labelled extractions or pairs, as `evaluate` reads.")
]
Silver = Annotated[
    list[Path],
    Option(
        help="Labels that are cheaper: extractions or pairs, or documents with annotated "
        "entities, whose facts are corrupted into unsupported ones."
    ),
]
Graded = Annotated[
    list[Path], Option("--grade", help="Extractions without labels: the LLM grader gives them.")
]
Base = Annotated[
    str,
    Option(
        help="Where to start: a scorer's name, folder or hub id; or any encoder, which becomes "
        "a cross-encoder: a folder or hub id."
    ),
]
Source = Annotated[list[str], Option(help="A set of labels and its licence, for the model card.")]
Epochs = Annotated[
    float | None,
    Option(help="Passes over the silver labels: 1, of an encoder at most 3.", min=0.01),
]
GoldEpochs = Annotated[
    float | None, Option(help="Passes over the gold labels: 5, of an encoder at most 10.", min=0.01)
]
LearningRate = Annotated[
    float | None,
    Option(
        help="Learning rate of the silver stage: 1e-4, of which a large reader gets .4; of an "
        "encoder 2e-5."
    ),
]
Layers = Annotated[
    int | None,
    Option(help="Train only so many of the last layers: quicker, and less is learnt.", min=1),
]
Rehearsal = Annotated[
    float | None,
    Option(
        help="Questions of invented documents for each question of the labels, so that "
        "nothing is unlearnt; 0 for none; 1 of silver labels and .25 of gold ones if omitted.",
        min=0,
    ),
]
HeadOnly = Annotated[
    bool, Option("--head-only", help="Keep the reader; refit stack and thresholds: seconds.")
]
Resume = Annotated[bool, Option("--resume", help="Go on with an interrupted run in FOLDER.")]


def train(
    folder: Annotated[Path, Argument(help="The new scorer's folder.", metavar="FOLDER")],
    *,
    gold: Gold = [],
    silver: Silver = [],
    graded: Graded = [],
    documents: Documents = [],
    base: Base = "default",
    name: Annotated[str, Option(help="Name of the new scorer.")] = "trained",
    source: Source = [],
    target: TargetOption = "f1",
    epochs: Epochs = None,
    gold_epochs: GoldEpochs = None,
    learning_rate: LearningRate = None,
    layers: Layers = None,
    rehearsal: Rehearsal = None,
    head_only: HeadOnly = False,
    resume: Resume = False,
    seed: Annotated[int, Option(help="Seed of splits, corruptions and training.")] = 0,
) -> None:
    """Train a scorer: its reader on silver labels first and gold ones after, then its stack; of an
    encoder all layers, on a GPU where there is one, until F1 on held-out documents falls.

    From `default` the reader learns that serves the language of the labels. FOLDER then holds
    weights, thresholds and a model card, and is a name for --scorer. What too few labels would
    have taught is kept as it was, and said.
    """
    from safepassage.scoring_worker.training import Recipe
    from safepassage.scoring_worker.training import train as run_training
    from safepassage.scoring_worker.training.cross_encoder import EncoderRecipe, train_cross_encoder
    from safepassage.scoring_worker.training.recipe import make_room
    from safepassage.scoring_worker.training.starting_point import encoder_base

    configure_logging(settings(), run="train")
    encoder = encoder_base(base)
    if encoder and (head_only or resume):
        raise OperatorError("an encoder is trained at once: no --head-only, no --resume")
    if not (gold or silver or graded):
        raise OperatorError("nothing to train on: give --gold, --silver or --grade")
    make_room(folder, resume)
    open_outputs(folders=[folder])
    passes = _Passes(epochs, gold_epochs, learning_rate, layers)
    with progress_bars() as on_progress:
        sources = label_sources(documents, seed, on_progress)
        labels = _labels(gold, silver, graded, sources, tuple(source))
        if encoder:
            own = EncoderRecipe(name=name, target=read_target(target), seed=seed)
            own = passes.of_encoder(own, seed)
            written = train_cross_encoder((encoder, base), labels, folder, own, on_progress)
    if not encoder:
        recipe = Recipe(name=name, target=read_target(target), head_only=head_only, seed=seed)
        recipe = passes.of_reader(recipe, rehearsal)
        written = run_training(base, labels, folder, recipe, resume=resume)
    _tell(written, folder)


def _tell(written: ScorerManifest, folder: Path) -> None:
    from safepassage.scoring_worker.training.outcome import learnt_lines

    for line in learnt_lines(written):
        print_line(line)
    print_line(f"{written.name}, revision {written.revision}: {folder}")
    print_line(f"use it with  --scorer {folder}  or  SAFEPASSAGE_SCORER={folder}")


@dataclass(frozen=True, slots=True)
class _Passes:
    """Passes of both stages, learning rate of the first, and layers; None for the usual ones."""

    epochs: float | None
    gold_epochs: float | None
    rate: float | None
    layers: int | None

    def of_reader(self, usual: Recipe, rehearsal: float | None) -> Recipe:
        common: dict[str, Any] = {"layers": self.layers}
        common |= {} if rehearsal is None else {"rehearsal": rehearsal}
        gold = replace(usual.gold, epochs=self.gold_epochs or usual.gold.epochs, **common)
        common["learning_rate"] = self.rate or usual.silver.learning_rate
        silver = replace(usual.silver, epochs=self.epochs or usual.silver.epochs, **common)
        return replace(usual, silver=silver, gold=gold)

    def of_encoder(self, usual: EncoderRecipe, seed: int) -> EncoderRecipe:
        from safepassage.scoring_worker.training.cross_encoder import stage

        def tuned(epochs: float, rate: float) -> FineTuning:
            made = stage(max(1, round(epochs)), rate)
            return replace(made, layers=self.layers, seed=seed)

        silver = tuned(self.epochs or usual.silver.epochs, self.rate or usual.silver.base_rate)
        gold = tuned(self.gold_epochs or usual.gold.epochs, usual.gold.base_rate)
        return replace(usual, silver=silver, gold=gold)


def _labels(
    gold: list[Path],
    silver: list[Path],
    graded: list[Path],
    sources: Sources,
    named: tuple[str, ...],
) -> TrainingLabels:
    from safepassage.scoring_worker.training import TrainingLabels

    people = [pair for path in gold for pair in _read(path, sources)]
    cheap = [pair for path in silver for pair in _read(path, sources)]
    cheap += _graded(graded, sources)
    files = tuple(path.name for path in (*gold, *silver, *graded))
    return TrainingLabels(gold=people, silver=cheap, sources=named or files)


def _read(path: Path, sources: Sources) -> list[LabelledPair]:
    from ..offline.training_labels import count, read_labels

    pairs, refused = read_labels(path, sources)
    show_refused(path, refused)
    complain.print(f"{path.name}: {count(pairs)}", soft_wrap=True)
    return pairs


def _graded(paths: list[Path], sources: Sources) -> list[LabelledPair]:
    if not paths:
        return []
    from safepassage.scoring_worker import load_scorer

    from ..offline.training_labels import count, grade

    grader = load_scorer("llm")
    try:
        pairs = [pair for path in paths for pair in grade(path, sources, grader)]
    finally:
        grader.close()
    complain.print(f"graded by {grader.revision}: {count(pairs)}", soft_wrap=True)
    return pairs


def learn() -> None:
    """Learn from the decisions so far, or go on with a run that was stopped.

    Head and reader are trained on the decisions, the candidate is judged on those about other
    documents, put into shadow, and replayed. Then it asks to be promoted, on the console. The role
    `learn` does the same by itself whenever there are enough new decisions.
    """
    configure_logging(settings(), run="learn")
    from ..learning.learning_source import alone

    with alone(settings().learn_folder):
        event = asyncio.run(_learn())
    if event.revision:
        print_line(f"candidate: {event.scorer}, revision {event.revision}")
    for name, what in event.learnt.items():
        print_line(f"{name} {what}")
    if event.step == "asked":
        print_line("it asks to be promoted: see Learning on the console")
    elif event.step == "promoted":
        print_line("promoted: it keeps the bounds")
    else:
        raise OperatorError(f"not promoted: {event.detail}")


async def _learn() -> LearningEvent:
    from ..kafka.admin import create_topics
    from ..kafka.publisher import open_publisher
    from ..learning.learner import Learner

    await create_topics(settings())
    async with open_publisher(settings()) as publisher:
        learner = Learner(publisher, settings())
        run = await learner.unfinished()
        if run is None:
            run, wanted = await learner.start(asked=True)
            if run is None:
                raise OperatorError(f"nothing to learn yet: {wanted}")
        else:
            wanted = "it goes on with the run that was stopped"
        complain.print(f"run {run}: {wanted}", soft_wrap=True)
        showing = asyncio.create_task(_show_progress(learner.folder(run)))
        try:
            return await learner.go_on(run)
        finally:
            showing.cancel()


async def _show_progress(folder: Path) -> None:
    from ..learning.events import read_progress

    with progress_bars() as on_progress:
        while True:
            if known := await asyncio.to_thread(read_progress, folder):
                on_progress(known.stage, known.done, known.total)
            await asyncio.sleep(1)

"""Builds `large`: ``python -m safepassage.scoring_worker.laboratory.training.large_scorer DATA
FOLDER --base BASE``.

BASE is a folder with ``config.json``, ``tokenizer.json`` and ``model.safetensors`` of
all-mpnet-base-v2. Its weights stay as they are; what is trained and shipped are low-rank updates
and heads. Every step is kept under FOLDER, so that a run goes on where it was stopped; the scorer
is FOLDER/large. The corpora are those of `default`, the English ones; the sources `LEFT_OUT` teach
nothing, so that one reader is enough: on them the stack and the threshold are fitted.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from pydantic import JsonValue
from tokenizers import Tokenizer

from safepassage.scoring_worker.encoders.adapter import load_adapted, save_adapter
from safepassage.scoring_worker.encoders.devices import PrecisionChoice, place
from safepassage.scoring_worker.encoders.pinned import WEIGHTS_FILE
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    ModelError,
    ScorerManifest,
    file_digest,
)
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import SHAPES
from safepassage.scoring_worker.weighing.stack import ShapeWeights, Stack

from .card import write_card
from .judged_pairs import Judged
from .licences import DOCUMENT_SOURCES, NLI_LICENCES, licence_of
from .opinion_files import judged_once
from .reading.corpora import LANGUAGES, MEASURE_ONLY, PERMISSIVE
from .reading.fit import FitSettings
from .reading.recipe import train_reader
from .source_figures import (
    best_threshold,
    figure_blocks,
    figures,
    scores_in_turn,
    thresholds_with_claims,
)
from .stack_pairs import generated_pairs, slot_pairs, unread_claims
from .stacking import fit_stack

log = structlog.get_logger(__name__)

BASE = "sentence-transformers/all-mpnet-base-v2@e8c3b32edf5434bc2275fc9bab85f82640a19130"
BASE_DIGEST = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""SHA-256 of its model.safetensors."""
RANK = 16
LEFT_OUT = ("sgd_unseen", "kpi_edgar", "materials", "tatqa", "qed")
"""Of five kinds: dialogues, finance, science, tables with text, encyclopaedia."""
_NOT_ENGLISH = tuple(f"xquad_{language}" for language in LANGUAGES if language != "en")
SHARE = 0.45
SETTINGS = FitSettings(learning_rate=1e-4, batch_size=16, most_steps=1_600, final=0.02)
"""Not tried to its end. At 5e-4, ten times the learning rate of full fine-tuning, this base forgot
how to read within 40 steps; at 1e-4 it learns, but after 160 steps it had only begun."""
ROWS, CLAIMS = 160, 60
"""Rows of each source, and of each NLI collection, that stack and figures rest on."""
MAX_LENGTH = 256
MADE = "+made"
REMARKS = Path(__file__).with_name("large_remarks.md")
SOURCES = (
    "all-mpnet-base-v2 (Apache-2.0), not changed and not in this folder",
    "documents, forms, denials and claims made by this project's generators (Apache-2.0)",
    *(f"slots: {n} ({licence_of(n)})" for n in PERMISSIVE if n not in {*LEFT_OUT, *_NOT_ENGLISH}),
    *DOCUMENT_SOURCES,
    *(f"{name} ({licence})" for name, licence in NLI_LICENCES.items()),
)
_NEUTRAL = Stack(shapes={shape: ShapeWeights(bias=0.0, weights={}) for shape in SHAPES})


@dataclass(frozen=True, slots=True)
class LargeSteps:
    """Where each step reads and writes, and what it computes with."""

    data: Path
    folder: Path
    base: Path
    device: str = "cpu"
    precision: PrecisionChoice = "auto"
    digest: str = BASE_DIGEST

    @property
    def out(self) -> Path:
        return self.folder / "large"


def build_large(steps: LargeSteps) -> ScorerManifest:
    """Every step that is not done yet; returns what scorer.json says.

    Raises:
        CorpusError: a file of the data is missing.
        ModelError: the base is another than the recipe's.
    """
    weights = steps.base / WEIGHTS_FILE
    if not weights.is_file() or file_digest(weights) != steps.digest:
        raise ModelError(f"{weights} is not that of {BASE}")
    _adapter(steps)
    labelled = _opinions(steps)
    new = {name: own for name, own in labelled.items() if name in MEASURE_ONLY}
    fitted_on = {name: own for name, own in labelled.items() if name not in new}
    stack = fit_stack([one for name, own in fitted_on.items() for one in own.labelled(name)])
    scores = scores_in_turn(fitted_on, _kin(fitted_on))
    thresholds = thresholds_with_claims(best_threshold(fitted_on, scores))
    measured = figures(new, {name: own.scores(stack) for name, own in new.items()}, thresholds)
    blocks: dict[str, JsonValue] = {
        **figure_blocks(fitted_on, scores, thresholds, LEFT_OUT),
        "fields that trained nothing": dict(measured),
    }
    manifest = ScorerManifest(
        name="large",
        kind="reader",
        base=BASE,
        base_digest=steps.digest,
        labels=0,
        max_length=MAX_LENGTH,
        stack=stack.model_dump(mode="json"),
        thresholds=thresholds,
        trained_on=SOURCES,
        learnt_from=LearntFrom(),
        languages=("en",),
        metrics=blocks,
    )
    (steps.out / MANIFEST_NAME).unlink(missing_ok=True)
    write_card(manifest, steps.out, None, {}, REMARKS.read_text("utf-8"))
    return manifest.save(steps.out)


def _adapter(steps: LargeSteps) -> None:
    if steps.out.exists():
        return
    model = train_reader(
        steps.data,
        steps.base,
        steps.folder / "reader",
        without=(*LEFT_OUT, *_NOT_ENGLISH),
        share=SHARE,
        rank=RANK,
        settings=SETTINGS,
        device=steps.device,
    )
    partly = steps.out.with_name("large.partial")
    save_adapter(model, partly)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(steps.base / name, partly / name)
    partly.rename(steps.out)


def _opinions(steps: LargeSteps) -> dict[str, Judged]:
    """By source what the reader makes of rows that taught it nothing, a file each."""
    found: dict[str, Judged] = {}
    scorer = partial(_scorer, steps)
    for name in (*LEFT_OUT, *MEASURE_ONLY):
        path = steps.folder / f"opinions-{name}.jsonl"
        found |= judged_once(path, scorer, partial(_source_pairs, steps.data, name))
    path = steps.folder / "opinions-claims.jsonl"
    return found | judged_once(path, scorer, partial(_claims, steps.data))


def _source_pairs(data: Path, name: str) -> Mapping[str, Sequence[LabelledPair]]:
    pairs = {name: slot_pairs(data, name, ROWS)}
    if name in LEFT_OUT:
        pairs[f"{name}{MADE}"] = generated_pairs(data, name, ROWS // 2)
    return pairs


def _claims(data: Path) -> Mapping[str, Sequence[LabelledPair]]:
    unread = unread_claims(data, SHARE, (*LEFT_OUT, *_NOT_ENGLISH))
    rng = random.Random(0)
    return {name: rng.sample(own, min(CLAIMS, len(own))) for name, own in unread.items()}


def _scorer(steps: LargeSteps) -> DefaultScorer:
    """The reader behind the comparators. Its stack weighs nothing: for opinions."""
    manifest = ScorerManifest(
        name="opinions",
        kind="reader",
        labels=0,
        max_length=MAX_LENGTH,
        stack=_NEUTRAL.model_dump(mode="json"),
        languages=("en",),
    )
    placement = place("auto", steps.precision)
    model = load_adapted(steps.out, steps.base / WEIGHTS_FILE)
    tokenizer = Tokenizer.from_file(str(steps.out / "tokenizer.json"))
    model = model.to(placement.device).to(placement.dtype)
    reader = Reader(model, tokenizer, max_length=MAX_LENGTH, placement=placement)
    return DefaultScorer(manifest, reader)


def _kin(labelled: Mapping[str, Judged]) -> Iterator[list[str]]:
    """Each source with what was made of it; every NLI collection by itself."""
    for name in labelled:
        if not name.endswith(MADE):
            yield [one for one in (name, f"{name}{MADE}") if one in labelled]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="folder of all-mpnet-base-v2")
    parser.add_argument("--device", default="cpu", help="of the training")
    parser.add_argument("--precision", default="auto", help="of what is fitted afterwards")
    chosen = parser.parse_args(arguments)
    steps = LargeSteps(chosen.data, chosen.folder, chosen.base, chosen.device, chosen.precision)
    written = build_large(steps)
    log.info("built", folder=str(steps.out), revision=written.revision)


if __name__ == "__main__":
    main()

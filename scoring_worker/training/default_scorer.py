"""Builds the scorer that ships: ``python -m scoring_worker.training.default_scorer DATA FOLDER``.

DATA is a folder with the sets named in `SOURCES`. Only sets whose licences allow it train the
weights; the tribunal decisions and their extractions are non-commercial and only measure.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from scoring_worker.corruption import (
    LabelledPair,
    labelled_pairs,
    synthetic_documents,
    with_noise,
)
from scoring_worker.evaluation.splits import held_out
from scoring_worker.manifest import MANIFEST_NAME, PACKAGED_BASE

from .corpora import (
    PERMISSIVE_NLI,
    known_documents,
    nli_pairs,
    read_rows,
    redocred_documents,
)
from .encoder import EncoderSettings
from .recipe import Recipe, TrainingLabels, train

SOURCES = (
    "documents invented by this project's generators (Apache-2.0)",
    "CUAD (CC BY 4.0)",
    "InLegalNER (Apache-2.0)",
    "Re-DocRED (MIT)",
    "SNLI (CC BY-SA 4.0)",
    "MultiNLI (permissive per genre)",
    "InfoTabS (Apache-2.0)",
    "HANS (MIT)",
    "SciTail",
    "RTE",
)
HELD_OUT = 0.25
"""Share of the documents of each corpus that nothing is trained on, so that it can measure."""
SETTINGS = EncoderSettings(
    epochs=1, learning_rate=4e-4, batch_size=32, max_length=80, evaluations=6, patience=6
)
ROUNDS = 2
_ENCODER_PAIRS = {"synthetic": 9000, "nli": 4000, "cuad": 900, "redocred": 900, "inlegal": 1000}
_HEAD_PAIRS = {"synthetic": 5000, "nli": 1500, "cuad": 700, "redocred": 700, "inlegal": 700}
_RARE_KINDS = frozenset({"negation", "over_normalised"})
_RARE_HEAD_PAIRS = 900
"""More of the kinds that documents hold few of, so that the checks for them get their weight."""
_LONGEST = {"synthetic": 230, "nli": 180}
_LONGEST_OTHERWISE = 260
"""Characters of premise and hypothesis: short pairs train several times faster on a CPU."""


def corpus_pairs(data: Path, *, held: bool, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Pairs from CUAD, InLegalNER and Re-DocRED: of their training documents, or the held ones."""
    documents = {
        "cuad": known_documents(read_rows(data / "legal/cuad.jsonl.gz")),
        "inlegal": known_documents(read_rows(data / "legal/inlegal_ner.jsonl.gz")),
        "redocred": redocred_documents(read_rows(data / "triples/redocred.jsonl.gz")),
    }
    return {
        name: list(labelled_pairs((d for d in ds if held_out(d.id, HELD_OUT) == held), seed))
        for name, ds in documents.items()
    }


def synthetic_pairs(documents: int, seed: int, noise: float = 0.12) -> list[LabelledPair]:
    """Pairs from ``documents`` invented documents, some as a scanner would read them."""
    pairs = labelled_pairs(synthetic_documents(documents, seed), seed)
    return list(with_noise(pairs, noise, seed))


def default_labels(data: Path, seed: int = 0) -> TrainingLabels:
    """Silver pairs for the encoder, and others for the stack that the encoder never sees."""
    pools = corpus_pairs(data, held=False, seed=seed)
    pools["nli"] = list(nli_pairs(read_rows(data / "nli/train.jsonl.gz"), PERMISSIVE_NLI))
    encoder = {**pools, "synthetic": synthetic_pairs(1500, seed + 1)}
    head = {**pools, "synthetic": synthetic_pairs(220, seed + 77)}
    chosen = _mixture(encoder, _ENCODER_PAIRS, random.Random(seed))
    seen = {id(pair) for pair in chosen}
    unseen = {n: [p for p in pairs if id(p) not in seen] for n, pairs in head.items()}
    mixed = _mixture(unseen, _HEAD_PAIRS, random.Random(seed + 1))
    rare = [p for p in synthetic_pairs(300, seed + 78) if p.kind in _RARE_KINDS]
    stacked = [*mixed, *random.Random(seed).sample(rare, min(_RARE_HEAD_PAIRS, len(rare)))]
    return TrainingLabels(silver=chosen, head=stacked, sources=SOURCES)


def _mixture(
    pools: dict[str, list[LabelledPair]], counts: dict[str, int], rng: random.Random
) -> list[LabelledPair]:
    chosen: list[LabelledPair] = []
    for name, count in counts.items():
        short = _no_longer_than(pools[name], _LONGEST.get(name, _LONGEST_OTHERWISE))
        chosen += rng.sample(short, min(count, len(short)))
    rng.shuffle(chosen)
    return chosen


def _no_longer_than(pairs: Iterable[LabelledPair], characters: int) -> list[LabelledPair]:
    return [p for p in pairs if len(p.premise) + len(p.pair.hypothesis) <= characters]


def main(arguments: Sequence[str]) -> None:
    """Train the default scorer on DATA into FOLDER, one round after the other.

    Every round draws new pairs and goes on from the round before, in FOLDER/round-N; a round that
    was interrupted is resumed.
    """
    data, folder = map(Path, arguments)
    base: str | Path = PACKAGED_BASE
    for number in range(ROUNDS):
        target = folder / f"round-{number}"
        if not (target / MANIFEST_NAME).exists():
            recipe = Recipe(name="default", silver=SETTINGS, seed=number)
            labels = default_labels(data, seed=number)
            train(base, labels, target, recipe, resume=target.exists())
        base = target


if __name__ == "__main__":
    main(sys.argv[1:])

"""How well the scorers find what is not supported: the figures that the README quotes.

    python benchmarks/quality.py ../shared/data [--scorer default] [--limit 400] [--out docs]

The tribunal extractions go through the whole pipeline: alignment at the pipeline's threshold,
then the scorer at its own. All other sets are pairs, at most ``--limit`` of each, drawn with a
fixed seed; the unsupported ones of CUAD and InLegalNER are made by swapping types, values and
passages. Positive class: unsupported. Intervals are 95% bootstraps over documents, since rows of
one decision are alike. ``--out`` takes quality.txt and quality.json.

What the figures rest on: the tribunal labels were written by LLM annotators and checked blind by
another one on a sample, not by lawyers. Rules and lexicons were designed while looking at rows of
half of the decisions ("read half"), so the other half is the honest estimate for new ones.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

from agents.alignment import DocumentIndex
from scoring_worker import load_scorer
from scoring_worker.corruption import LabelledPair
from scoring_worker.evaluation.metrics import recall_by_kind
from scoring_worker.scorer import Scorer
from scoring_worker.training.corpora import held_documents, nli_pairs, read_rows
from streams.settings import settings

RESAMPLES = 1_000
SPLIT_SEED = 4
"""Seed of the split of the 40 decisions into the half that was read and the other."""
SAMPLE_SEED = 0
CHUNK = 64
"""Pairs between two signs of life."""
_PROPORTIONS = "".join(f"{name:22}" for name in ("precision", "recall", "F1"))
HEADING = f"{'set':26}{'n':>5}{'uns.':>6}  {_PROPORTIONS}macro F1  AUROC"
NOT_FOUND = -1.0
"""Score of what alignment alone stopped: below any threshold."""
LABELS = {
    "tribunal": "written and checked by LLM annotators, not by lawyers",
    "cuad": "clauses marked by law students and lawyers; unsupported pairs made from them",
    "inlegal_ner": "entities marked by law students; unsupported pairs made from them",
    "nli": "crowd workers and authors of 20 NLI sets",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """Pairs with their scores and thresholds, in the same order."""

    pairs: Sequence[LabelledPair]
    scores: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    def only(self, groups: set[str]) -> Judged:
        """The pairs of some documents."""
        mine = [at for at, pair in enumerate(self.pairs) if pair.group in groups]
        pairs = [self.pairs[at] for at in mine]
        return Judged(pairs, self.scores[mine], self.thresholds[mine])


def main() -> None:
    """Print a table, a line a set as soon as it is judged, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", default="default")
    parser.add_argument("--limit", type=int, default=400, help="pairs of each set but tribunal")
    parser.add_argument("--out", type=Path, help="folder for quality.txt and quality.json")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    lines, found = [], {}
    tau = settings().alignment_threshold
    for line in (f"scorer {scorer.name}, alignment at {tau}", HEADING):
        print(line)
        lines.append(line)
    for name, judged in judge_all(options.data, scorer, options.limit):
        found[name] = describe(judged)
        print(lines_of(name, found[name])[0], flush=True)
    lines += [lines_of(name, figures)[0] for name, figures in found.items()]
    lines += ["", *(line for name, f in found.items() for line in lines_of(name, f)[1:])]
    if options.out:
        report = {"scorer": scorer.name, "alignment_threshold": tau, "sets": found}
        options.out.joinpath("quality.txt").write_text("\n".join(lines) + "\n")
        encoded = orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY)
        options.out.joinpath("quality.json").write_bytes(encoded + b"\n")


def judge_all(data: Path, scorer: Scorer, limit: int) -> Iterator[tuple[str, Judged]]:
    """Every set in turn."""
    tribunal = judge_tribunal(data / "tribunal", scorer)
    read, unread = halves({pair.group for pair in tribunal.pairs})
    yield "tribunal, all 40 decisions", tribunal
    yield "tribunal, read half", tribunal.only(read)
    yield "tribunal, unread half", tribunal.only(unread)
    held = held_documents(data)
    held["nli"] = list(nli_pairs(read_rows(data / "nli/dev.jsonl.gz")))
    for name in ("cuad", "inlegal_ner", "nli"):
        pairs = random.Random(SAMPLE_SEED).sample(held[name], min(limit, len(held[name])))
        yield f"{name}, held-out documents" if name != "nli" else "nli, dev", judge(pairs, scorer)


def halves(groups: set[str]) -> tuple[set[str], set[str]]:
    """The decisions whose rows were read while rules were written, and the others."""
    ordered = sorted(groups)
    random.Random(SPLIT_SEED).shuffle(ordered)
    middle = len(ordered) // 2
    return set(ordered[:middle]), set(ordered[middle:])


def judge_tribunal(folder: Path, scorer: Scorer) -> Judged:
    """Align and score the labelled extractions, as the stream does."""
    rows = list(read_rows(folder / "extractions.jsonl.gz"))
    wanted = {row["doc_id"] for row in rows}
    documents = read_rows(folder / "documents.jsonl.gz")
    indexes = {d["id"]: DocumentIndex(d["text"]) for d in documents if d["id"] in wanted}
    tau = settings().alignment_threshold
    found = [indexes[row["doc_id"]].align(row["context"], threshold=tau) for row in rows]
    pairs = [
        LabelledPair(
            alignment.passage or row["context"],
            row["entity_type"],
            row["value"],
            row["label"],
            row["kind"],
            row["doc_id"],
        )
        for row, alignment in zip(rows, found, strict=True)
    ]
    judged = judge(pairs, scorer)
    stopped = np.array([not a.found or a.low_evidence for a in found])
    return Judged(pairs, np.where(stopped, NOT_FOUND, judged.scores), judged.thresholds)


def judge(pairs: Sequence[LabelledPair], scorer: Scorer) -> Judged:
    """Scores of pairs; one that could not be scored counts as stopped, as it would be."""
    assessments = []
    started = time.monotonic()
    for at in range(0, len(pairs), CHUNK):
        assessments += scorer.assess([pair.pair for pair in pairs[at : at + CHUNK]])
        seconds = time.monotonic() - started
        print(f"\r{len(assessments)}/{len(pairs)} in {seconds:.0f} s ", end="", file=sys.stderr)
    print("\r", end="", file=sys.stderr)
    scores = [NOT_FOUND if a.score is None else a.score for a in assessments]
    thresholds = [a.threshold or 0.0 for a in assessments]
    return Judged(pairs, np.array(scores), np.array(thresholds))


@dataclass(frozen=True, slots=True)
class Figures:
    """What is reported of one set; intervals are (low, high) of precision, recall and F1."""

    n: int
    unsupported: int
    precision: float
    recall: float
    f1: float
    intervals: list[tuple[float, float]]
    macro_f1: float
    auroc: float
    recall_by_kind: dict[str, float]
    false_alarms_by_kind: dict[str, float]


def describe(judged: Judged) -> Figures:
    """Precision, recall, F1 with intervals, AUROC, and recall of every kind."""
    unsupported = np.array([pair.label == 0 for pair in judged.pairs])
    flagged = judged.scores < judged.thresholds
    precision, recall, f1 = precision_recall_f1(unsupported, flagged)
    return Figures(
        n=len(judged.pairs),
        unsupported=int(unsupported.sum()),
        precision=precision,
        recall=recall,
        f1=f1,
        intervals=bootstrap(judged.pairs, unsupported, flagged),
        macro_f1=float(f1_score(unsupported, flagged, average="macro")),
        auroc=float(roc_auc_score(~unsupported, judged.scores)),
        recall_by_kind=recall_by_kind(judged.scores - judged.thresholds, judged.pairs, 0.0),
        false_alarms_by_kind=false_alarms(judged.pairs, flagged),
    )


def precision_recall_f1(
    unsupported: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Of finding the unsupported; 0 where there is nothing to divide by."""
    hits = int((unsupported & flagged).sum())
    precision = hits / max(int(flagged.sum()), 1)
    recall = hits / max(int(unsupported.sum()), 1)
    return precision, recall, 2 * hits / max(int(flagged.sum() + unsupported.sum()), 1)


def bootstrap(
    pairs: Sequence[LabelledPair], unsupported: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> list[tuple[float, float]]:
    """95% intervals of precision, recall and F1 over documents drawn with replacement."""
    members: dict[str, list[int]] = {}
    for at, pair in enumerate(pairs):
        members.setdefault(pair.group, []).append(at)
    groups = [np.array(rows) for rows in members.values()]
    rng = np.random.default_rng(0)
    values = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([groups[at] for at in rng.integers(0, len(groups), len(groups))])
        values.append(precision_recall_f1(unsupported[drawn], flagged[drawn]))
    lows, highs = np.percentile(values, [2.5, 97.5], axis=0)
    return list(zip(map(float, lows), map(float, highs), strict=True))


def false_alarms(pairs: Sequence[LabelledPair], flagged: NDArray[np.bool_]) -> dict[str, float]:
    """Share of each kind of supported pair that is stopped."""
    kinds = sorted({pair.kind for pair in pairs if pair.label == 1})
    mine = {k: [at for at, p in enumerate(pairs) if p.label == 1 and p.kind == k] for k in kinds}
    return {kind: float(flagged[rows].mean()) for kind, rows in mine.items()}


def lines_of(name: str, figures: Figures) -> list[str]:
    """The set's row of the table, then what its labels rest on and how each kind fared."""
    proportions = (figures.precision, figures.recall, figures.f1)
    cells = "".join(
        f"{f'{value:.3f} [{low:.3f}, {high:.3f}]':22}"
        for value, (low, high) in zip(proportions, figures.intervals, strict=True)
    )
    row = f"{name:26}{figures.n:5}{figures.unsupported:6}  {cells}"
    lines = [f"{row}{figures.macro_f1:8.3f}{figures.auroc:7.3f}"]
    lines.append(f"{name}: {LABELS[name.split(',', maxsplit=1)[0]]}")
    kinds = (("found", figures.recall_by_kind), ("false alarms", figures.false_alarms_by_kind))
    for title, shares in kinds:
        listed = "  ".join(f"{kind} {share:.3f}" for kind, share in shares.items())
        lines.append(f"  {title}: {listed}")
    return lines


if __name__ == "__main__":
    main()

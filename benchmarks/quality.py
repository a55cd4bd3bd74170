"""How well the scorers find what is not supported: the figures that the README quotes.

    python benchmarks/quality.py ../shared/data [--scorer default] [--limit 1000] [--json FILE]

The tribunal extractions go through the whole pipeline: alignment at its shipped threshold, then
the scorer at its own. All other sets are pairs, and their unsupported ones are made by swapping
types, values and passages. Positive class: unsupported. Intervals are 95% bootstraps over
documents, since rows of one decision are alike.

What the figures rest on: the tribunal labels were written by LLM annotators and checked blind by
another one on a sample, not by lawyers. Rules and lexicons were designed while looking at rows of
half of the decisions ("read half"), so the other half is the honest estimate for new ones.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from agents.alignment import DocumentIndex
from scoring_worker import load_scorer
from scoring_worker.corruption import LabelledPair
from scoring_worker.scorer import Scorer
from scoring_worker.training.corpora import nli_pairs, read_rows
from scoring_worker.training.default_scorer import corpus_pairs
from scoring_worker.training.measures import recall_by_kind

RESAMPLES = 1_000
SPLIT_SEED = 4
"""Seed of the split of the 40 decisions into the half that was read and the other."""
NOT_FOUND = -1.0
"""Score of what alignment alone stopped: below any threshold."""
LABELS = {
    "tribunal": "written and checked by LLM annotators, not by lawyers",
    "cuad": "clauses marked by law students and lawyers; unsupported pairs made from them",
    "inlegal": "entities marked by law students; unsupported pairs made from them",
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
    """Print a table, one set after the other, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", default="default")
    parser.add_argument("--limit", type=int, default=1_000, help="pairs of each set but tribunal")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    scorer = load_scorer(options.scorer)
    print(f"scorer {scorer.name}, revision {scorer.revision}; positive class: unsupported\n")
    figures = {}
    for name, judged in judge_all(options.data, scorer, options.limit):
        figures[name] = describe(judged)
        show(name, figures[name])
    if options.json:
        options.json.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2))


def judge_all(data: Path, scorer: Scorer, limit: int) -> Iterable[tuple[str, Judged]]:
    """Every set in turn."""
    tribunal = judge_tribunal(data / "tribunal", scorer)
    read, unread = halves({pair.group for pair in tribunal.pairs})
    yield "tribunal, all 40 decisions", tribunal
    yield "tribunal, read half", tribunal.only(read)
    yield "tribunal, unread half", tribunal.only(unread)
    held = corpus_pairs(data, held=True)
    held["nli"] = list(nli_pairs(read_rows(data / "nli/dev.jsonl.gz")))
    for name in ("cuad", "inlegal", "nli"):
        pairs = random.Random(0).sample(held[name], min(limit, len(held[name])))
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
    found = [indexes[row["doc_id"]].align(row["context"]) for row in rows]
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
    assessments = scorer.assess([pair.pair for pair in pairs])
    scores = [NOT_FOUND if a.score is None else a.score for a in assessments]
    thresholds = [a.threshold or 0.0 for a in assessments]
    return Judged(pairs, np.array(scores), np.array(thresholds))


def describe(judged: Judged) -> dict[str, object]:
    """Precision, recall, F1 with interval, AUROC, and recall of every kind."""
    unsupported = np.array([pair.label == 0 for pair in judged.pairs])
    flagged = judged.scores < judged.thresholds
    precision, recall, f1 = precision_recall_f1(unsupported, flagged)
    relative = judged.scores - judged.thresholds
    return {
        "n": len(judged.pairs),
        "unsupported": int(unsupported.sum()),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "f1_ci": bootstrap(judged.pairs, unsupported, flagged),
        "auroc": float(roc_auc_score(~unsupported, judged.scores)),
        "recall_by_kind": recall_by_kind(relative, judged.pairs, 0.0),
        "false_alarms_by_kind": false_alarms(judged.pairs, flagged),
    }


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
) -> tuple[float, float]:
    """95% interval of F1 over documents drawn with replacement."""
    members: dict[str, list[int]] = {}
    for at, pair in enumerate(pairs):
        members.setdefault(pair.group, []).append(at)
    groups = [np.array(rows) for rows in members.values()]
    rng = np.random.default_rng(0)
    values = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([groups[at] for at in rng.integers(0, len(groups), len(groups))])
        values.append(precision_recall_f1(unsupported[drawn], flagged[drawn])[2])
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def false_alarms(pairs: Sequence[LabelledPair], flagged: NDArray[np.bool_]) -> dict[str, float]:
    """Share of each kind of supported pair that is stopped."""
    kinds = sorted({pair.kind for pair in pairs if pair.label == 1})
    mine = {k: [at for at, p in enumerate(pairs) if p.label == 1 and p.kind == k] for k in kinds}
    return {kind: float(flagged[rows].mean()) for kind, rows in mine.items()}


def show(name: str, figures: Mapping[str, object]) -> None:
    """A block of text for one set."""
    low, high = figures["f1_ci"]
    print(f"{name}: {figures['n']} pairs, {figures['unsupported']} unsupported")
    print(f"  labels: {LABELS[name.split(',', maxsplit=1)[0]]}")
    print(
        f"  F1 {figures['f1']:.3f} [{low:.3f}, {high:.3f}]  precision {figures['precision']:.3f}"
        f"  recall {figures['recall']:.3f}  AUROC {figures['auroc']:.3f}"
    )
    for title, key in (("found", "recall_by_kind"), ("false alarms", "false_alarms_by_kind")):
        listed = "  ".join(f"{kind} {share:.3f}" for kind, share in figures[key].items())
        print(f"  {title}: {listed}")
    print()


if __name__ == "__main__":
    main()

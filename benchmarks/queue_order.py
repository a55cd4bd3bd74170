"""Which case next: does the console's draw teach more than chance alone, and what does it cost?

    python benchmarks/queue_order.py EXTRACTIONS DOCUMENTS [SCORER]

Labelled extractions play a stream. Six tenths of the documents of each source are reviewed: every
tenth case a spot check, the others drawn from what was stopped as the console draws them, or all
alike. The stack is refitted on the labels and judges the other documents. The share of right values
among stopped ones is estimated from the same draws, weighed by their probabilities.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from safepassage.pipeline import align_with, ground, new_aligner
from safepassage.scoring_worker.evaluation.cases import LabelledCase, labelled_pair
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.sources import Sources, read_documents
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.risk.draws import EVERY, draw
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.training.judged_pairs import Judged, refitted
from safepassage.scoring_worker.training.stacking import stack_scores
from safepassage.scoring_worker.weighing.stack import Stack
from safepassage.streams.console.index.next_case import PREFERRED, teaching_value
from safepassage.streams.settings import Settings

SIZES = (25, 50, 100)
ROUNDS = 5
REVIEWED = 0.6


@dataclass(frozen=True)
class Labels:
    """The rows that were labelled, and what the draws say of the stopped ones."""

    rows: list[int]
    estimate: float


def cases_of(extractions: Path, documents: Path) -> list[LabelledCase]:
    aligner = new_aligner(Settings())
    sources = Sources(read_documents([documents]), partial(align_with, aligner), ground)
    found = read_dataset(extractions, sources).cases
    aligner.close()
    return [case for case in found if case.pairs and len(case.parts) == 1]


def reviews(
    pool: Sequence[int],
    scores: np.ndarray,
    threshold: float,
    cases: Sequence[LabelledCase],
    size: int,
    *,
    teaching: bool,
    chance: random.Random,
) -> Labels:
    stopped = [at for at in pool if scores[at] < threshold]
    passed = [at for at in pool if scores[at] >= threshold]
    chance.shuffle(stopped)
    chance.shuffle(passed)
    of_type: Counter[str] = Counter()
    alike: Counter[tuple[str, str | None]] = Counter()
    rows: list[int] = []
    known, terms = 0, []
    while len(rows) < size and (stopped or passed):
        check = bool(passed) and (len(rows) % EVERY == EVERY - 1 or not stopped)
        if check:
            at = passed.pop()
        else:

            def value(at: int) -> float:
                case = cases[at]
                own = alike[case.entity_type, case.extractor]
                margin = abs(scores[at] - threshold)
                return teaching_value(margin, of_type[case.entity_type], own)

            if teaching:
                stopped.sort(key=value, reverse=True)
            one = draw(
                range(min(PREFERRED, len(stopped))) if teaching else [], len(stopped), chance
            )
            at = stopped.pop(one.position)
            population = one.among + sum(scores[row] < threshold for row in rows)
            right = int(cases[at].supported)
            terms.append((known + right / one.probability) / population)
            known += right
        rows.append(at)
        of_type[cases[at].entity_type] += 1
        alike[cases[at].entity_type, cases[at].extractor] += 1
    return Labels(rows, statistics.fmean(terms) if terms else 0.0)


def main(extractions: str, documents: str, scorer_name: str = "small") -> None:
    cases = cases_of(Path(extractions), Path(documents))
    scorer = load_scorer(scorer_name)
    assert isinstance(scorer, DefaultScorer)
    pairs = [labelled_pair(c.pairs[0], c.supported, kind="gold", group=c.group) for c in cases]
    every = scorer.opinions([pair.pair for pair in pairs])
    kept = [at for at, opinions in enumerate(every) if opinions]
    cases = [cases[at] for at in kept]
    judged = Judged([pairs[at] for at in kept], [every[at] for at in kept])
    start = Stack.of(scorer.manifest)
    scores = stack_scores(start, judged.opinions)
    truth = np.array([case.supported for case in cases])
    threshold = scorer.manifest.thresholds.default
    figures: dict[tuple[str, int], list[tuple[float, float, float]]] = defaultdict(list)
    for source in sorted({case.id.partition("-")[0] for case in cases}):
        own = [at for at, case in enumerate(cases) if (case.id.partition("-")[0]) == source]
        for seed in range(ROUNDS):
            chance = random.Random(seed)
            groups = sorted({cases[at].group for at in own})
            chance.shuffle(groups)
            seen = set(groups[: int(REVIEWED * len(groups))])
            pool = [at for at in own if cases[at].group in seen]
            rest = [at for at in own if cases[at].group not in seen]
            if len({bool(truth[at]) for at in rest}) < 2:
                continue
            stopped = [at for at in pool if scores[at] < threshold]
            share = float(np.mean(truth[stopped])) if stopped else 0.0
            for size in SIZES:
                for order in ("random", "teaching"):
                    made = reviews(
                        pool, scores, threshold, cases, size,
                        teaching=order == "teaching", chance=random.Random(seed + size),
                    )  # fmt: skip
                    some = Judged(
                        [judged.pairs[at] for at in made.rows],
                        [judged.opinions[at] for at in made.rows],
                    )
                    after = stack_scores(
                        refitted(start, list(some.labelled("gold"))),
                        [judged.opinions[at] for at in rest],
                    )
                    said = after >= threshold
                    auroc = float(roc_auc_score(truth[rest], after))
                    f1 = np.mean([_f1(truth[rest] == one, said == one) for one in (True, False)])
                    figures[order, size].append((auroc, float(f1), abs(made.estimate - share)))
            before = (float(roc_auc_score(truth[rest], scores[rest])),)
            said = scores[rest] >= threshold
            f1 = np.mean([_f1(truth[rest] == one, said == one) for one in (True, False)])
            figures["as shipped", 0].append((*before, float(f1), 0.0))
    for (order, size), rows in sorted(figures.items(), key=lambda item: (item[0][1], item[0][0])):
        auroc, f1, error = (statistics.fmean(column) for column in zip(*rows, strict=True))
        print(json.dumps({
            "order": order, "labels": size, "auroc": round(auroc, 3), "macro_f1": round(f1, 3),
            "error_of_the_estimate": round(error, 3), "rounds": len(rows),
        }))  # fmt: skip


def _f1(truth: np.ndarray, said: np.ndarray) -> float:
    both = int((truth & said).sum())
    return 2 * both / max(1, int(truth.sum() + said.sum()))


if __name__ == "__main__":
    main(*sys.argv[1:])

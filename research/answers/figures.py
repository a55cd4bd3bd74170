"""AUROC, AUPRC and F1 of a detector on a set; the positive class is "out of context".

F1 is at a threshold that was tuned on the other half of the documents, where the paper tunes it
on what it measures. What has no score ranks as the most doubtful.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.intervals import Interval, bootstrap
from safepassage.scoring_worker.evaluation.metrics import Mask, f1_of
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.splits import held_out

from .judgement import JudgedSet, KeptJudgement
from .sets import LabelledAnswer

NO_SCORE = 2.0
"""The doubt of a case without a score, more than that of any score in [0, 1]."""

Floats = NDArray[np.float64]


class AnswerFigures(Contract):
    """One row of the table. ``n`` cases, of which ``out_of_context``; undetermined ones count as
    flagged. A figure is None where it is not defined."""

    source: str
    detector: str
    n: int
    out_of_context: int
    undetermined: int
    auroc: float | None
    auroc_ci: Interval | None
    auprc: float | None
    f1: float | None
    span_f1: float | None = None
    sentences_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class _Cases:
    truth: Mask
    doubt: Floats
    groups: list[str]


def figures(judged: Sequence[JudgedSet], source: str) -> AnswerFigures:
    """The figures of one detector over the cases of all ``judged``, as one set of that name."""
    cases = _cases(judged)
    ranking = Ranking(cases.truth, cases.doubt.tolist())
    everything = np.ones(len(cases.truth))
    auroc = ranking.auroc(everything)
    speeds = [one.sentences_per_second for one in judged]
    known = [speed for speed in speeds if speed]
    return AnswerFigures(
        source=source,
        detector=judged[0].detector,
        n=len(cases.truth),
        out_of_context=int(cases.truth.sum()),
        undetermined=int((cases.doubt == NO_SCORE).sum()),
        auroc=auroc,
        auroc_ci=None if auroc is None else bootstrap(ranking.auroc, cases.groups),
        auprc=ranking.auprc(everything),
        f1=_tuned_f1(cases),
        span_f1=span_f1(judged),
        sentences_per_second=len(known) / sum(1 / speed for speed in known) if known else None,
    )


def span_f1(judged: Sequence[JudgedSet]) -> float | None:
    """F1 over characters: those of claims below a threshold against those that people marked. Each
    half of the documents has the best threshold of the other; None without marks or claims."""
    marked = [(c, j) for c, j in _pairs(judged) if c.spans is not None and j.claims]
    if not marked:
        return None
    other = _other_half([case.group for case, _ in marked])
    scores = [
        _characters(case.spans or (), len(case.answer.response), judgement)
        for case, judgement in marked
    ]
    steps = np.linspace(0.0, 1.0, 101)[1:]
    hits = wrong = 0.0
    for half in (other, ~other):
        mine = [found for found, chosen in zip(scores, half, strict=True) if chosen]
        rest = [found for found, chosen in zip(scores, half, strict=True) if not chosen]
        if not mine or not rest:
            return None
        best = max(steps, key=lambda step: _f1(*_counts(rest, step)))
        found_hits, found_wrong = _counts(mine, best)
        hits, wrong = hits + found_hits, wrong + found_wrong
    return _f1(hits, wrong)


def _characters(
    spans: Sequence[tuple[int, int]], length: int, judgement: KeptJudgement
) -> tuple[Mask, Floats]:
    """Of every character whether people marked it, and the score of its claim (1 outside any)."""
    truth = np.zeros(length, dtype=bool)
    scores = np.ones(length)
    for start, end in spans:
        truth[start:end] = True
    for claim in judgement.claims:
        scores[claim.start : claim.end] = -1.0 if claim.score is None else claim.score
    return truth, scores


def _counts(cases: Sequence[tuple[Mask, Floats]], threshold: float) -> tuple[float, float]:
    hits = sum(float((truth & (scores < threshold)).sum()) for truth, scores in cases)
    wrong = sum(float((truth != (scores < threshold)).sum()) for truth, scores in cases)
    return hits, wrong


def _f1(hits: float, wrong: float) -> float:
    return 2 * hits / (2 * hits + wrong) if hits + wrong else 0.0


def _pairs(judged: Sequence[JudgedSet]) -> list[tuple[LabelledAnswer, KeptJudgement]]:
    return [pair for one in judged for pair in zip(one.cases.cases, one.judgements, strict=True)]


def _cases(judged: Sequence[JudgedSet]) -> _Cases:
    pairs = _pairs(judged)
    doubt = [NO_SCORE if j.score is None else 1.0 - j.score for _, j in pairs]
    truth = np.array([not case.grounded for case, _ in pairs], dtype=bool)
    return _Cases(truth, np.array(doubt), [case.group for case, _ in pairs])


def _tuned_f1(cases: _Cases) -> float | None:
    """F1 of all cases, each half of the documents at the best threshold of the other."""
    other = _other_half(cases.groups)
    flagged = np.zeros(len(cases.truth), dtype=bool)
    for half in (other, ~other):
        if not half.any() or not cases.truth[~half].any():
            return None
        threshold = _best_threshold(cases.truth[~half], cases.doubt[~half])
        flagged[half] = cases.doubt[half] >= threshold
    return f1_of(cases.truth, flagged, np.ones(len(flagged)))


def _best_threshold(truth: Mask, doubt: Floats) -> float:
    """The doubt from which on flagging gives the best F1."""
    order = np.argsort(-doubt, kind="stable")
    hits = np.cumsum(truth[order])
    flagged = np.arange(1, len(order) + 1)
    f1 = 2 * hits / (flagged + truth.sum())
    last = np.append(np.diff(doubt[order]) != 0, True)  # equal doubts are flagged together
    return float(doubt[order][int(np.where(last, f1, -1.0).argmax())])


def _other_half(groups: Sequence[str]) -> Mask:
    return np.array([held_out(group, 0.5, "answers") for group in groups], dtype=bool)

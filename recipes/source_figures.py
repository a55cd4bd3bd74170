"""Threshold and figures of a stack, from sources that neither it nor its reader learnt from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue
from sklearn.metrics import f1_score, roc_auc_score

from recipes.opinion_file import judged_once
from recipes.stack_pairs import answer_pairs
from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.manifest import Thresholds, TypeThreshold
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.training.judged_pairs import Judged
from safepassage.scoring_worker.training.stacking import fit_stack
from safepassage.scoring_worker.weighing.stack import Stack

Scores = Mapping[str, NDArray[np.float64]]
Answers = Mapping[str, tuple[NDArray[np.bool_], NDArray[np.float64]]]
"""By source which answers are good [answers], and the scores [answers] of their worst claims."""

CANDIDATES = tuple(round(0.05 * step, 2) for step in range(2, 19))
"""Thresholds in steps of .05: a finer one would be fitted to these sources and no others."""

ANSWERS = ("ragtruth_qa", "expertqa", "faithbench", "wice_claim")
"""Sources of judged answers, in `groundedness`."""
ANSWERS_OF_A_SOURCE = 150
GOOD_STOPPED = (0.05, 0.1, 0.2, 0.4)
"""Shares of good answers that may be stopped, for which the model card says what else is."""
GOOD_ANSWERS_STOPPED = 0.1
"""Share of the good answers that the threshold of claims may stop, in the mean over `ANSWERS`. An
answer is stopped if one of its claims is."""


def scores_in_turn(
    judged: Mapping[str, Judged], kin: Iterable[Sequence[str]]
) -> dict[str, NDArray[np.float64]]:
    """By source the scores [pairs] of a stack that was fitted without it and its ``kin``."""
    opinions = {name: list(own.labelled(name)) for name, own in judged.items()}
    scores: dict[str, NDArray[np.float64]] = {}
    for names in kin:
        without = fit_stack([o for name, own in opinions.items() if name not in names for o in own])
        scores |= {name: judged[name].scores(without) for name in names}
    return scores


def best_threshold(judged: Mapping[str, Judged], scores: Scores) -> float:
    """Of `CANDIDATES` the lowest with the best mean of macro F1 over the sources: macro, since most
    values there are wrong, and over sources, so that none counts more for its rows."""

    def reached(threshold: float) -> float:
        each = [
            f1_score(own.supported, scores[name] >= threshold, average="macro")
            for name, own in judged.items()
            if len(set(own.supported)) > 1
        ]
        return float(np.mean(each))

    return max(CANDIDATES, key=reached)


def judged_answers(
    folder: Path, data: Path, scorer: Callable[[], DefaultScorer], stack: Stack
) -> Answers:
    """What ``scorer`` makes of the sources `ANSWERS`, weighed by ``stack``; its opinions are kept
    in ``folder``.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    judged = judged_once(
        folder / "opinions-answers.jsonl",
        scorer,
        lambda: {name: answer_pairs(data, name, ANSWERS_OF_A_SOURCE) for name in ANSWERS},
    )
    found = {}
    for name, own in judged.items():
        by_answer: dict[str, tuple[bool, float]] = {}
        for pair, score in zip(own.pairs, own.scores(stack), strict=True):
            _, worst = by_answer.get(pair.group, (True, 1.0))
            by_answer[pair.group] = bool(pair.label), min(worst, float(score))
        good, scores = zip(*by_answer.values(), strict=True)
        found[name] = np.array(good), np.array(scores)
    return found


def claim_threshold(answers: Answers, most: float) -> float:
    """The highest threshold of claims, in steps of .01, that stops at most the share ``most`` of
    the good answers, in the mean over the sources; 0 where none does."""

    def stopped(threshold: float) -> float:
        shares = [(scores[good] < threshold).mean() for good, scores in answers.values()]
        return float(np.mean(shares))

    steps = (round(0.01 * step, 2) for step in range(99, 0, -1))
    return next((threshold for threshold in steps if stopped(threshold) <= most), 0.0)


def answer_blocks(answers: Answers, thresholds: Thresholds) -> dict[str, JsonValue]:
    """``metrics`` of scorer.json on answers: each source at the threshold of claims; and by the
    share of good answers that may be stopped the threshold, and the shares of good and of bad ones
    stopped, in the mean over the sources, each at the threshold that the others give."""
    claims = thresholds.of(CLAIM_TYPE)
    by_source = {
        name: _of_source(good, scores, np.full(len(scores), claims))
        for name, (good, scores) in answers.items()
    }
    by_share: dict[str, JsonValue] = {}
    for most in GOOD_STOPPED:
        stopped = []
        for name, (good, scores) in answers.items():
            others = {other: own for other, own in answers.items() if other != name}
            flagged = scores < claim_threshold(others, most)
            stopped.append((flagged[good].mean(), flagged[~good].mean()))
        of_good, of_bad = (round(float(share), 3) for share in np.mean(stopped, axis=0))
        by_share[str(most)] = {
            "threshold": claim_threshold(answers, most),
            "good stopped": of_good,
            "bad stopped": of_bad,
        }
    return {"answers": dict(by_source), "answers, by the good ones that may be stopped": by_share}


def thresholds_with_claims(default: float, answers: Answers) -> Thresholds:
    """The ``default`` for values, and for claims the threshold that stops `GOOD_ANSWERS_STOPPED` of
    the good ones of ``answers``."""
    claim = TypeThreshold(
        value=claim_threshold(answers, GOOD_ANSWERS_STOPPED),
        n=sum(len(good) for good, _ in answers.values()),
        target=f"good answers stopped<={GOOD_ANSWERS_STOPPED:g}",
    )
    return Thresholds(default=default, by_type={CLAIM_TYPE: claim})


def figures(
    judged: Mapping[str, Judged], scores: Scores, thresholds: Thresholds
) -> dict[str, dict[str, JsonValue]]:
    """By source: rows, AUROC, the shares of wrong ones caught and of right ones refused. The
    positive class is "unsupported"; sources of one label only are left out."""
    return {
        name: _of_source(
            np.array(own.supported), scores[name], np.array([thresholds.of(t) for t in own.types])
        )
        for name, own in judged.items()
        if len(set(own.supported)) > 1
    }


def _of_source(
    supported: NDArray[np.bool_], scores: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> dict[str, JsonValue]:
    flagged = scores < thresholds
    return {
        "rows": len(scores),
        "auroc": round(float(roc_auc_score(supported, scores)), 3),
        "caught": round(float(flagged[~supported].mean()), 3),
        "refused": round(float(flagged[supported].mean()), 3),
    }


def mean_figures(by_source: Mapping[str, Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    """The plain means over the sources."""
    rows = list(by_source.values())
    means: dict[str, JsonValue] = {"sources": len(rows)}
    for name in ("auroc", "caught", "refused"):
        means[name] = round(float(np.mean([_number(row[name]) for row in rows])), 3)
    return means


def figure_blocks(
    judged: Mapping[str, Judged], scores: Scores, thresholds: Thresholds, annotated: Iterable[str]
) -> dict[str, JsonValue]:
    """``metrics`` of scorer.json: the sources ``annotated`` by people, their means, the others."""
    found = figures(judged, scores, thresholds)
    people = {name: row for name, row in found.items() if name in set(annotated)}
    return {
        "means of sources left out": dict(mean_figures(people)),
        "sources left out": dict(people),
        "made from sources left out, and claims": {
            name: row for name, row in found.items() if name not in people
        },
    }


def _number(value: JsonValue) -> float:
    assert isinstance(value, int | float)  # noqa: S101 (for the type checker; `_of_source` knows)
    return float(value)

"""What a threshold of claims stops: sentences that people marked, and those that nobody did.

A detector that judges claims on the stream needs a threshold for single sentences. Fitted to F1 on
half of the queries, it is measured on the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from research.answers.judgement import JudgedSet
from safepassage.schemas import Contract
from safepassage.scoring_worker.evaluation.intervals import Interval, bootstrap
from safepassage.scoring_worker.evaluation.metrics import recall_of
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.evaluation.splits import folds
from safepassage.scoring_worker.threshold_fitting import Target, fit_threshold

THRESHOLDS: Final = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


class ClaimTrade(Contract):
    """At ``threshold``: the share in [0, 1] of the sentences with a marked hallucination that are
    stopped, and of the others; intervals at 95%, over queries. ``fitted`` says that the threshold
    has the best F1 on one half of the queries, and that the shares are of the other half."""

    threshold: float
    marked_stopped: float
    marked_ci: Interval | None
    others_stopped: float
    others_ci: Interval | None
    fitted: bool = False


class ClaimTrades(Contract):
    """``marked`` of ``sentences`` hold a hallucination that people marked; ``unjudged`` got no
    score, and count as stopped: they are never accepted."""

    dataset: str
    detector: str
    sentences: int
    marked: int
    unjudged: int
    trades: tuple[ClaimTrade, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    score: float | None
    marked: bool
    group: str


def claim_trades(judged: JudgedSet) -> ClaimTrades:
    """The trade at each of `THRESHOLDS`, and at a fitted one.

    Raises:
        DatasetError: nobody marked a hallucination in this set, or half of it has none.
    """
    every = list(_sentences(judged))
    if not any(one.marked for one in every):
        raise DatasetError(f"{judged.cases.name}: no sentence in it has a marked hallucination")
    half = folds((one.group for one in every), 2, seed=0)
    taught, held = ([one for one in every if half[one.group] == side] for side in (0, 1))
    known = [one for one in taught if one.score is not None]
    if not any(one.marked for one in known) or not any(one.marked for one in held):
        raise DatasetError(f"{judged.cases.name}: too few marked sentences to fit on half of them")
    best = fit_threshold(
        [one.score or 0.0 for one in known], [not one.marked for one in known], Target()
    )
    return ClaimTrades(
        dataset=judged.cases.name,
        detector=judged.detector,
        sentences=len(every),
        marked=sum(one.marked for one in every),
        unjudged=sum(one.score is None for one in every),
        trades=(
            *(_trade(every, threshold) for threshold in THRESHOLDS),
            _trade(held, best.value).model_copy(update={"fitted": True}),
        ),
    )


def _sentences(judged: JudgedSet) -> list[_Sentence]:
    return [
        _Sentence(
            claim.score,
            any(start < claim.end and claim.start < end for start, end in case.spans),
            case.query_group,
        )
        for case, judgement in zip(judged.cases.cases, judged.judgements, strict=True)
        if case.spans is not None
        for claim in judgement.claims
    ]


def _trade(sentences: Sequence[_Sentence], threshold: float) -> ClaimTrade:
    marked = np.array([one.marked for one in sentences])
    stopped = np.array([one.score is None or one.score < threshold for one in sentences])
    groups = [one.group for one in sentences]
    ones = np.ones(len(sentences))
    return ClaimTrade(
        threshold=threshold,
        marked_stopped=recall_of(marked, stopped, ones),
        marked_ci=bootstrap(lambda weights: recall_of(marked, stopped, weights), groups),
        others_stopped=recall_of(~marked, stopped, ones),
        others_ci=bootstrap(lambda weights: recall_of(~marked, stopped, weights), groups),
    )

"""What a scorer is worth after some reviews: quality, and what may pass at a certified risk.

Wrong values are rarer in a stream than in a labelled set. So the judged cases are weighted to the
share of wrong ones that a stream may have. From such a stream `CHECKS` values are drawn and
labelled, the loosest threshold that they certify is taken (`safepassage.scoring_worker.risk`), and
the share of the stream that it accepts is the figure; nothing certified is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.evaluation.intervals import Interval, Weights, draws
from safepassage.scoring_worker.evaluation.metrics import macro_f1_of
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.risk.certificate import CertifiedThreshold, certified_threshold

FALSE_ALARMS = 0.06
"""The share of right values that may be stopped where it is counted how many wrong ones are."""
WRONG_SHARES = (0.05, 0.1)
RISKS = (0.01, 0.02, 0.05)
CHECKS = 300
"""Labelled values of the stream that a risk is certified on."""
STREAMS = 20
"""Draws of such labels."""
RESAMPLES = 200
"""Of the documents of each draw of reviews, for the intervals."""


class Judged(Contract):
    """The judged cases of one draw of reviews: what the scorer made of each. ``groups`` numbers
    their documents. ``seconds`` is what learning took."""

    size: int
    draw: int
    reviewed: int
    supported_reviewed: int
    seconds: float
    learnt: dict[str, str]
    supported: tuple[bool, ...]
    accepted: tuple[bool, ...]
    doubt: tuple[float, ...]
    groups: tuple[int, ...]


class Certified(Contract):
    """The share of a stream that is accepted where at most ``risk`` of what is accepted is wrong,
    certified on `CHECKS` labels, if the share ``wrong`` of its values is; with its interval.
    ``broken`` is the share of the certified thresholds that did let more through."""

    wrong: float
    risk: float
    accepted: float
    accepted_ci: Interval
    broken: float


class ReviewsPoint(Contract):
    """Figures after ``size`` reviews, over ``draws`` draws of them: means, with intervals over
    documents drawn anew in every draw. The positive class is unsupported; ``caught`` is its share
    that is stopped where `FALSE_ALARMS` of right values are."""

    size: int
    draws: int
    supported_reviewed: float
    judged: int
    seconds: float
    macro_f1: float
    macro_f1_ci: Interval
    auroc: float
    auroc_ci: Interval
    caught: float
    caught_ci: Interval
    certified: tuple[Certified, ...]
    learnt: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns [cases] of one draw."""

    wrong: NDArray[np.bool_]
    stopped: NDArray[np.bool_]
    doubt: NDArray[np.float64]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, judged: Judged) -> _Columns:
        return cls(
            ~np.array(judged.supported),
            ~np.array(judged.accepted),
            np.array(judged.doubt),
            tuple(map(str, judged.groups)),
        )

    def macro_f1(self, weights: Weights) -> float | None:
        return macro_f1_of(self.wrong, self.stopped, weights)

    def auroc(self, weights: Weights) -> float | None:
        return Ranking(self.wrong, self.doubt.tolist()).auroc(weights)

    def caught(self, weights: Weights) -> float | None:
        return caught_at(self.wrong, self.doubt, weights)


def caught_at(
    wrong: NDArray[np.bool_], doubt: NDArray[np.float64], weights: Weights
) -> float | None:
    """The share of wrong values above the least doubt that stops `FALSE_ALARMS` of right ones;
    None unless both classes have weight."""
    if not weights[wrong].sum() or not weights[~wrong].sum():
        return None
    order = np.argsort(-doubt[~wrong], kind="stable")
    falling, alarms = doubt[~wrong][order], np.cumsum(weights[~wrong][order])
    beyond = np.flatnonzero(alarms > FALSE_ALARMS * alarms[-1] + 1e-9)
    limit = falling[beyond[0]]
    return float(weights[wrong & (doubt > limit)].sum() / weights[wrong].sum())


def point_of(judged: Sequence[Judged]) -> ReviewsPoint:
    """The figures of all draws of one size."""
    columns = [_Columns.of(one) for one in judged]
    figures: dict[str, object] = {}
    for name in ("macro_f1", "auroc", "caught"):
        found = [getattr(one, name)(np.ones(len(one.wrong))) or 0.0 for one in columns]
        every = [
            value
            for one in columns
            for value in draws(getattr(one, name), one.groups, resamples=RESAMPLES)
        ]
        low, high = np.quantile(every or found, [0.025, 0.975])
        figures |= {name: float(np.mean(found)), f"{name}_ci": (float(low), float(high))}
    return ReviewsPoint(
        size=judged[0].size,
        draws=len(judged),
        supported_reviewed=float(np.mean([one.supported_reviewed for one in judged])),
        judged=round(float(np.mean([len(one.supported) for one in judged]))),
        seconds=round(float(np.mean([one.seconds for one in judged])), 1),
        certified=tuple(
            _certified(columns, wrong, risk) for wrong in WRONG_SHARES for risk in RISKS
        ),
        learnt=tuple(one.learnt for one in judged),
        **figures,
    )


def _certified(columns: Sequence[_Columns], wrong: float, risk: float) -> Certified:
    accepted, broken, certified = [], 0, 0
    for number, one in enumerate(columns):
        share = _stream(one, wrong)
        scores = np.clip(1.0 - one.doubt, 0.0, 1.0)
        source = np.random.default_rng(number)
        for _ in range(STREAMS):
            drawn = source.choice(len(share), size=CHECKS, p=share)
            found = certified_threshold(scores[drawn], one.wrong[drawn], None, risk)
            if not isinstance(found, CertifiedThreshold):
                accepted.append(0.0)
                continue
            certified += 1
            passes = (scores >= found.value) & (one.doubt <= 1.0)
            accepted.append(float(share[passes].sum()))
            broken += float(share[passes & one.wrong].sum()) > risk * accepted[-1]
    low, high = np.quantile(accepted, [0.025, 0.975])
    return Certified(
        wrong=wrong,
        risk=risk,
        accepted=float(np.mean(accepted)),
        accepted_ci=(float(low), float(high)),
        broken=broken / certified if certified else 0.0,
    )


def _stream(one: _Columns, wrong: float) -> NDArray[np.float64]:
    """The share [cases] of each case in a stream of which ``wrong`` is wrong."""
    share = np.where(
        one.wrong, wrong / max(1, one.wrong.sum()), (1 - wrong) / max(1, (~one.wrong).sum())
    )
    return np.asarray(share / share.sum())

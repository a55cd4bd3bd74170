"""Whether a candidate scorer may go live: it must beat the incumbent on gold labels.

The positive class is "unsupported": recall is the share of unsupported extractions that are
stopped, which is what a guardrail is for. Both scorers judge the same cases, so differences are
paired; cases of one document err together, so documents are drawn for the intervals, not cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from safepassage.schemas.base import Contract, Probability
from safepassage.scoring_worker import Pair, Scorer
from safepassage.scoring_worker.evaluation.cases import LabelledCase
from safepassage.scoring_worker.evaluation.intervals import Weights, draws
from safepassage.scoring_worker.evaluation.metrics import Mask, f1_of, macro_f1_of, recall_of

RESAMPLES = 2_000


class Bounds(Contract):
    """What a candidate has to show. ``confidence`` is one-sided.

    ``max_recall_loss``: at that confidence, recall falls by no more than this.
    ``max_accepted_loss``: the share of supported cases that is accepted falls by no more than this.
    ``min_f1_gain``: macro F1, the mean over both classes, rises by more than this.
    ``max_unjudged``: no larger share of the cases gets no score.
    ``min_labels``: with fewer cases of either class, nothing can be said.
    """

    max_recall_loss: Probability = 0.02
    max_accepted_loss: Probability = 0.05
    min_f1_gain: float = Field(default=0.0, ge=-1, le=1)
    max_unjudged: Probability = 0.01
    min_labels: int = Field(default=20, ge=1)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)


class Quality(Contract):
    """One scorer on the gold labels. ``accepted`` is the share of the supported cases that it
    accepts; ``macro_f1`` is over both classes."""

    scorer: str
    revision: str
    recall: float
    precision: float
    f1: float
    accepted: float
    macro_f1: float
    unjudged: int


class Bound(Contract):
    """One bound, whether it holds, and why in a line for a person."""

    name: str
    passed: bool
    explanation: str


class PromotionResult(Contract):
    """The decision, with everything it rests on. ``learnt`` cases were left out, since the
    candidate has learnt from their documents."""

    supported: int
    unsupported: int
    incumbent: Quality
    candidate: Quality
    bounds: tuple[Bound, ...]
    learnt: int = Field(default=0, ge=0)

    @property
    def passed(self) -> bool:
        return all(bound.passed for bound in self.bounds)


def judge_candidate(
    cases: Sequence[LabelledCase], incumbent: Scorer, candidate: Scorer, bounds: Bounds
) -> PromotionResult:
    """Hold ``candidate`` against ``incumbent`` on labelled ``cases``."""
    truth = np.array([not case.supported for case in cases], dtype=bool)
    before, after = _Stops.by(incumbent, cases), _Stops.by(candidate, cases)
    unsupported = int(truth.sum())
    return PromotionResult(
        supported=len(cases) - unsupported,
        unsupported=unsupported,
        incumbent=before.quality(truth),
        candidate=after.quality(truth),
        bounds=tuple(_bounds(truth, before, after, [case.group for case in cases], bounds)),
    )


@dataclass(frozen=True, slots=True)
class _Stops:
    """What one scorer made of the cases: which were stopped, and how many got no score."""

    scorer: Scorer
    stopped: Mask
    unjudged: int

    @classmethod
    def by(cls, scorer: Scorer, cases: Sequence[LabelledCase]) -> _Stops:
        pairs = [pair for case in cases for pair in case.pairs]
        answers = iter(scorer.assess(pairs) if pairs else ())
        stopped, unjudged = [], 0
        for case in cases:
            given = [next(answers) if isinstance(part, Pair) else None for part in case.parts]
            unjudged += any(answer is not None and answer.score is None for answer in given)
            stopped.append(not all(answer is not None and answer.passes for answer in given))
        return cls(scorer, np.array(stopped, dtype=bool), unjudged)

    def quality(self, truth: Mask) -> Quality:
        weights = np.ones(len(truth))
        return Quality(
            scorer=self.scorer.name,
            revision=self.scorer.revision,
            recall=recall_of(truth, self.stopped, weights),
            precision=recall_of(self.stopped, truth, weights),
            f1=f1_of(truth, self.stopped, weights),
            accepted=recall_of(~truth, ~self.stopped, weights),
            macro_f1=macro_f1_of(truth, self.stopped, weights) or 0.0,
            unjudged=self.unjudged,
        )


def labels_wanted(supported: int, unsupported: int, each: int) -> str:
    """How many more labels of which class make ``each`` of both, for people; "" where enough."""
    counts = (("supported", supported), ("unsupported", unsupported))
    return " and ".join(f"{each - n} more {name}" for name, n in counts if n < each)


def _bounds(
    truth: Mask, before: _Stops, after: _Stops, groups: Sequence[str], bounds: Bounds
) -> Iterator[Bound]:
    def bound(name: str, passed: bool, explanation: str) -> Bound:
        return Bound(name=name, passed=passed, explanation=explanation)

    unsupported, every = int(truth.sum()), len(truth)
    wanted = labels_wanted(every - unsupported, unsupported, bounds.min_labels)
    found = f"{every - unsupported} supported and {unsupported} unsupported cases, "
    found += f"at least {bounds.min_labels} of each are needed"
    yield bound("labels", not wanted, found + (f": {wanted} are wanted" if wanted else ""))

    share = after.unjudged / every if every else 1.0
    found = f"the candidate gives no score for {after.unjudged} of {every} cases, "
    found += f"at most {bounds.max_unjudged:.1%} may go without"
    yield bound("unjudged", share <= bounds.max_unjudged, found)

    def change(weights: Weights) -> float:
        return recall_of(truth, after.stopped, weights) - recall_of(truth, before.stopped, weights)

    weights = np.ones(every)
    drawn = draws(change, groups, resamples=RESAMPLES)
    lowest = float(np.quantile(drawn, 1 - bounds.confidence)) if drawn else float("-inf")
    found = f"recall of unsupported changes by {change(weights):+.3f}, and by no less than "
    found += f"{lowest:+.3f} at {bounds.confidence:.0%} confidence; "
    found += f"at least {-bounds.max_recall_loss:+.3f} is asked"
    yield bound("recall", lowest >= -bounds.max_recall_loss, found)

    # A scorer that stops everything finds all that is wrong, and is of no use.
    old, new = (recall_of(~truth, ~side.stopped, weights) for side in (before, after))
    least = old - bounds.max_accepted_loss
    found = f"of the supported cases {new:.3f} are accepted, {old:.3f} before; "
    yield bound("accepted", new >= least, f"{found}at least {least:.3f} are asked")

    old, new = (macro_f1_of(truth, side.stopped, weights) or 0.0 for side in (before, after))
    found = f"macro F1 changes by {new - old:+.3f}; more than {bounds.min_f1_gain:+.3f} is asked"
    yield bound("macro F1", new - old > bounds.min_f1_gain, found)

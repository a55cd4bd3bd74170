"""What the stack is refitted on: a scorer's opinions of labelled pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog
from numpy.typing import NDArray

from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.stack import Stack

from .stacking import LabelledOpinion, StackSettings, fit_stack, stack_scores

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Judged:
    """Pairs that could be read, and the opinions of each one's parts."""

    pairs: list[LabelledPair]
    opinions: list[tuple[Opinion, ...]]

    @classmethod
    def by(cls, scorer: DefaultScorer, pairs: Sequence[LabelledPair]) -> Judged:
        """What ``scorer`` makes of ``pairs``; those that fail are left out."""
        every = scorer.opinions([pair.pair for pair in pairs])
        read = [(p, o) for p, o in zip(pairs, every, strict=True) if o]
        if len(read) < len(pairs):
            log.warning("pairs_unread", pairs=len(pairs) - len(read), of=len(pairs))
        return cls([pair for pair, _ in read], [opinions for _, opinions in read])

    def __add__(self, other: Judged) -> Judged:
        return Judged([*self.pairs, *other.pairs], [*self.opinions, *other.opinions])

    @property
    def supported(self) -> list[bool]:
        return [pair.label == 1 for pair in self.pairs]

    @property
    def types(self) -> list[str]:
        return [pair.entity_type for pair in self.pairs]

    def scores(self, stack: Stack) -> NDArray[np.float64]:
        """Uncalibrated scores [pairs]."""
        return stack_scores(stack, self.opinions)

    def labelled(self, source: str) -> Iterator[LabelledOpinion]:
        """Opinions with a label of their own. Which part of a wrong value with several parts is
        wrong, nobody said."""
        for pair, opinions in zip(self.pairs, self.opinions, strict=True):
            if pair.label or len(opinions) == 1:
                for opinion in opinions:
                    yield LabelledOpinion(opinion, pair.label, source)


def refitted(
    start: Stack, labelled: Sequence[LabelledOpinion], settings: StackSettings | None = None
) -> Stack:
    """``start`` moved as far as ``labelled`` justify; ``start`` itself where they are of one label.

    Coefficients with packs are left as they are.
    """
    open_ones = [one for one in labelled if not one.opinion.different]
    if {one.label for one in open_ones} != {0, 1}:
        log.info("stack_kept", opinions=len(open_ones))
        return start
    return fit_stack(labelled, settings, start).model_copy(update={"with_packs": start.with_packs})

"""Cases as pairs to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorer import Pair

from .cases import LabelledCase


def learnable(cases: Iterable[LabelledCase]) -> Iterator[LabelledPair]:
    """The cases that are one pair each.

    A quote that was not found has no passage to learn from, and the label of an answer of
    several sentences does not say which of them it is about.
    """
    for case in cases:
        if len(case.parts) == 1 and case.pairs:
            kind = case.kind or "gold"
            yield labelled_pair(case.pairs[0], case.supported, kind=kind, group=case.group)


def labelled_pair(pair: Pair, supported: bool, *, kind: str, group: str) -> LabelledPair:
    """``pair`` with its label."""
    return LabelledPair(
        premise=pair.premise,
        entity_type=pair.entity_type,
        value=pair.value,
        label=1 if supported else 0,
        kind=kind,
        group=group,
        around=pair,
    )

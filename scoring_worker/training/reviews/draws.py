"""Which cases of a labelled set are reviewed, and which ones judge what was learnt from them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.scoring_worker.evaluation.cases import Dataset, LabelledCase
from safepassage.scoring_worker.evaluation.judgement import JudgedCase
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.evaluation.splits import in_order

MOST_REVIEWED = 2 / 3
"""Of the cases, so that a third is left to judge."""
SPARE = 1.25
"""Cases to draw from for each one that is drawn."""
FEWEST_JUDGED = 20


@dataclass(frozen=True, slots=True)
class Split:
    """Cases to draw reviews from, and cases of other documents that judge the outcome."""

    reviewed: tuple[LabelledCase, ...]
    judged: tuple[LabelledCase, ...]


def split(dataset: Dataset, most: int, seed: int, judged: int | None) -> Split:
    """The documents of ``dataset`` in two: half of the cases, or enough to draw ``most`` of them;
    at most ``judged`` of the others, whole documents. Raises `DatasetError` where there are too few
    documents."""
    order = in_order((case.group for case in dataset.cases), seed)
    cases = sorted(dataset.cases, key=lambda case: order[case.group])
    wanted = min(max(len(cases) / 2, SPARE * most), MOST_REVIEWED * len(cases))
    inside: list[LabelledCase] = []
    outside: list[LabelledCase] = []
    for case in cases:
        known = bool(inside) and inside[-1].group == case.group and not outside
        (inside if known or (len(inside) < wanted and not outside) else outside).append(case)
    last = outside[judged - 1].group if judged and len(outside) > judged else None
    if last is not None:
        limit = max(at for at, case in enumerate(outside) if case.group == last)
        outside = outside[: limit + 1]
    supported = sum(case.supported for case in outside)
    if len(outside) < FEWEST_JUDGED or not 0 < supported < len(outside):
        raise DatasetError(
            f"{dataset.name}: {len(cases)} cases of {len(order)} documents are too few to learn "
            "from some and judge the others"
        )
    return Split(tuple(inside), tuple(outside))


def reviews(
    outcomes: Sequence[JudgedCase], size: int, checks: int, seed: int
) -> list[LabelledPair]:
    """``size`` reviews as the console draws them: of stopped values, and ``checks`` of them
    of accepted ones; where one kind runs out, the other fills up. Each represents as many values
    of its kind as there are for one review.

    ``outcomes`` are of the scorer that decides before anybody reviewed.
    """
    rng = random.Random(seed)
    kinds = {False: _open(outcomes, accepted=False), True: _open(outcomes, accepted=True)}
    accepted = min(max(checks, size - len(kinds[False])), len(kinds[True]))
    counts = {True: accepted, False: min(size - accepted, len(kinds[False]))}
    drawn: list[LabelledPair] = []
    for kind, count in counts.items():
        for case in rng.sample(kinds[kind], count):
            drawn.append(_review(case, kind, len(kinds[kind]) / count))
    rng.shuffle(drawn)
    return drawn


def _open(outcomes: Sequence[JudgedCase], *, accepted: bool) -> list[LabelledCase]:
    return [
        one.case
        for one in outcomes
        if one.accepted == accepted and len(one.case.parts) == 1 and one.case.pairs
    ]


def _review(case: LabelledCase, accepted: bool, weight: float) -> LabelledPair:
    pair = case.pairs[0]
    return LabelledPair(
        premise=pair.premise,
        entity_type=pair.entity_type,
        value=pair.value,
        label=1 if case.supported else 0,
        kind="spot_check" if accepted else "review",
        group=case.group,
        around=pair,
        weight=weight,
    )

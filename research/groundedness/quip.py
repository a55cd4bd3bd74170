"""QuIP's n, chosen on validation answers as the paper does: it found 21 on its development set."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from research.answers.sets import (
    AnswersOfSource,
    LabelledAnswer,
)
from safepassage.schemas import Contract
from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.detectors.quip import N, load_quip
from safepassage.scoring_worker.evaluation.intervals import Interval, bootstrap
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.evaluation.splits import folds

LENGTHS: Final = (3, 5, 9, 13, 17, 21, 25, 31)
"""Characters among which n is chosen."""


class ChosenLength(Contract):
    """``chosen`` has the best AUROC on half of the queries of a set, in ``validation`` by length;
    the AUROC of it and of the paper's 21 are of the other half, with 95% intervals over queries."""

    dataset: str
    chosen: int
    validation: dict[int, float]
    auroc: float
    auroc_ci: Interval | None
    auroc_of_21: float


def choose_length(answers: AnswersOfSource) -> ChosenLength:
    """Choose n on the answers of half of the queries, by seed 0, and measure it on the others.

    Raises:
        DatasetError: a half has answers of one label only.
    """
    half = folds((case.query_group for case in answers.cases), 2, seed=0)
    fitted, held = (
        [case for case in answers.cases if half[case.query_group] == side] for side in (0, 1)
    )
    for part in (fitted, held):
        if len({case.grounded for case in part}) < 2:
            raise DatasetError(f"{answers.name}: too few answers to choose n on half of them")
    validation = {n: _auroc(fitted, n) for n in LENGTHS}
    chosen = max(LENGTHS, key=lambda n: validation[n])
    ranking = _ranking(held, chosen)
    return ChosenLength(
        dataset=answers.name,
        chosen=chosen,
        validation=validation,
        auroc=ranking.auroc(np.ones(len(held))) or 0.0,
        auroc_ci=bootstrap(ranking.auroc, [case.query_group for case in held]),
        auroc_of_21=_auroc(held, N),
    )


def _auroc(cases: Sequence[LabelledAnswer], n: int) -> float:
    return _ranking(cases, n).auroc(np.ones(len(cases))) or 0.0


def _ranking(cases: Sequence[LabelledAnswer], n: int) -> Ranking:
    """What cannot be judged ranks as the most doubtful."""
    found = load_quip(DetectorSettings(model=str(n))).ground([case.answer for case in cases])
    doubt = [1.0 if one.score is None else -one.score for one in found]
    return Ranking([not case.grounded for case in cases], doubt)

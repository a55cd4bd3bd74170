"""Where HalluGraph works: its AUC by the length of an answer and by how rich it is in entities.

The paper (section 5, figure 1) finds it best on long, dense texts: above 400 words, with more than
20 entities. Here the same is measured on labelled answers of any set.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from research.answers.sets import LabelledAnswer
from research.groundedness.sampling import read_answers
from safepassage.schemas import Contract
from safepassage.scoring_worker.detectors.hallugraph.entailment import Entailment
from safepassage.scoring_worker.detectors.hallugraph.fidelity import Fidelity, compare
from safepassage.scoring_worker.detectors.hallugraph.graph import GraphExtractor, NoGraph
from safepassage.scoring_worker.evaluation.intervals import Interval, bootstrap
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.evaluation.splits import folds
from safepassage.scoring_worker.threshold_fitting import Target, fit_threshold

LENGTHS: Final = (50, 100, 200, 400)
"""Words of an answer at which a band ends; the paper's regime begins at 400."""
RICHNESS: Final = (5, 10, 20)
"""Entities of an answer at which a band ends; the paper's regime begins at 20."""
WEIGHTS: Final = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
"""Of EG, among which one is fitted."""
PAPER: Final[dict[str, tuple[float, float]]] = {
    "Legal Contract QA": (0.94, 0.60),
    "Legal Case QA": (0.84, 0.54),
    "Coral Biology (control)": (1.00, 0.59),
    "Economics (control)": (0.99, 0.55),
}
"""Table 1: AUC of HalluGraph and of BERTScore, on sets that nobody else has."""


class Band(Contract):
    """AUC in [0, 1] of the answers of one band, with its 95% interval over contexts drawn anew;
    None where it has answers of one label only. ``judged`` are those that have a score."""

    name: str
    answers: int
    judged: int
    unsupported: int
    auc: float | None
    interval: Interval | None


class FittedMean(Contract):
    """The weight of EG with the best AUC on a set, of `WEIGHTS`, and the threshold with the best F1
    of unsupported there. ``held_out`` is what weights fitted on one half of the contexts say of the
    other half."""

    weight: float
    threshold: float
    held_out: Band


class Regime(Contract):
    """All bands of one set, the whole of it first; ``eg``, ``rp`` and ``plain``, their plain mean,
    are of the whole as well."""

    dataset: str
    extractor: str
    whole: Band
    eg: Band
    rp: Band
    plain: Band
    fitted: FittedMean | None
    by_words: tuple[Band, ...]
    by_entities: tuple[Band, ...]
    refused: int = 0


@dataclass(frozen=True, slots=True)
class _Judged:
    group: str
    supported: bool
    words: int
    fidelity: Fidelity | None

    @property
    def entities(self) -> int:
        return len(self.fidelity.entities) if self.fidelity else 0


def operating_regime(
    path: Path,
    extractor: GraphExtractor,
    *,
    entailment: Entailment | None = None,
    limit: int | None = None,
    on_progress: OnProgress = lambda _stage, _done, _total: None,
) -> Regime:
    """Judge the labelled answers of a JSONL(.gz) file, about ``limit`` of them. ``entailment`` says
    whether relations are preserved; without it no relation is that a text states.

    Raises:
        OSError: the file cannot be opened.
        DatasetError: no row of it is a labelled answer.
    """
    given = read_answers(path, limit=limit)
    judged = list(_judge(given.cases, extractor, entailment, given.name, on_progress))
    return Regime(
        dataset=given.name,
        extractor=extractor.revision,
        whole=_band("all", judged),
        eg=_band("EG alone", judged, lambda found: found.entity_grounding),
        rp=_band("RP alone", judged, lambda found: found.relation_preservation),
        plain=_band("plain mean", judged, lambda found: found.joined(0.5)),
        fitted=_fitted(judged),
        by_words=tuple(_bands(judged, LENGTHS, "words", lambda one: one.words)),
        by_entities=tuple(_bands(judged, RICHNESS, "entities", lambda one: one.entities)),
        refused=len(given.refused),
    )


def _judge(
    cases: Sequence[LabelledAnswer],
    extractor: GraphExtractor,
    entailment: Entailment | None,
    name: str,
    on_progress: OnProgress,
) -> Iterator[_Judged]:
    for done, case in enumerate(cases, start=1):
        answer = case.answer
        [graphs] = extractor.graphs([answer])
        [said] = entailment.supports([answer]) if entailment else [()]
        unread = isinstance(graphs, NoGraph) or isinstance(said, str)
        yield _Judged(
            group=case.query_group,
            supported=case.grounded,
            words=len(answer.response.split()),
            fidelity=None if unread else compare(graphs, said),  # type: ignore[arg-type]
        )
        on_progress(name, done, len(cases))


def _fitted(judged: Sequence[_Judged]) -> FittedMean | None:
    """None where a half of the contexts has answers of one label only."""
    half = folds((one.group for one in judged), 2, seed=0)
    halves = [[one for one in judged if half[one.group] == side] for side in (0, 1)]
    weights = [_best_weight(side) for side in halves]
    best = _best_weight(judged)
    if best is None or None in weights:
        return None
    by_group = {one.group: weights[1 - half[one.group]] or 0.0 for one in judged}
    scored = [(one, s) for one in judged if (s := _joined(one, best)) is not None]
    fit = fit_threshold([s for _, s in scored], [one.supported for one, _ in scored], Target())
    weighed = {id(one.fidelity): by_group[one.group] for one in judged}
    return FittedMean(
        weight=best,
        threshold=fit.value,
        held_out=_band("weighted, held out", judged, lambda f: f.joined(weighed[id(f)])),
    )


def _best_weight(judged: Sequence[_Judged]) -> float | None:
    found = [
        (auc, weight)
        for weight in WEIGHTS
        if (auc := _band("", judged, lambda f, w=weight: f.joined(w), draws=False).auc) is not None  # type: ignore[misc]
    ]
    return max(found, key=lambda one: one[0])[1] if found else None


def _joined(one: _Judged, weight: float) -> float | None:
    return one.fidelity.joined(weight) if one.fidelity else None


def _bands(
    judged: Sequence[_Judged], ends: Sequence[int], of: str, size: Callable[[_Judged], int]
) -> Iterator[Band]:
    for low, high in zip((0, *ends), (*ends, None), strict=True):
        name = f"{low}-{high - 1} {of}" if high else f"{low} {of} or more"
        held = [one for one in judged if low <= size(one) and (high is None or size(one) < high)]
        yield _band(name, held)


def _band(
    name: str,
    judged: Iterable[_Judged],
    measure: Callable[[Fidelity], float | None] = lambda found: found.score,
    *,
    draws: bool = True,
) -> Band:
    """What has no score is left out of the AUC, and counted."""
    every = list(judged)
    scored = [
        (one, score)
        for one in every
        if one.fidelity is not None and (score := measure(one.fidelity)) is not None
    ]
    wrong = [not one.supported for one, _ in scored]
    auc, interval = None, None
    if any(wrong) and not all(wrong):
        ranking = Ranking(wrong, [-score for _, score in scored])
        auc = ranking.auroc(np.ones(len(scored)))
        interval = bootstrap(ranking.auroc, [one.group for one, _ in scored]) if draws else None
    return Band(
        name=name,
        answers=len(every),
        judged=len(scored),
        unsupported=sum(not one.supported for one in every),
        auc=auc,
        interval=interval,
    )

"""Figure 5: extractor models by their SafePassage score, against what the labels say."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from safepassage.schemas.base import Contract
from safepassage.schemas.proportion import Proportion
from safepassage.scoring_worker.evaluation.intervals import Interval
from safepassage.scoring_worker.evaluation.judgement import Evaluation, JudgedCase
from safepassage.scoring_worker.evaluation.plots import axes_of
from safepassage.scoring_worker.evaluation.sources import DatasetError


class ExtractorRow(Contract):
    """One extractor model on ``n`` labelled extractions: ``score`` is the share that was accepted,
    ``labelled`` the share labelled supported; intervals are Wilson's, at 95%."""

    model: str
    n: int
    score: float
    score_ci: Interval
    labelled: float
    labelled_ci: Interval


class ExtractorComparison(Contract):
    """All extractor models of a data set by one scorer, best first.

    ``correlation`` is Pearson's r between score and labels over the models, None where it is
    not defined. ``same_order`` is the share of pairs of models, differing in both, that score
    and labels put in the same order.
    """

    dataset: str
    labels: str
    scorer: str
    revision: str
    rows: tuple[ExtractorRow, ...]
    correlation: float | None
    same_order: float | None


class Figure5(Contract):
    """What ``experiments figure5 --json`` writes."""

    version: Literal[1] = 1
    experiment: Literal["figure5"] = "figure5"
    results: tuple[ExtractorComparison, ...]


def compare_extractors(evaluation: Evaluation) -> ExtractorComparison:
    """The extractor models of ``evaluation``.

    Raises:
        DatasetError: fewer than two models are named.
    """
    members: dict[str, list[JudgedCase]] = defaultdict(list)
    for outcome in evaluation.outcomes:
        if outcome.case.extractor:
            members[outcome.case.extractor].append(outcome)
    if len(members) < 2:
        raise DatasetError(
            f"{evaluation.dataset.name}: extractions of two models or more are compared; name "
            'each with "extractor": {"model": …} or "model"'
        )
    rows = sorted(itertools.starmap(_row, members.items()), key=lambda row: -row.score)
    return ExtractorComparison(
        dataset=evaluation.dataset.name,
        labels=evaluation.dataset.labels,
        scorer=evaluation.scorer,
        revision=evaluation.revision,
        rows=tuple(rows),
        correlation=_correlation(rows),
        same_order=_same_order(rows),
    )


def plot(path: Path, comparisons: Sequence[ExtractorComparison]) -> None:
    """Scores of all scorers with their intervals, and the labels, by model."""
    models = [row.model for row in comparisons[0].rows]
    with axes_of(path) as axes:
        for comparison in comparisons:
            rows = {row.model: row for row in comparison.rows}
            shares = [rows[model].score for model in models]
            below = [rows[model].score - rows[model].score_ci[0] for model in models]
            above = [rows[model].score_ci[1] - rows[model].score for model in models]
            label = f"SafePassage score, {comparison.scorer}"
            axes.errorbar(models, shares, yerr=[below, above], fmt="o", capsize=3, label=label)
        labelled = {row.model: row.labelled for row in comparisons[0].rows}
        axes.plot(models, [labelled[model] for model in models], "kD", label="labels")
        axes.set(ylabel="share supported", title=f"{comparisons[0].dataset}: extractors")
        axes.tick_params(axis="x", rotation=20)
        axes.legend()


def _row(model: str, outcomes: Sequence[JudgedCase]) -> ExtractorRow:
    accepted = Proportion(sum(one.accepted for one in outcomes), len(outcomes))
    labelled = Proportion(sum(one.case.supported for one in outcomes), len(outcomes))
    return ExtractorRow(
        model=model,
        n=len(outcomes),
        score=accepted.share or 0.0,
        score_ci=accepted.interval,
        labelled=labelled.share or 0.0,
        labelled_ci=labelled.interval,
    )


def _correlation(rows: Sequence[ExtractorRow]) -> float | None:
    scores, labelled = [row.score for row in rows], [row.labelled for row in rows]
    if len(set(scores)) < 2 or len(set(labelled)) < 2:
        return None
    return float(np.corrcoef(scores, labelled)[0, 1])


def _same_order(rows: Sequence[ExtractorRow]) -> float | None:
    differences = [
        (one.score - other.score) * (one.labelled - other.labelled)
        for one, other in itertools.combinations(rows, 2)
    ]
    decided = [difference > 0 for difference in differences if difference]
    return Proportion(sum(decided), len(decided)).share

"""The experiments as tables for a terminal."""

from collections.abc import Iterable

from rich.table import Table

from safepassage.scoring_worker.evaluation.result_tables import (
    number,
    terminal_table,
    with_interval,
)

from .extractors import ExtractorComparison
from .label_curve import LabelCurve
from .published import CAUTION, PublishedResult

_TRAINED = {
    "reader": "Whole scorer, its reader fine-tuned, threshold .5",
    "head": "Whole scorer, of which the labels refit the head, threshold .5",
    "encoder": "Cross-encoder, all layers fine-tuned, threshold fitted on held-out labels",
}


def published_table(rows: Iterable[PublishedResult]) -> Table:
    """The paper's Table 1."""
    cells = [
        (row.scorer, number(row.precision, 3), number(row.recall, 3), number(row.f1, 3))
        for row in rows
    ]
    return terminal_table("Paper, Table 1", ("scorer", "P", "R", "F1"), cells, CAUTION)


def extractor_table(comparison: ExtractorComparison) -> Table:
    """Extractor models, best first."""
    rows = [
        (
            row.model,
            str(row.n),
            with_interval(row.score, row.score_ci),
            with_interval(row.labelled, row.labelled_ci),
        )
        for row in comparison.rows
    ]
    return terminal_table(
        f"{comparison.dataset}: extractor models by {comparison.scorer}",
        ("model", "n", "SafePassage score", "labelled supported"),
        rows,
        f"Pearson's r {number(comparison.correlation, 3)}; same order in "
        f"{number(comparison.same_order, 3)} of the pairs of models. Labels: {comparison.labels}.",
    )


def curve_table(curve: LabelCurve) -> Table:
    """F1 by number of gold labels, both starts side by side."""
    found = {
        (point.silver, point.gold): with_interval(point.f1, point.f1_ci) for point in curve.results
    }
    sizes = sorted({point.gold for point in curve.results})
    rows = [
        (str(size), *(found.get((silver, size), "–") for silver in (False, True))) for size in sizes
    ]
    gains = " ".join(
        f"With {one.gold} gold labels {one.by} adds {with_interval(one.f1, one.f1_ci)}."
        for one in curve.gains
    )
    return terminal_table(
        f"{curve.dataset}: F1 by gold labels, {curve.folds} folds",
        ("gold labels", "gold only", "silver, then gold"),
        rows,
        f"{_TRAINED[curve.trained]}. {gains} The paper's LLM on its own data: "
        f"{curve.published_llm_f1}. Labels: {curve.labels}.",
    )

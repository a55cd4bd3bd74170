"""The experiments as tables for a terminal."""

from collections.abc import Iterable

from rich.table import Table

from safepassage.scoring_worker.laboratory.evaluation.tables import (
    number,
    terminal_table,
    with_interval,
)

from .extractors import ExtractorComparison
from .label_curve import LabelCurve
from .published import CAUTION, PublishedResult
from .review_figures import CHECKS, FALSE_ALARMS
from .reviews import ReviewsCurve

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


def reviews_table(curve: ReviewsCurve) -> Table:
    """Quality by number of reviews."""
    rows = [
        (
            str(point.size),
            number(point.supported_reviewed, 0),
            with_interval(point.macro_f1, point.macro_f1_ci),
            with_interval(point.auroc, point.auroc_ci),
            with_interval(point.caught, point.caught_ci),
            number(point.seconds / 60, 1),
        )
        for point in curve.results
    ]
    caught = f"wrong ones caught at {FALSE_ALARMS:.0%} false alarms"
    columns = ("reviews", "of them right", "macro F1", "AUROC", caught, "minutes")
    draws = max((point.draws for point in curve.results), default=0)
    judged = max((point.judged for point in curve.results), default=0)
    checks = "the console's share" if curve.checks is None else f"{curve.checks:.0%}"
    flipped = f"; {curve.flipped:.0%} of the labels turned round" if curve.flipped else ""
    return terminal_table(
        f"{curve.dataset}: quality by reviews, {draws} draws",
        columns,
        rows,
        f"From {curve.base}, judged on {judged} values of other documents; {checks} of "
        f"the reviews are spot checks{flipped}. Labels: {curve.labels}.",
    )


def certified_table(curve: ReviewsCurve) -> Table:
    """What may pass at a certified risk, by number of reviews."""
    kinds = [(one.wrong, one.risk) for point in curve.results[:1] for one in point.certified]
    columns = ("reviews", *(f"{wrong:.0%} wrong, risk {risk:.0%}" for wrong, risk in kinds))
    rows = [
        (
            str(point.size),
            *(with_interval(one.accepted, one.accepted_ci) for one in point.certified),
        )
        for point in curve.results
    ]
    return terminal_table(
        f"{curve.dataset}: share accepted without a person",
        columns,
        rows,
        "By the share of wrong values in the stream and the certified risk (95% confidence, on "
        f"{CHECKS} labelled values of the stream).",
    )

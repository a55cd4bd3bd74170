"""What ``curve`` runs, and its tables for a terminal."""

from pathlib import Path

from rich.table import Table

from safepassage.scoring_worker.evaluation.cases import Dataset
from safepassage.scoring_worker.evaluation.report_folder import file_name
from safepassage.scoring_worker.evaluation.result_tables import (
    number,
    terminal_table,
    with_interval,
)
from safepassage.scoring_worker.evaluation.runs import Outcome
from safepassage.scoring_worker.evaluation.sources import OnProgress

from .curve import ReviewsCurve, ReviewsSettings, plot, reviews_curve
from .figures import CHECKS, FALSE_ALARMS


def reviews(
    dataset: Dataset,
    settings: ReviewsSettings,
    keep: Path | None,
    folder: Path | None,
    on_progress: OnProgress,
) -> Outcome:
    """Quality by the number of reviews; the plot goes to ``folder``. Raises `DatasetError` where it
    has too few documents; `ModelError` where the base cannot be loaded."""
    made = reviews_curve(dataset, settings, keep, on_progress)
    written = []
    if folder:
        written.append(folder / f"{file_name(made.dataset, 'reviews')}.png")
        plot(written[-1], [made])
    return Outcome(made, [reviews_table(made), certified_table(made)], written, made.absent)


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
    return terminal_table(
        f"{curve.dataset}: quality by reviews, {draws} draws",
        columns,
        rows,
        f"From {curve.base}, judged on {judged} values of other documents; {checks} of "
        f"the reviews are spot checks. Labels: {curve.labels}.",
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

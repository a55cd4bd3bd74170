"""What ``curve`` runs."""

from pathlib import Path

from safepassage.scoring_worker.evaluation.cases import Dataset
from safepassage.scoring_worker.evaluation.report_folder import file_name
from safepassage.scoring_worker.evaluation.runs import Outcome
from safepassage.scoring_worker.evaluation.sources import OnProgress

from .curve import ReviewsSettings, plot, reviews_curve
from .curve_tables import certified_table, reviews_table


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

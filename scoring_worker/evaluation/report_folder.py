"""``evaluate --report``: a folder with the tables as Markdown, the reliability plots, and all
figures."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from safepassage.scoring_worker.evaluation import plots

from .judgement import Evaluation
from .metrics import Counted
from .result_tables import (
    COLUMNS,
    by_dataset,
    caption,
    cells,
    heading,
    markdown_table,
    number,
    with_interval,
)
from .results import EvaluationReport, EvaluationResult

REPORT_NAME = "report.md"
FIGURES_NAME = "report.json"

_BREAKDOWN = ("", "n", "unsupported", "judged right", "P", "R", "F1")


def write_report(folder: Path, evaluations: Sequence[Evaluation], report: EvaluationReport) -> Path:
    """Write everything into ``folder``; returns the Markdown file. Raises `OSError` where the
    folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FIGURES_NAME).write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    groups = zip(
        by_dataset(evaluations, lambda one: one.dataset.name),
        by_dataset(report.results, lambda one: one.dataset),
        strict=True,
    )
    sections = [_section(folder, judged, results) for judged, results in groups]
    page = folder / REPORT_NAME
    page.write_text("# Evaluation\n\n" + "\n".join(sections), encoding="utf-8")
    return page


def scored(evaluation: Evaluation) -> plots.Scored:
    """Scores and labels of the cases that have a score."""
    known = [
        (one.score, one.case.supported) for one in evaluation.outcomes if one.score is not None
    ]
    return np.array([score for score, _ in known]), np.array([label for _, label in known], bool)


def file_name(*parts: str) -> str:
    """A file name of letters, digits and dashes."""
    return "-".join(re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-")[-60:] or "x" for part in parts)


def _section(
    folder: Path, evaluations: Sequence[Evaluation], results: Sequence[EvaluationResult]
) -> str:
    first = results[0]
    images = _plots(folder, first.dataset, evaluations)
    parts = [
        f"## {heading(first)}\n",
        caption(first) + "\n",
        markdown_table(COLUMNS, map(cells, results)),
        *(f"![{image.stem}]({image.name})\n" for image in images),
    ]
    for result in results:
        for name, counts in (("entity type", result.by_type), ("kind", result.by_kind)):
            if counts:
                parts.append(f"### {result.scorer}, by {name}\n")
                parts.append(markdown_table((name, *_BREAKDOWN[1:]), _breakdown(counts)))
    return "\n".join(parts)


def _breakdown(counts: dict[str, Counted]) -> Iterable[Sequence[str]]:
    for name, one in counts.items():
        yield (
            name,
            str(one.n),
            str(one.unsupported),
            with_interval(one.accuracy, one.accuracy_ci),
            number(one.precision, 3),
            number(one.recall, 3),
            number(one.f1, 3),
        )


def _plots(folder: Path, dataset: str, evaluations: Sequence[Evaluation]) -> list[Path]:
    known = {one.scorer: scored(one) for one in evaluations}
    known = {name: values for name, values in known.items() if len(values[0])}
    if not known:
        return []
    image = folder / f"{file_name(dataset, 'reliability')}.png"
    plots.reliability(image, known, f"{dataset}: reliability")
    return [image]

"""The report of a replay as one HTML file that needs nothing from anywhere."""

import base64
import io
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from .report_schema import Rate, ReplayReport

BEFORE, AFTER = "#8a8a8a", "#1f6f8b"
MAX_BARS = 12


def render(report: ReplayReport) -> str:
    """The page. Everything that came from a document is escaped."""
    environment = Environment(
        loader=PackageLoader("safepassage.streams.replay"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("report.html").render(
        report=report,
        scores=plot_scores(report),
        agreement=plot_agreement(report),
        types=plot_types(report) if report.flips_by_type else None,
    )


def write_report(report: ReplayReport, folder: Path) -> tuple[Path, Path]:
    """Write ``report.html`` and ``report.json`` into ``folder``; returns both paths.

    Raises:
        OSError: they cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, json_file = folder / "report.html", folder / "report.json"
    page.write_text(render(report), encoding="utf-8")
    json_file.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return page, json_file


def plot_scores(report: ReplayReport) -> str:
    """Both distributions of scores, as a data URI."""
    figure, axes = _figure(6.4, 2.8)
    bins = len(report.scores.before)
    edges = [position / bins for position in range(bins)]
    axes.bar(
        edges, report.scores.before, width=1 / bins, align="edge", color=BEFORE, label="before"
    )
    axes.step(
        [*edges, 1.0],
        [*report.scores.after, report.scores.after[-1]],
        where="post",
        color=AFTER,
        linewidth=1.8,
        label="after",
    )
    axes.set_xlabel("support score")
    axes.set_ylabel("extractions")
    axes.legend(frameon=False)
    return _data_uri(figure)


def plot_agreement(report: ReplayReport) -> str:
    """Agreement, recall and precision against the reviews, with 95% intervals."""
    figure, axes = _figure(6.4, 2.2)
    names = ("agreeing", "recall", "precision")
    for offset, color, agreement, label in (
        (0.12, BEFORE, report.agreement_before, "before"),
        (-0.12, AFTER, report.agreement_after, "after"),
    ):
        for row, name in enumerate(names):
            _draw_rate(
                axes, row + offset, getattr(agreement, name), color, label if not row else ""
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.5, len(names) - 0.5)
    axes.set_xlabel("share, with its 95% interval")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
    return _data_uri(figure)


def plot_types(report: ReplayReport) -> str:
    """Changed decisions by entity type: newly stopped to the left, newly accepted to the right."""
    stopped: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for flip in report.flips_by_type:
        (accepted if flip.after == "accepted" else stopped)[flip.group] += flip.count
    names = [name for name, _ in (stopped + accepted).most_common(MAX_BARS)][::-1]
    figure, axes = _figure(6.4, 0.9 + 0.3 * len(names))
    rows = range(len(names))
    axes.barh(rows, [-stopped[name] for name in names], color=BEFORE, label="newly stopped")
    axes.barh(rows, [accepted[name] for name in names], color=AFTER, label="newly accepted")
    # Not as mathematics: a type may hold a dollar sign.
    axes.set_yticks(rows, [name[:40].replace("$", r"\$") for name in names])
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_xlabel("decisions")
    axes.legend(frameon=False)
    return _data_uri(figure)


def _draw_rate(axes: Any, row: float, rate: Rate, color: str, label: str) -> None:
    if rate.share is None:
        return
    # A share of 1 lies on the edge and must be seen whole.
    axes.plot([rate.low, rate.high], [row, row], color=color, linewidth=2, clip_on=False)
    axes.plot([rate.share], [row], "o", color=color, label=label or None, clip_on=False)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    # Not pyplot, which keeps every figure and asks for a display.
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _data_uri(figure: Any) -> str:
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=150, metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()

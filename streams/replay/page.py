"""The report of a replay as one HTML file that needs nothing from anywhere."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from .report_schema import ReplayReport


def render(report: ReplayReport) -> str:
    """The page. Everything that came from a document is escaped."""
    environment = Environment(
        loader=PackageLoader("safepassage.streams.replay"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("report.html").render(report=report)


def write_report(report: ReplayReport, folder: Path) -> tuple[Path, Path]:
    """Write ``report.html`` and ``report.json`` into ``folder``; returns both paths."""
    folder.mkdir(parents=True, exist_ok=True)
    page, json_file = folder / "report.html", folder / "report.json"
    page.write_text(render(report), encoding="utf-8")
    json_file.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return page, json_file

"""The report of a replay for a terminal."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .report_schema import Example, ReplayReport

MAX_ROWS = 15
MAX_EXAMPLES = 5
MAX_PASSAGE_CHARACTERS = 160


def print_report(report: ReplayReport, console: Console) -> None:
    """Print what changed, with some examples. Texts of documents are never read as markup."""
    share = f"{report.flipped / report.compared:.1%}" if report.compared else "none"
    console.print(
        Text(
            f"{report.subject}: {report.compared} extractions compared, "
            f"{report.flipped} decisions changed ({share}), "
            f"{report.unmatched} judged only by the replay"
        )
    )
    console.print(_sides(report))
    groups = (
        ("by entity type", report.flips_by_type),
        ("by reason", report.flips_by_reason),
        ("by extractor", report.flips_by_model),
    )
    for title, flips in groups:
        if flips:
            table = Table("", "before", "after", "count", title=f"Changed {title}")
            table.title_justify = "left"
            for flip in flips[:MAX_ROWS]:
                table.add_row(Text(flip.group), flip.before, flip.after, str(flip.count))
            console.print(table)
    for example in report.examples[:MAX_EXAMPLES]:
        console.print(_example(example))


def _sides(report: ReplayReport) -> Table:
    table = Table("", "before", "after", title="Decisions", title_justify="left")
    before, after = report.before, report.after
    for name in ("accepted", "quarantined", "undetermined"):
        table.add_row(name, str(before.decisions.get(name, 0)), str(after.decisions.get(name, 0)))
    for title, old, new in (
        ("agrees with reviews", report.agreement_before.agreeing, report.agreement_after.agreeing),
        ("recall of unsupported", report.agreement_before.recall, report.agreement_after.recall),
        ("precision", report.agreement_before.precision, report.agreement_after.precision),
    ):
        table.add_row(title, str(old), str(new))
    table.add_row("passes without a person", str(before.passed), str(after.passed))
    if report.risk_before and report.risk_after:
        table.add_row("wrong of what passes", str(report.risk_before), str(report.risk_after))
    scores = report.scores
    table.add_row("score shift", "", f"PSI {scores.population_stability:.3f}")
    revisions = (Text(", ".join(sorted(side.revisions))) for side in (before, after))
    table.add_row("revision", *revisions)
    costs = ("–" if c is None else f"${c:.4f}" for c in (before.cost.usd, after.cost.usd))
    table.add_row("cost", *costs)
    if run := report.run:
        table.add_row("verdicts a second", "", f"{run.records_per_second or 0:.0f}")
        half, most = run.batch_milliseconds_p50, run.batch_milliseconds_p99
        latency = "–" if half is None else f"{half:.0f} / {most:.0f} ms"
        table.add_row("batch p50 / p99", "", latency)
    return table


def _example(example: Example) -> Text:
    passage = " ".join(example.passage.split())[:MAX_PASSAGE_CHARACTERS]
    line = Text(f"{example.before} → {example.after}  ", style="bold")
    scores = ["–" if s is None else f"{s:.2f}" for s in (example.score_before, example.score_after)]
    line.append(f"{' → '.join(scores)}  ", style="dim")
    line.append(f"{example.hypothesis[:MAX_PASSAGE_CHARACTERS]}\n", style="")
    line.append(f"    {passage or '(not found)'}\n", style="dim")
    if example.reviewed:
        line.append(f"    a reviewer said: {example.reviewed}\n", style="dim")
    return line


def render(report: ReplayReport) -> str:
    """The page. Everything that came from a document is escaped."""
    environment = Environment(
        loader=PackageLoader("safepassage.streams.replay"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("report.html").render(report=report)


def write_report(report: ReplayReport, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    page, json_file = folder / "report.html", folder / "report.json"
    page.write_text(render(report), encoding="utf-8")
    json_file.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return page, json_file

"""What the demo prints: the verdicts, so that a person can follow each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from schemas import LabelledExtraction, Verdict, render_value

SHOWN_CHARACTERS = 120
PIPED_WIDTH = 120


def new_console() -> Console:
    """A console as wide as the terminal; where there is none, wide enough for the table."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def print_verdicts(
    console: Console,
    verdicts: Sequence[Verdict],
    labelled: Sequence[LabelledExtraction],
    seconds: float,
) -> None:
    """A line per document, every stopped extraction with its reason and passage, a summary."""
    console.print(_documents(verdicts))
    console.print(_stopped(verdicts))
    console.print(_summary(verdicts, seconds))
    console.print(_against_labels(verdicts, labelled))


def _documents(verdicts: Sequence[Verdict]) -> Table:
    table = Table(title="Documents", title_justify="left", box=None, pad_edge=False)
    table.add_column("document")
    for decision in ("accepted", "quarantined", "undetermined"):
        table.add_column(decision, justify="right")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        counts[verdict.doc_id][verdict.decision] += 1
    for doc_id, decisions in sorted(counts.items()):
        shown = [str(decisions[d] or "·") for d in ("accepted", "quarantined", "undetermined")]
        table.add_row(escape(doc_id), *shown)
    return table


def _stopped(verdicts: Sequence[Verdict]) -> Table:
    table = Table(title="Stopped for review", title_justify="left", box=SIMPLE_HEAD, expand=True)
    table.add_column("claim", overflow="fold", ratio=5)
    table.add_column("reason", overflow="fold", ratio=5)
    table.add_column("passage it rests on, or the quote that was not found", ratio=8)
    stopped = [verdict for verdict in verdicts if verdict.decision != "accepted"]
    stopped.sort(key=lambda v: (v.doc_id, v.entity_type, v.id))
    for doc_id, of_document in groupby(stopped, key=lambda v: v.doc_id):
        table.add_section()
        table.add_row(f"[bold]{escape(doc_id)}[/bold]")
        for verdict in of_document:
            claim = f"{verdict.entity_type}: {render_value(verdict.value)}"
            table.add_row(*map(escape, (claim, _reason(verdict), _evidence(verdict))))
    return table


def _reason(verdict: Verdict) -> str:
    score = "" if verdict.score is None else f" ({verdict.score:.2f} < {verdict.threshold:.2f})"
    findings = "".join(f"\n{finding.detail}" for finding in verdict.findings if finding.detail)
    return ", ".join(verdict.reasons) + score + findings


def _evidence(verdict: Verdict) -> str:
    alignment = verdict.alignment
    if alignment and alignment.found:
        return _shorten(alignment.passage)
    return f"not found: “{_shorten(verdict.context)}”" if verdict.context else "nothing quoted"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _summary(verdicts: Sequence[Verdict], seconds: float) -> str:
    decisions = Counter(verdict.decision for verdict in verdicts)
    documents = len({verdict.doc_id for verdict in verdicts})
    return (
        f"{documents} documents, {len(verdicts)} verdicts: {decisions['accepted']} accepted, "
        f"{decisions['quarantined']} quarantined, {decisions['undetermined']} undetermined "
        f"in {seconds:.0f} s"
    )


def _against_labels(verdicts: Sequence[Verdict], labelled: Sequence[LabelledExtraction]) -> str:
    """How the verdicts compare with the labels that were written along with the documents."""
    labels = {_identity(row): row.label for row in labelled}
    judged = [(labels.get(_identity(v)), v.decision == "accepted") for v in verdicts]
    wrong = [accepted for label, accepted in judged if label == 0]
    right = [accepted for label, accepted in judged if label == 1]
    return (
        f"by the labels written with them: {wrong.count(False)} of {len(wrong)} wrong extractions "
        f"stopped, {right.count(True)} of {len(right)} right ones accepted"
    )


def _identity(found: Verdict | LabelledExtraction) -> tuple[str, str, str, str]:
    return found.doc_id, found.entity_type, render_value(found.value), found.context

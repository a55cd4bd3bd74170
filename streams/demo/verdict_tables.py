"""What the demo prints: the verdicts, so that a person can follow each of them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from safepassage.schemas import LabelledExtraction, Verdict, render_value
from safepassage.schemas.verdict import Decision

SHOWN_CHARACTERS = 120
PIPED_WIDTH = 120
DECISIONS: tuple[Decision, ...] = ("accepted", "quarantined", "undetermined")

Identity = tuple[str, str, str, str]
Labels = Mapping[Identity, int | None]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written along with the documents: each one's kind by its id, and the labels."""

    kinds: Mapping[str, str]
    labelled: Sequence[LabelledExtraction]


def new_console() -> Console:
    """A console as wide as the terminal; where it is missing, wide enough for the table."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def print_verdicts(
    console: Console, verdicts: Sequence[Verdict], written: Written, seconds: float
) -> None:
    """A summary, a line per document, every stopped extraction with its reason and passage."""
    labels = {_identity(row): row.label for row in written.labelled}
    console.print(_summary(verdicts, seconds))
    console.print(_against_labels(verdicts, labels))
    console.print(_documents(verdicts, written.kinds, labels))
    console.print(_stopped(verdicts))


def _documents(verdicts: Sequence[Verdict], kinds: Mapping[str, str], labels: Labels) -> Table:
    table = Table(title="Documents", title_justify="left", box=None, pad_edge=False)
    table.add_column("document")
    table.add_column("kind")
    for column in (*DECISIONS, "wrong stopped", "right accepted"):
        table.add_column(column, justify="right")
    by_document: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_document[verdict.doc_id].append(verdict)
    for doc_id, own in sorted(by_document.items()):
        decisions = Counter(verdict.decision for verdict in own)
        stopped, accepted = _counted(own, labels)
        table.add_row(
            escape(doc_id),
            escape(kinds.get(doc_id, "answer")),
            *(str(decisions[decision] or "·") for decision in DECISIONS),
            stopped,
            accepted,
        )
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
    score = f" ({verdict.score:.2f} < {verdict.threshold:.2f})" if _is_low(verdict) else ""
    said = [f.detail for f in verdict.findings if f.detail and f.code != "conflicts_with"]
    said += [f"the document also gives {render_value(c.value)}" for c in verdict.conflicts]
    said += [trail.failure for trail in verdict.scorers if trail.failure]
    return ", ".join(verdict.reasons) + score + "".join(f"\n{detail}" for detail in said)


def _is_low(verdict: Verdict) -> bool:
    """Whether the score stopped it: what conflicts with another finding scored high."""
    if verdict.score is None or verdict.threshold is None:
        return False
    return verdict.score < verdict.threshold


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


def _against_labels(verdicts: Sequence[Verdict], labels: Labels) -> str:
    """How the verdicts compare with the labels that were written along with the documents."""
    stopped, accepted = _counted(verdicts, labels)
    return (
        f"by the labels written with them: {stopped} wrong extractions stopped, "
        f"{accepted} right ones accepted"
    )


def _counted(verdicts: Sequence[Verdict], labels: Labels) -> tuple[str, str]:
    """How many of the wrong ones were stopped, how many of the right ones accepted."""
    judged = [(labels.get(_identity(v)), v.decision == "accepted") for v in verdicts]
    wrong = [accepted for label, accepted in judged if label == 0]
    right = [accepted for label, accepted in judged if label == 1]
    return _share(wrong.count(False), wrong), _share(right.count(True), right)


def _share(count: int, judged: Sequence[bool]) -> str:
    return f"{count} of {len(judged)}" if judged else "·"


def _identity(found: Verdict | LabelledExtraction) -> Identity:
    return found.doc_id, found.entity_type, render_value(found.value), found.context

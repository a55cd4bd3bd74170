"""What the demo prints: the verdicts, so that a person can follow each of them, and the bundled
answers: one of them sent while it is written, and all of them judged as a whole."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from safepassage.schemas import LabelledExtraction, Part, Response, Verdict, render_value
from safepassage.schemas.verdict import Decision
from safepassage.scoring_worker.detectors.contract import Answer, Grounding
from safepassage.scoring_worker.detectors.registry import load_detector

from . import corpus

SHOWN_CHARACTERS = 120
PIPED_WIDTH = 120
DECISIONS: tuple[Decision, ...] = ("accepted", "quarantined", "undetermined")

Identity = tuple[str, str, str, str]
Labels = Mapping[Identity, int | None]


def new_console() -> Console:
    """A console as wide as the terminal; where it is missing, wide enough for the table."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def print_verdicts(
    console: Console,
    verdicts: Sequence[Verdict],
    kinds: Mapping[str, str],
    labelled: Sequence[LabelledExtraction],
    seconds: float,
) -> None:
    labels = {_identity(row): row.label for row in labelled}
    decisions = Counter(verdict.decision for verdict in verdicts)
    counts = ", ".join(f"{decisions[name]} {name}" for name in DECISIONS)
    documents = len({verdict.doc_id for verdict in verdicts})
    console.print(f"{documents} documents, {len(verdicts)} verdicts: {counts} in {seconds:.0f} s")
    stopped, accepted = _counted(verdicts, labels)
    console.print(
        f"by the labels written with them: {stopped} wrong extractions stopped, "
        f"{accepted} right ones accepted"
    )
    console.print(_documents(verdicts, kinds, labels))
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
    value, least, score = verdict.score, verdict.threshold, ""
    # What conflicts with another finding scored high.
    if value is not None and least is not None and value < least:
        score = f" ({value:.2f} < {least:.2f})"
    said = [f.detail for f in verdict.findings if f.detail and f.code != "conflicts_with"]
    said += [f"the document also gives {render_value(c.value)}" for c in verdict.conflicts]
    said += [trail.failure for trail in verdict.scorers if trail.failure]
    return ", ".join(verdict.reasons) + score + "".join(f"\n{detail}" for detail in said)


def _evidence(verdict: Verdict) -> str:
    alignment = verdict.alignment
    if alignment and alignment.found:
        return _shorten(alignment.passage)
    return f"not found: “{_shorten(verdict.context)}”" if verdict.context else "nothing quoted"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _counted(verdicts: Sequence[Verdict], labels: Labels) -> tuple[str, str]:
    judged = [(labels.get(_identity(v)), v.decision == "accepted") for v in verdicts]
    wrong = [accepted for label, accepted in judged if label == 0]
    right = [accepted for label, accepted in judged if label == 1]
    return _share(wrong.count(False), wrong), _share(right.count(True), right)


def _share(count: int, judged: Sequence[bool]) -> str:
    return f"{count} of {len(judged)}" if judged else "·"


def _identity(found: Verdict | LabelledExtraction) -> Identity:
    return found.doc_id, found.entity_type, render_value(found.value), found.context


WRITTEN_LIVE = "rag-boiler"  # The answer that is submitted in parts, as a model would write it
WORDS_A_PART = 9
DETECTORS = ("hallugraph", "ragulator")
"""Those of the two papers on answers that need neither a hub nor an LLM."""
_SHOWN = 4


def submitted() -> Iterator[Response]:
    """The answers as they are sent: each whole but one."""
    for response in corpus.responses():
        yield from in_parts(response) if response.id == WRITTEN_LIVE else (response,)


def in_parts(response: Response, words: int = WORDS_A_PART) -> Iterator[Response]:
    """``response`` as its writer would send it, ``words`` words at a time."""
    text, since = response.response, 0
    blanks = [at for at, sign in enumerate(text) if sign == " "]
    for end in [*blanks[words - 1 :: words], len(text)]:
        part = Part(since=since, final=end == len(text))
        yield response.model_copy(update={"response": text[:end], "part": part})
        since = end


def judged_answers(verdicts: Sequence[Verdict], detectors: Sequence[str] = DETECTORS) -> Table:
    """A line for each answer: sentences accepted, the worst's score, each detector's, how many are
    wrong by their labels, and what no passage supports by the first detector."""
    by_answer: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_answer[verdict.doc_id].append(verdict)
    wrong: defaultdict[str, list[bool]] = defaultdict(list)
    for label in corpus.response_labels():
        wrong[label.id].append(label.label == 0)
    found = {name: _ground(name) for name in detectors}
    table = Table(title="Answers", title_justify="left", box=SIMPLE_HEAD, expand=True)
    for column in ("answer", "accepted", "worst", *detectors, "wrong"):
        table.add_column(column, no_wrap=True)
    table.add_column("in no passage", ratio=1)
    for number, response in enumerate(corpus.responses()):
        own = by_answer[response.id]
        scores = [verdict.score for verdict in own if verdict.score is not None]
        accepted = sum(verdict.decision == "accepted" for verdict in own)
        labels = wrong[response.id]
        table.add_row(
            escape(response.id),
            f"{accepted} of {len(own)}",
            f"{min(scores):.2f}" if scores else "·",
            *(_measured(found[name][number]) for name in detectors),
            f"{sum(labels)} of {len(labels)}",
            escape(", ".join(_missing(response, found[detectors[0]][number]))),
        )
    return table


def _ground(name: str) -> list[Grounding]:
    detector = load_detector(name)
    try:
        return detector.ground([_answer(response) for response in corpus.responses()])
    finally:
        detector.close()


def _answer(response: Response) -> Answer:
    context = response.context
    passages = (context,) if isinstance(context, str) else tuple(context)
    return Answer(passages, response.response, response.query or "")


def _measured(grounding: Grounding) -> str:
    if grounding.score is None:
        return str(grounding.failure)
    measures = grounding.evidence.measures.items()
    named = ", ".join(f"{name} {share:.2f}" for name, share in measures)
    return f"{grounding.score:.2f}" + (f" ({named})" if named else "")


def _missing(response: Response, grounding: Grounding) -> list[str]:
    spans = grounding.evidence.unsupported
    words = [response.response[span.start : span.end] for span in spans]
    return list(dict.fromkeys(words))[:_SHOWN]

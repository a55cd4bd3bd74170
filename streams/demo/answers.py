"""The bundled answers: one of them sent while it is written, and all of them judged as a whole."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from safepassage.schemas import Part, Response, Verdict
from safepassage.scoring_worker.detectors.contract import Answer, Grounding
from safepassage.scoring_worker.detectors.registry import load_detector

from . import corpus

WRITTEN_LIVE = "rag-boiler"
"""The answer that is submitted in parts, as a model would write it."""
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

"""What became of the extractions of one call."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from safepassage.schemas import CLAIM_TYPE, Document, Realignment, Verdict, render_value
from safepassage.schemas.realignment import realignment
from safepassage.schemas.wording import cut, reasons_in_words, where

MAX_TOLD = 50
MAX_VALUE = 200
MAX_QUOTE = 300

_ASK = (
    "These were refused. Correct each or leave it out; copy every quote from the document "
    "character by character, and give no value that its quote does not support."
)
_ASK_OF_CLAIMS = (
    "These sentences were refused. Say only what the retrieved passages say, or leave them out."
)

_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """One verdict for each extraction, or sentence of an answer, in order; ``replaced`` are those
    of a first attempt, ``document`` is what they were judged against."""

    verdicts: tuple[Verdict, ...]
    replaced: tuple[Verdict, ...] = ()
    without_claim: int = 0
    document: Document | None = field(default=None, compare=False)

    @property
    def accepted(self) -> tuple[Verdict, ...]:
        """The quote is in the document and supports the value."""
        return tuple([v for v in self.verdicts if v.decision == "accepted"])

    @property
    def stopped(self) -> tuple[Verdict, ...]:
        """Judged unsafe; ``reasons`` says why."""
        return tuple([v for v in self.verdicts if v.decision == "quarantined"])

    @property
    def undetermined(self) -> tuple[Verdict, ...]:
        """Could not be judged: neither safe nor unsafe, and not to be used."""
        return tuple([v for v in self.verdicts if v.decision == "undetermined"])

    @property
    def realignments(self) -> tuple[Realignment, ...]:
        """Of `Verifier.reverify`: what became of each value that was accepted before."""
        return tuple([said for verdict in self.verdicts if (said := realignment(verdict))])

    def __repr__(self) -> str:
        counts = (len(self.accepted), len(self.stopped), len(self.undetermined))
        return "Result({} accepted, {} stopped, {} undetermined)".format(*counts)

    def __str__(self) -> str:
        """A line for each verdict, with why where it was not accepted. What steers a terminal does
        not reach one from a document."""
        shown = (line for verdict in self.verdicts for line in _shown(verdict))
        return "\n".join(_STEERING.sub(" ", line) for line in shown)

    def feedback(self) -> str:
        """The reasons of what was stopped in words, to ask an LLM again; "" where nothing was. For
        a quote that is not in the document, the passage that is most like it.

        What could not be judged is left out: another answer would not change that.
        """
        stopped = self.stopped
        if not stopped:
            return ""
        near = self._nearest(stopped[:MAX_TOLD])
        of_claims = all(verdict.entity_type == CLAIM_TYPE for verdict in stopped)
        lines = [_ASK_OF_CLAIMS if of_claims else _ASK]
        for verdict in stopped[:MAX_TOLD]:
            lines += _told(verdict)
            if verdict.id in near:
                lines.append(f'  The nearest passage of the document: "{near[verdict.id]}"')
        if len(stopped) > MAX_TOLD:
            lines.append(f"- and {len(stopped) - MAX_TOLD} more")
        return "\n".join(lines)

    def html(self) -> str:
        """The document with every value marked by its verdict, as one file that needs no server;
        see `safepassage.report`. Raises `ValueError` where this result does not know its document.
        """
        from .report import report  # noqa: PLC0415 - only who looks needs it

        if self.document is None:
            raise ValueError("there is no document to show; give report() the documents")
        return report([self.document], self.verdicts)

    def _repr_html_(self) -> str | None:
        """For notebooks: `html` in a frame of its own, which may run nothing else."""
        from .report import framed  # noqa: PLC0415

        return None if self.document is None else framed(self.html())

    def _nearest(self, verdicts: tuple[Verdict, ...]) -> dict[str, str]:
        """By the verdict's id what of the document its quote is most like."""
        if self.document is None or not any("not_found" in v.reasons for v in verdicts):
            return {}
        from safepassage.agents.nearest_passage import nearest_of  # noqa: PLC0415 - brings numpy

        found = nearest_of(verdicts, self.document.text)
        return {i: cut(near, MAX_QUOTE) for i, near in found.items()}


class Unsupported(ValueError):
    """Something of an LLM's output is not supported by its document. The message is
    `Result.feedback`, to ask again with; ``result`` has the verdicts."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.message = message
        self.result = result


def _shown(verdict: Verdict) -> Iterator[str]:
    measured = "" if verdict.score is None else f" (score {verdict.score:.2f})"
    yield f"{verdict.decision:<12} {_named(verdict)}{measured}"
    if verdict.decision != "accepted":
        yield from (f"  {reason}" for reason in reasons_in_words(verdict))


def _told(verdict: Verdict) -> Iterator[str]:
    quote = f', quoted as "{cut(verdict.context, MAX_QUOTE)}"' if verdict.context else ""
    yield f"- {_named(verdict)}{quote}"
    yield from (f"  {reason}" for reason in reasons_in_words(verdict))


def _named(verdict: Verdict) -> str:
    return f"{where(verdict)}: {cut(render_value(verdict.value), MAX_VALUE)}"

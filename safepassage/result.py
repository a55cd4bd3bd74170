"""What became of the extractions of one call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from safepassage.schemas import Verdict, render_value
from safepassage.schemas.wording import REASONS

MAX_TOLD = 50
MAX_VALUE = 200
MAX_QUOTE = 300

_ASK = (
    "These were refused. Correct each or leave it out; copy every quote from the document "
    "character by character, and give no value that its quote does not support."
)

_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Result:
    """One verdict for each extraction, or sentence of an answer, in order; ``replaced`` are those
    of a first attempt."""

    verdicts: tuple[Verdict, ...]
    replaced: tuple[Verdict, ...] = ()
    without_claim: int = 0

    @property
    def accepted(self) -> tuple[Verdict, ...]:
        """The quote stands in the document and supports the value."""
        return tuple([v for v in self.verdicts if v.decision == "accepted"])

    @property
    def stopped(self) -> tuple[Verdict, ...]:
        """Judged unsafe; ``reasons`` says why."""
        return tuple([v for v in self.verdicts if v.decision == "quarantined"])

    @property
    def undetermined(self) -> tuple[Verdict, ...]:
        """Could not be judged: neither safe nor unsafe, and not to be used."""
        return tuple([v for v in self.verdicts if v.decision == "undetermined"])

    def __str__(self) -> str:
        """A line for each verdict, with why where it was not accepted. What steers a terminal does
        not reach one from a document."""
        shown = (line for verdict in self.verdicts for line in _shown(verdict))
        return "\n".join(_STEERING.sub(" ", line) for line in shown)

    def feedback(self) -> str:
        """The reasons of what was stopped in words, to ask an LLM again; "" where nothing was.

        What could not be judged is left out: another answer would not change that.
        """
        stopped = self.stopped
        if not stopped:
            return ""
        lines = [_ASK, *(line for verdict in stopped[:MAX_TOLD] for line in _told(verdict))]
        if len(stopped) > MAX_TOLD:
            lines.append(f"- and {len(stopped) - MAX_TOLD} more")
        return "\n".join(lines)


def _shown(verdict: Verdict) -> Iterator[str]:
    measured = "" if verdict.score is None else f" (score {verdict.score:.2f})"
    yield f"{verdict.decision:<12} {_named(verdict)}{measured}"
    if verdict.decision != "accepted":
        yield from _why(verdict)


def _told(verdict: Verdict) -> Iterator[str]:
    quote = f', quoted as "{_cut(verdict.context, MAX_QUOTE)}"' if verdict.context else ""
    yield f"- {_named(verdict)}{quote}"
    yield from _why(verdict)


def _named(verdict: Verdict) -> str:
    return f"{verdict.entity_type}: {_cut(render_value(verdict.value), MAX_VALUE)}"


def _why(verdict: Verdict) -> Iterator[str]:
    for reason in verdict.reasons:
        yield f"  {REASONS[reason]}"
    for finding in verdict.findings:
        yield f"  {finding.code.replace('_', ' ')}{': ' if finding.detail else ''}{finding.detail}"


def _cut(text: str, most: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"

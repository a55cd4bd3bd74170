"""Asking again: what was stopped goes back to the LLM once, and what comes is judged with the rest.

What was accepted stays and is judged anew beside what comes now, since the two may contradict
each other. What was stopped makes room, and is kept in `Result.replaced`. So nothing is accepted
that would not be accepted had it all come at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from safepassage.schemas import Document, Verdict
from safepassage.schemas import Extraction as Event

from .extraction import Extraction, as_events, listed
from .result import Result

if TYPE_CHECKING:
    from safepassage.agents.extraction.known_fields import KnownFields


class Attempts:
    """The extractions of one document, through a first and perhaps a second attempt. ``fields`` are
    those of their schema. Raises `TypeError` where these are no extractions; `ValueError` where an
    extraction cannot be one."""

    def __init__(
        self,
        document: Document,
        extractions: Iterable[Extraction],
        fields: KnownFields | None = None,
    ) -> None:
        self.document = document
        self._fields = fields
        self.events: Sequence[Event] = as_events(listed(extractions), document.ref(), fields)
        self._stopped: dict[str, Verdict] = {}

    def first(self, verdicts: tuple[Verdict, ...]) -> Result:
        """The result, if nobody is asked again."""
        result = Result(verdicts, document=self.document)
        self._stopped = {verdict.extraction_id: verdict for verdict in result.stopped}
        return result

    def again(self, answered: Iterable[Extraction]) -> list[Event]:
        """What is, with what was answered in place of the rest. What the first attempt gave already
        stays the first attempt's, so that an id never names two verdicts. Raises `TypeError` where
        these are no extractions; `ValueError` where an extraction cannot be one."""
        given = listed(answered, "what reask gave")
        known = {event.id: event for event in self.events}
        stands = {i: event for i, event in known.items() if i not in self._stopped}
        for event in as_events(given, self.document.ref(), self._fields):
            again = event.model_copy(update={"attempt": 2})
            stands.setdefault(event.id, known.get(event.id, again))
        return list(stands.values())

    def second(self, verdicts: tuple[Verdict, ...]) -> Result:
        """The result of what `again` gave."""
        given = {verdict.extraction_id for verdict in verdicts}
        replaced = (v for i, v in self._stopped.items() if i not in given)
        return Result(verdicts, tuple(replaced), document=self.document)

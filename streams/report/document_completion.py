"""When is a document done? Joins its manifest with its verdicts and dead letters."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from schemas import (
    Coordinates,
    DeadLetter,
    DocumentReport,
    Event,
    ExtractionManifest,
    ReviewTrail,
    Verdict,
)
from schemas.verdict import Decision, Reason

# A document that is not done after this many later ones never will be: its topic's retention
# took a part of it, or somebody produced extractions without a manifest.
MAX_PENDING_DOCUMENTS = 50_000
# Repetitions of a document come soon after a restart; those of older ones are given up in turn.
MAX_REPORTED_DOCUMENTS = 200_000

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a report needs of a verdict; the verdict itself would be kilobytes."""

    verdict_id: str
    decision: Decision
    reasons: tuple[Reason, ...]


@dataclass(slots=True)
class _Pending:
    manifest: ExtractionManifest | None = None
    ended: dict[str, _Judged | None] = field(default_factory=dict)  # None: a dead letter
    held: list[Place] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.manifest is not None and self.ended.keys() >= set(self.manifest.extraction_ids)

    def count(self, event: ExtractionManifest | Verdict | DeadLetter) -> None:
        match event:
            case ExtractionManifest():
                self.manifest = event
            case Verdict():
                self.ended[event.extraction_id] = _Judged(event.id, event.decision, event.reasons)
            case DeadLetter(extraction_id=str(extraction_id)):
                self.ended.setdefault(extraction_id, None)


@dataclass(frozen=True, slots=True)
class Closed:
    """A document that is done (or given up, then ``report`` is None), and the places of the
    records that were held for it."""

    report: DocumentReport | None
    held: list[Place]


class Tally:
    """Collects events until a document's are complete.

    A document is known by the coordinates of its record, so that a document submitted twice is
    reported twice.
    """

    def __init__(self, limit: int = MAX_PENDING_DOCUMENTS) -> None:
        self._limit = limit
        self._pending: OrderedDict[Place, _Pending] = OrderedDict()
        self._reported: OrderedDict[Place, None] = OrderedDict()

    def already_reported(self, coordinates: Coordinates) -> None:
        """A report of an earlier run: what comes again of this document is a repetition."""
        self._reported[place(coordinates)] = None
        if len(self._reported) > MAX_REPORTED_DOCUMENTS:
            self._reported.popitem(last=False)

    def clear(self) -> None:
        """Forget everything: the partitions changed hands and are read again."""
        self._pending.clear()
        self._reported.clear()

    def add(self, source: Coordinates, event: Event) -> list[Closed]:
        """Count ``event``, whose record stands at ``source``; returns the documents that it
        closes, and what nobody waits for."""
        match event:
            case Verdict(review=ReviewTrail(in_place=False)):
                about = None  # what a person said afterwards; the report has the scorer's verdict
            case ExtractionManifest() | Verdict() | DeadLetter(extraction_id=str()):
                about = _document(event)
            case _:
                about = None
        if about is None or place(about) in self._reported:
            return [Closed(None, [place(source)])]
        pending = self._pending.setdefault(place(about), _Pending())
        pending.held.append(place(source))
        pending.count(event)  # type: ignore[arg-type]  # about is None for all others
        return [*self._close_if_done(about), *self._give_up_oldest()]

    def _close_if_done(self, document: Coordinates) -> list[Closed]:
        pending = self._pending[place(document)]
        if not (pending.done and pending.manifest):
            return []
        del self._pending[place(document)]
        self.already_reported(document)
        return [Closed(_report(pending, pending.manifest), pending.held)]

    def _give_up_oldest(self) -> list[Closed]:
        if len(self._pending) <= self._limit:
            return []
        _, pending = self._pending.popitem(last=False)
        return [Closed(None, pending.held)]


def place(coordinates: Coordinates) -> Place:
    """Coordinates as a small key."""
    return coordinates.topic, coordinates.partition, coordinates.offset


def _document(event: ExtractionManifest | Verdict | DeadLetter) -> Coordinates | None:
    if isinstance(event, DeadLetter):
        return event.document
    return event.document.coordinates if event.document else None


def _report(pending: _Pending, manifest: ExtractionManifest) -> DocumentReport:
    ended = [pending.ended[extraction_id] for extraction_id in manifest.extraction_ids]
    judged = [end for end in ended if end is not None]
    decisions = Counter(verdict.decision for verdict in judged)
    reasons = Counter(reason for verdict in judged for reason in verdict.reasons)
    return DocumentReport(
        document=manifest.document,
        extractions=len(manifest.extraction_ids),
        accepted=decisions["accepted"],
        quarantined=decisions["quarantined"],
        undetermined=decisions["undetermined"],
        dead_lettered=len(ended) - len(judged),
        reasons=dict(sorted(reasons.items())),
        verdict_ids=tuple(verdict.verdict_id for verdict in judged),
    )

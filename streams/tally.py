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
    Verdict,
)

from .records import Record

# A document that is not done after this many later ones never will be: its topic's retention
# took a part of it, or somebody produced extractions without a manifest.
MAX_PENDING_DOCUMENTS = 50_000
# Repetitions of a document come soon after a restart; those of older ones are given up in turn.
MAX_REPORTED_DOCUMENTS = 200_000

Place = tuple[str, int, int]
_NOWHERE: Place = ("", 0, 0)


@dataclass(slots=True)
class _Pending:
    manifest: ExtractionManifest | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    records: list[Record] = field(default_factory=list)

    @property
    def done(self) -> bool:
        if self.manifest is None:
            return False
        ended = self.verdicts.keys() | self.dead
        return ended >= set(self.manifest.extraction_ids)


@dataclass(frozen=True, slots=True)
class Closed:
    """A document that is done (or given up, then ``report`` is None) and the records it held."""

    report: DocumentReport | None
    records: list[Record]


class Tally:
    """Collects events until a document's are complete.

    A document is known by the coordinates of its record, so that a document submitted twice is
    reported twice. A dead letter names only the ids; it is matched through ``doc_id``.
    """

    def __init__(self, limit: int = MAX_PENDING_DOCUMENTS) -> None:
        self._limit = limit
        self._pending: OrderedDict[Place, _Pending] = OrderedDict()
        self._places: dict[str, Place] = {}
        self._letters: OrderedDict[tuple[str, str], Record] = OrderedDict()
        self._reported: OrderedDict[Place, None] = OrderedDict()

    def already_reported(self, coordinates: Coordinates) -> None:
        """A report of an earlier run: what comes again of this document is a repetition."""
        self._reported[_place(coordinates)] = None
        if len(self._reported) > MAX_REPORTED_DOCUMENTS:
            self._reported.popitem(last=False)

    def clear(self) -> None:
        """Forget everything: the partitions changed hands and are read again."""
        self._pending.clear()
        self._places.clear()
        self._letters.clear()
        self._reported.clear()

    def add(self, record: Record, event: Event) -> list[Closed]:
        """Count ``event``; returns the documents that it closes, and what nobody waits for."""
        match event:
            case ExtractionManifest(document=document) | Verdict(document=document, review=None):
                if document is None or document.coordinates is None:
                    return [Closed(None, [record])]
                return self._count(record, event, document.coordinates)
            case DeadLetter(doc_id=str(doc_id), extraction_id=str(extraction_id)):
                return self._count_letter(record, doc_id, extraction_id)
            case _:
                return [Closed(None, [record])]

    def _count(self, record: Record, event: Event, coordinates: Coordinates) -> list[Closed]:
        place = _place(coordinates)
        if place in self._reported:
            return [Closed(None, [record])]
        pending = self._pending.setdefault(place, _Pending())
        pending.records.append(record)
        if isinstance(event, ExtractionManifest):
            pending.manifest = event
            self._places[event.document.id] = place
            self._claim_letters(pending, event)
        elif isinstance(event, Verdict):
            pending.verdicts[event.extraction_id] = event
        return [*self._close_if_done(place), *self._give_up_oldest()]

    def _count_letter(self, record: Record, doc_id: str, extraction_id: str) -> list[Closed]:
        pending = self._pending.get(self._places.get(doc_id, _NOWHERE))
        if pending and pending.manifest and extraction_id in pending.manifest.extraction_ids:
            pending.dead.add(extraction_id)
            pending.records.append(record)
            return self._close_if_done(self._places[doc_id])
        self._letters[doc_id, extraction_id] = record
        if len(self._letters) > self._limit:
            return [Closed(None, [self._letters.popitem(last=False)[1]])]
        return []

    def _claim_letters(self, pending: _Pending, manifest: ExtractionManifest) -> None:
        for extraction_id in manifest.extraction_ids:
            letter = self._letters.pop((manifest.document.id, extraction_id), None)
            if letter:
                pending.dead.add(extraction_id)
                pending.records.append(letter)

    def _close_if_done(self, place: Place) -> list[Closed]:
        pending = self._pending[place]
        if not (pending.done and pending.manifest):
            return []
        self._remove(place)
        if pending.manifest.document.coordinates:
            self.already_reported(pending.manifest.document.coordinates)
        return [Closed(_report(pending, pending.manifest), pending.records)]

    def _give_up_oldest(self) -> list[Closed]:
        if len(self._pending) <= self._limit:
            return []
        return [Closed(None, self._remove(next(iter(self._pending))).records)]

    def _remove(self, place: Place) -> _Pending:
        pending = self._pending.pop(place)
        if pending.manifest and self._places.get(pending.manifest.document.id) == place:
            del self._places[pending.manifest.document.id]
        return pending


def _place(coordinates: Coordinates) -> Place:
    return coordinates.topic, coordinates.partition, coordinates.offset


def _report(pending: _Pending, manifest: ExtractionManifest) -> DocumentReport:
    verdicts = [pending.verdicts[i] for i in manifest.extraction_ids if i in pending.verdicts]
    decisions = Counter(verdict.decision for verdict in verdicts)
    reasons = Counter(reason for verdict in verdicts for reason in verdict.reasons)
    return DocumentReport(
        document=manifest.document,
        extractions=len(manifest.extraction_ids),
        accepted=decisions["accepted"],
        quarantined=decisions["quarantined"],
        undetermined=decisions["undetermined"],
        dead_lettered=len(manifest.extraction_ids) - len(verdicts),
        reasons=dict(sorted(reasons.items())),
        verdict_ids=tuple(verdict.id for verdict in verdicts),
    )

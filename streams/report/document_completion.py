"""When is a document done? Joins its manifest with its verdicts and dead letters."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from safepassage.schemas import (
    Coordinates,
    DeadLetter,
    Decision,
    DocumentRef,
    DocumentReport,
    Event,
    ExtractionManifest,
    Reason,
    ReviewTrail,
    Verdict,
    document_id,
)
from safepassage.schemas.realignment import Outcome, outcome_of

# Documents of a partition are judged nearly in the order in which they came: no more than the
# records in flight overtake one another, some 1,500. What a document this far ahead still lacks
# is not under way; its topic's retention took it, or somebody wrote it past the flow.
GIVE_UP_DOCUMENTS = 5_000
# Where manifests run so far ahead of the verdicts, no more are read until those come.
MAX_PENDING_DOCUMENTS = 50_000
# Repetitions of a document come soon after a restart; those of older ones are given up in turn.
MAX_REPORTED_DOCUMENTS = 200_000

Place = tuple[str, int, int]
Key = Place | str
"""What a document is known by: the place of its record; of an answer in parts, its id."""


@dataclass(frozen=True, slots=True)
class _CountedVerdict:
    """What a report needs of a verdict; the verdict itself would be kilobytes."""

    verdict_id: str
    decision: Decision
    reasons: tuple[Reason, ...]
    outcome: Outcome | None


@dataclass(slots=True)
class _Pending:
    number: int  # of the partition's documents, in the order in which they were first seen
    seen: int  # the round in which that was
    manifest: ExtractionManifest | None = None
    ended: dict[str, _CountedVerdict | None] = field(default_factory=dict)  # None: a dead letter
    held: list[Place] = field(default_factory=list)
    parts: dict[Place, Coordinates] = field(default_factory=dict)  # the document's own records
    doc_id: str | None = None

    @property
    def done(self) -> bool:
        if self.manifest is None:
            return False
        awaited = set(self.manifest.extraction_ids) - self.manifest.refused.keys()
        return self.ended.keys() >= awaited

    def count(self, event: ExtractionManifest | Verdict | DeadLetter) -> None:
        if about := _coordinates(event):
            self.parts[place(about)] = about
        self.doc_id = self.doc_id or document_id(event)
        match event:
            case ExtractionManifest():
                self.manifest = _together(self.manifest, event)
            case Verdict():
                self.ended[event.extraction_id] = _CountedVerdict(
                    event.id, event.decision, event.reasons, outcome_of(event)
                )
            case DeadLetter(extraction_id=str(extraction_id)):
                self.ended.setdefault(extraction_id, None)
            case DeadLetter():  # of a part, whose refused results no manifest names
                self.ended = {**dict.fromkeys(event.refused), **self.ended}


@dataclass(slots=True)
class _Partition:
    """One partition; ``reach`` is the highest document number that the scorer has judged."""

    pending: OrderedDict[Key, _Pending] = field(default_factory=OrderedDict)
    documents: int = 0
    reach: int = 0
    ends: dict[str, int] = field(default_factory=dict)  # the last round at each topic's end

    def passed(self, oldest: _Pending, distance: int, topics: Collection[str]) -> bool:
        """Whether nothing can be under way for ``oldest``: every topic was once read to its end
        since it was seen, and the scorer is ``distance`` documents further.

        Of verdicts only those of the scorer show how far it is: quotes that are not found end
        before it, and may run ahead of a scorer that pauses for hours.
        """
        at_ends = all(self.ends.get(topic, -1) >= oldest.seen for topic in topics)
        return at_ends and self.reach - oldest.number >= distance


@dataclass(frozen=True, slots=True)
class Closed:
    """A document that is done or given up, and the places of the records that were held for it.
    Without a manifest nobody knows what it had, and ``report`` is None."""

    report: DocumentReport | None
    held: list[Place]
    given_up: bool = False


class DocumentCompletion:
    """Collects events until a document's are complete.

    A document is known by the coordinates of its record, so that a document submitted twice is
    reported twice. The parts of an answer are in several records; until the last one's manifest
    and all verdicts are in, they are held together by the answer's id. ``topics`` are the joined
    ones, by their names on the broker; ``distance`` is in documents.
    """

    def __init__(
        self,
        topics: Collection[str] = (),
        *,
        distance: int = GIVE_UP_DOCUMENTS,
        limit: int = MAX_PENDING_DOCUMENTS,
    ) -> None:
        self._topics = frozenset(topics)
        self._distance = distance
        self._limit = limit
        self._round = 0
        self._count = 0
        self._partitions: defaultdict[int, _Partition] = defaultdict(_Partition)
        self._reported: OrderedDict[Place, None] = OrderedDict()

    @property
    def full(self) -> bool:
        return 2 * self._count >= self._limit

    def already_reported(self, *records: Coordinates) -> None:
        """A report of an earlier run: what comes again of these records is a repetition."""
        self._remember([place(coordinates) for coordinates in records])

    def clear(self) -> None:
        """Forget everything: the partitions changed hands and are read again."""
        self._partitions.clear()
        self._reported.clear()
        self._count = 0

    def add(self, source: Coordinates, event: Event) -> list[Closed]:
        """Count ``event`` at ``source``; returns what it closes, and what nobody waits for."""
        key, about = _key(event), _coordinates(event)
        if key is None or (about is not None and place(about) in self._reported):
            return [Closed(None, [place(source)])]
        partition = self._partitions[source.partition]
        pending = self._pending(partition, key)
        pending.held.append(place(source))
        pending.count(event)  # type: ignore[arg-type]  # there is no key for all others
        if isinstance(event, Verdict) and event.scorer_revision is not None:
            partition.reach = max(partition.reach, pending.number)
        if pending.done:
            del partition.pending[key]
            self._count -= 1
            self._remember(pending.parts)
            return [Closed(_report(pending), pending.held)]
        if self._count <= self._limit:
            return []
        fullest = max(self._partitions.values(), key=lambda partition: len(partition.pending))
        return [self._give_up_oldest(fullest)]

    def at_ends(self, ends: Iterable[tuple[str, int]]) -> list[Closed]:
        """A batch was counted; of each topic and partition of ``ends`` nothing more is there to
        read. Returns the documents that are given up."""
        self._round += 1
        for topic, number in ends:
            self._partitions[number].ends[topic] = self._round
        closed = []
        for partition in self._partitions.values():
            while oldest := next(iter(partition.pending.values()), None):
                if not partition.passed(oldest, self._distance, self._topics):
                    break
                closed.append(self._give_up_oldest(partition))
        return closed

    def erase(self, doc_id: str) -> list[Closed]:
        """The document of that id was erased: what is held of it waits for nothing any more."""
        closed = []
        for partition in self._partitions.values():
            for key in [k for k, p in partition.pending.items() if doc_id in (k, p.doc_id)]:
                pending = partition.pending.pop(key)
                self._count -= 1
                closed.append(Closed(None, pending.held))
        return closed

    def _remember(self, reported: Iterable[Place]) -> None:
        self._reported.update(dict.fromkeys(reported))
        while len(self._reported) > MAX_REPORTED_DOCUMENTS:
            self._reported.popitem(last=False)

    def _pending(self, partition: _Partition, document: Key) -> _Pending:
        known = partition.pending.get(document)
        if known is None:
            partition.documents += 1
            self._count += 1
            # The round after this one is the first that is known to have read past this record.
            known = _Pending(partition.documents, self._round + 1)
            partition.pending[document] = known
        return known

    def _give_up_oldest(self, partition: _Partition) -> Closed:
        _, pending = partition.pending.popitem(last=False)
        self._count -= 1
        self._remember(pending.parts)
        return Closed(_report(pending), pending.held, given_up=True)


def _together(known: ExtractionManifest | None, said: ExtractionManifest) -> ExtractionManifest:
    """What is taken over late from a version before comes with a manifest of its own."""
    if known is None or not (known.realigned and said.realigned):
        return said
    every = dict.fromkeys((*known.extraction_ids, *said.extraction_ids))
    refused = {**known.refused, **said.refused}
    return said.model_copy(update={"extraction_ids": tuple(every), "refused": refused})


def place(coordinates: Coordinates) -> Place:
    return coordinates.topic, coordinates.partition, coordinates.offset


def _key(event: Event) -> Key | None:
    """None for what no report waits for."""
    match event:
        case Verdict(review=ReviewTrail(in_place=False)):
            return None  # what a person said afterwards; the report has the scorer's verdict
        case ExtractionManifest(document=DocumentRef(in_parts=True) as ref):
            return ref.id
        case Verdict(document=DocumentRef(in_parts=True) as ref):
            return ref.id
        case DeadLetter(in_parts=True):
            of_a_part = event.refused and not event.manifest_stands
            return event.doc_id if event.extraction_id or of_a_part else None
        case DeadLetter(extraction_id=None):
            return None
    about = _coordinates(event)
    return place(about) if about else None


def _coordinates(event: Event) -> Coordinates | None:
    match event:
        case ExtractionManifest() | Verdict():
            return event.document.coordinates if event.document else None
        case DeadLetter(in_parts=True, extraction_id=None):
            return event.source  # the part itself
        case DeadLetter():
            return event.document
    return None


def _report(pending: _Pending) -> DocumentReport | None:
    if (manifest := pending.manifest) is None:
        return None
    # What the broker refused has its dead letter, which names it beside the document's others.
    ends = {**dict.fromkeys(manifest.refused), **pending.ended}
    known = [i for i in manifest.extraction_ids if i in ends]
    ended = [ends[extraction_id] for extraction_id in known]
    judged = [end for end in ended if end is not None]
    decisions = Counter(verdict.decision for verdict in judged)
    reasons = Counter(reason for verdict in judged for reason in verdict.reasons)
    last = manifest.document.coordinates
    earlier = [part for _, part in sorted(pending.parts.items()) if part != last]
    return DocumentReport(
        document=manifest.document,
        extractions=len(manifest.extraction_ids),
        accepted=decisions["accepted"],
        quarantined=decisions["quarantined"],
        undetermined=decisions["undetermined"],
        dead_lettered=len(ended) - len(judged),
        missing=len(manifest.extraction_ids) - len(known),
        unfilled=manifest.unfilled,
        reasons=dict(sorted(reasons.items())),
        verdict_ids=tuple(verdict.verdict_id for verdict in judged),
        earlier_parts=tuple(earlier) if manifest.document.in_parts else (),
        from_cache=manifest.from_cache,
        realigned=dict(Counter(v.outcome for v in judged if v.outcome))
        if manifest.realigned
        else None,
    )

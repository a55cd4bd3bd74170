"""What is about documents on every topic. All of it is read, once, for all documents."""

import contextlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from safepassage.schemas import (
    DeadLetter,
    Document,
    DocumentRef,
    Event,
    MemorySnapshot,
    Response,
    Review,
    Verdict,
    document_id,
    text_digest,
)
from safepassage.schemas.layout import Original

from ..delivery.dead_letter_event import contents
from ..kafka.clients import open_admin
from ..kafka.reading import read_topics
from ..kafka.records import Record, UnreadableRecord, decode, event_of
from ..sealing.frame import SealBroken, is_sealed, subject_of
from ..settings import Settings
from ..topics import DECISIONS, DOCUMENT_VALUES, DOCUMENTS, MEMORIES, OF_DOCUMENTS, QUARTER, Topic


@dataclass(slots=True)
class Found:
    """What is about the documents. ``records`` counts by topic what is plain, ``sealed`` what
    is sealed; ``newest`` has the time of the last one (milliseconds since the epoch).
    ``tombstones`` are the keys of compacted records by topic, ``shared`` the originals from which
    other documents were read as well."""

    records: Counter[Topic] = field(default_factory=Counter)
    sealed: Counter[Topic] = field(default_factory=Counter)
    newest: dict[Topic, int] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)
    originals: dict[str, Original] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    tombstones: dict[Topic, set[bytes]] = field(default_factory=dict)

    def note(self, topic: Topic, record: Record, event: Event | None) -> None:
        """Count a record about one of the documents; ``event`` is None where it is unreadable."""
        if is_sealed(record.value):
            self.sealed[topic] += 1
        else:
            self.records[topic] += 1
        self.newest[topic] = max(self.newest.get(topic, 0), record.timestamp)
        if topic.compacted and record.key is not None:
            self.tombstones.setdefault(topic, set()).add(record.key)
        if event is not None:
            self.digests |= _digests(event)
            if isinstance(event, Document) and event.original:
                self.originals[event.original.uri] = event.original


async def survey(
    settings: Settings, documents: Collection[str], topics: Sequence[Topic] = OF_DOCUMENTS
) -> Found:
    """Everything on ``topics``, and on those of replays, about ``documents``, erased or not."""
    found, wanted = Found(), _Wanted(documents)
    there = await _existing(settings, topics)
    latest: dict[tuple[Topic, bytes], tuple[Record, Event | None]] = {}
    async for record in read_topics(settings, list(there.values())):
        topic = there[record.topic]
        about = wanted.about(record, topic)
        if topic.compacted and record.key is not None:
            latest.pop((topic, record.key), None)
            if about:
                latest[topic, record.key] = about
        elif about:
            found.note(topic, *about)
    for (topic, _), about in latest.items():
        found.note(topic, *about)
    if found.originals:
        # An e-mail with its attachments is one file and several documents.
        async for record in read_topics(settings, [DOCUMENTS]):
            document = event_of(record, Document)
            if document and document.original and document.id not in documents:
                found.shared |= {document.original.uri} & found.originals.keys()
    return found


async def _existing(settings: Settings, topics: Sequence[Topic]) -> dict[str, Topic]:
    """Those of ``topics`` that exist, by name; with `OF_DOCUMENTS` the replays' as well."""
    async with open_admin(settings) as admin:
        names = set(await admin.list_topics())
    prefix, wanted = settings.topic("replay-"), list(topics)
    if topics is OF_DOCUMENTS:
        own = [n for n in sorted(names) if n.startswith(prefix) and n.endswith("-verdicts")]
        wanted += [Topic(n.removeprefix(settings.topic_prefix), Verdict, QUARTER) for n in own]
    return {name: t for t in wanted if (name := settings.topic(t.name)) in names}


class _Wanted:
    """Tells the records about some documents from the others."""

    def __init__(self, documents: Iterable[str]) -> None:
        self._documents = frozenset(documents)
        self._needles = tuple({n for one in self._documents for n in _needles(one)})

    def about(self, record: Record, topic: Topic) -> tuple[Record, Event | None] | None:
        if record.value is None:
            return None
        keyed = (record.key or b"").decode("utf-8", "replace") in self._documents
        try:
            if is_sealed(record.value):
                keyed = keyed or subject_of(record.value) in self._documents
                named = keyed or topic is MEMORIES
            else:
                named = keyed or any(n in record.value for n in self._needles)
            if not named and topic.model is not DeadLetter:
                return None
            anyway = replace(record, protection=record.protection.for_erasing())
            event = decode(anyway, topic.model).event
        except (UnreadableRecord, SealBroken):
            return (record, None) if keyed else None
        return (record, event) if keyed or self._has(event) else None

    def _has(self, event: Event) -> bool:
        if isinstance(event, MemorySnapshot):
            return any(entry.doc_id in self._documents for entry in event.added)
        if isinstance(event, DeadLetter) and event.doc_id is None:
            with contextlib.suppress(ValueError):
                value = contents(event)[1] or b""
                return any(needle in value for needle in self._needles)
        return document_id(event) in self._documents


def _needles(doc_id: str) -> tuple[bytes, ...]:
    """How an id is in JSON, as pydantic, orjson and others write it."""
    return (json.dumps(doc_id, ensure_ascii=False).encode(), json.dumps(doc_id).encode())


def _digests(event: Event) -> set[str]:
    if isinstance(event, Document | Response):
        return {text_digest(event.text)}
    if isinstance(event, Review):
        event = event.verdict
    ref = getattr(event, "document", None)
    return {ref.digest} if isinstance(ref, DocumentRef) else set()


REMADE: tuple[Topic, ...] = (DECISIONS, MEMORIES, DOCUMENT_VALUES)
"""Topics onto which a worker that did not know of an erasure yet may write again."""

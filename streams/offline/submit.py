"""Files, folders and JSON lines onto ``documents``, and waiting for what becomes of them."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiokafka import TopicPartition
from aiokafka.structs import RecordMetadata

from schemas import Coordinates, DeadLetter, Document, DocumentReport, Response, text_digest
from schemas.jsonl import BadLine, read_jsonl
from streams.kafka.clients import new_producer, new_reader
from streams.kafka.publisher import hand_over
from streams.kafka.reading import assign, to_record
from streams.kafka.records import Outgoing, UnreadableRecord, decode
from streams.settings import Settings
from streams.topics import DEAD_LETTERS, DOCUMENTS, REPORTS, RESPONSES

ROW_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
POLL_MILLISECONDS = 250
IN_FLIGHT = 64

Submittable = Document | Response


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input that is no document. ``str()`` is one line that says where and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def read_documents(
    paths: Sequence[Path], settings: Settings, model: type[Submittable] = Document
) -> Iterator[Submittable | Rejected]:
    """The documents of files, folders (recursively, hidden files left out) and JSON lines, whose
    rows are of ``model``.

    A text file's id is its path as given. The same id with the same text is one document; with
    another text it is refused, since verdicts would mix.
    """
    seen: dict[str, str] = {}
    for found in (found for path in paths for found in _read_path(path, settings, model)):
        if isinstance(found, Rejected):
            yield found
        elif refusal := _refuse(found, seen, settings):
            yield refusal
        elif found.id not in seen or _in_parts(found):
            seen[found.id] = _digest(found)
            yield found


async def submit(
    documents: Iterable[Submittable], settings: Settings
) -> AsyncIterator[tuple[Coordinates, Submittable]]:
    """Publish each document or response; yields it with its coordinates once the broker has it.

    Raises:
        aiokafka.errors.KafkaError: the broker cannot be reached or does not take records.
    """
    producer = new_producer(settings)
    try:
        await producer.start()
        sending: list[tuple[asyncio.Future[RecordMetadata], Submittable]] = []
        for found in documents:
            sending.append((await hand_over(producer, _outgoing(found), settings), found))
            if len(sending) >= IN_FLIGHT:
                yield await _acknowledged(*sending.pop(0))
        for sent in sending:
            yield await _acknowledged(*sent)
    finally:
        await producer.stop()


async def wait_for_reports(
    pending: set[Coordinates], settings: Settings
) -> AsyncIterator[DocumentReport | DeadLetter]:
    """The report, or else the dead letter, of each document of ``pending``, as they come."""
    consumer = new_reader(settings)
    await consumer.start()
    try:
        await assign(consumer, [settings.topic(t.name) for t in (REPORTS, DEAD_LETTERS)])
        remaining = set(pending)
        while remaining:
            fetched = await consumer.getmany(timeout_ms=POLL_MILLISECONDS)
            for tp, messages in fetched.items():
                for message in messages:
                    event = _outcome(tp, message, settings)
                    place = event and _about(event)
                    if event and place in remaining:
                        remaining.discard(place)
                        yield event
    finally:
        await consumer.stop()


def _read_path(
    path: Path, settings: Settings, model: type[Submittable]
) -> Iterator[Submittable | Rejected]:
    if path.is_dir():
        for child in sorted(path.rglob("*")):
            if child.is_file() and not child.name.startswith("."):
                yield from _read_path(child, settings, model)
    elif not path.exists():
        yield Rejected(str(path), "there is no such file or folder")
    elif path.name.endswith(ROW_SUFFIXES):
        for row in read_jsonl(path, model):
            yield _rejected_line(row) if isinstance(row, BadLine) else row
    elif model is Response:
        yield Rejected(str(path), "answers come as JSON lines (.jsonl, .jsonl.gz)")
    else:
        yield _read_text(path, settings)


def _rejected_line(bad: BadLine) -> Rejected:
    return Rejected(f"{bad.path}:{bad.line}", bad.reason)


def _read_text(path: Path, settings: Settings) -> Document | Rejected:
    try:
        if path.stat().st_size > settings.max_record_bytes:
            return Rejected(str(path), _too_large(path.stat().st_size, settings))
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        return Rejected(str(path), f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return Rejected(str(path), f"is not UTF-8 text (byte {error.start}); convert it first")
    if "\0" in text:
        return Rejected(str(path), "looks binary (it holds NUL characters); extract its text first")
    return Document(id=unicodedata.normalize("NFC", str(path)), text=text)


def _refuse(document: Submittable, seen: dict[str, str], settings: Settings) -> Rejected | None:
    if not document.text.strip():
        return Rejected(document.id, "the text is empty")
    if len(document.text) > settings.max_document_characters:
        return Rejected(
            document.id,
            f"has {len(document.text)} characters; the limit is "
            f"SAFEPASSAGE_MAX_DOCUMENT_CHARACTERS = {settings.max_document_characters}",
        )
    if (size := len(document.to_json())) > settings.max_record_bytes:
        return Rejected(document.id, _too_large(size, settings))
    if seen.get(document.id, digest := _digest(document)) != digest and not _in_parts(document):
        return Rejected(document.id, "this id was used before for another text")
    return None


def _in_parts(document: Submittable) -> bool:
    return isinstance(document, Response) and document.part is not None


def is_reported(document: Submittable) -> bool:
    """Whether a report or a dead letter names the record of ``document``: the parts of an answer
    before its last one have none of their own."""
    return not isinstance(document, Response) or document.complete


def _digest(document: Submittable) -> str:
    return text_digest(document.model_dump_json(exclude={"meta"}))


def _too_large(size: int, settings: Settings) -> str:
    return (
        f"has {size} bytes; the limit is SAFEPASSAGE_MAX_RECORD_BYTES = {settings.max_record_bytes}"
    )


def _outgoing(document: Submittable) -> Outgoing:
    topic = DOCUMENTS if isinstance(document, Document) else RESPONSES
    return Outgoing(topic, document.id, document)


async def _acknowledged(
    future: asyncio.Future[RecordMetadata], document: Submittable
) -> tuple[Coordinates, Submittable]:
    metadata = await future
    place = Coordinates(
        topic=metadata.topic,
        partition=metadata.partition,
        offset=metadata.offset,
    )
    return place, document


def _outcome(
    tp: TopicPartition, message: object, settings: Settings
) -> DocumentReport | DeadLetter | None:
    record = to_record(message)
    try:
        if tp.topic == settings.topic(REPORTS.name):
            return decode(record, DocumentReport).event
        letter = decode(record, DeadLetter).event
    except UnreadableRecord:
        return None
    return None if letter.manifest_stands else letter  # the report counts what was refused


def _about(event: DocumentReport | DeadLetter) -> Coordinates | None:
    return event.source if isinstance(event, DeadLetter) else event.document.coordinates

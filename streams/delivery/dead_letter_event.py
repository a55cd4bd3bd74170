"""The dead letters of records that could not be processed, or of which results were refused."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from safepassage.schemas import (
    AlignedExtraction,
    Claim,
    Coordinates,
    DeadLetter,
    Document,
    DocumentVersion,
    Event,
    Extraction,
    ExtractionManifest,
    Response,
    Stage,
    stable_id,
)
from safepassage.schemas.report import MAX_NAMED_RESULTS

from ..kafka.records import Outgoing, Record
from ..topics import DEAD_LETTERS

UNKEYED = "-"
MAX_ERROR_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Subject:
    """What a record is about, as far as it could be read; ``document`` is where that is."""

    doc_id: str | None = None
    extraction_id: str | None = None
    document: Coordinates | None = None
    in_parts: bool = False


NOTHING = Subject()


def subject_of(event: Event | None) -> Subject:
    """What a record with ``event`` is about; None where it could not be read."""
    match event:
        case Document() | Response():
            in_parts = isinstance(event, Response) and event.part is not None
            return Subject(event.id, in_parts=in_parts)
        case Claim():
            ref = event.document
            return Subject(event.response_id, event.id, ref.coordinates, ref.in_parts)
        case Extraction(document=at):
            return Subject(event.doc_id, event.id, at.coordinates if at else None)
        case DocumentVersion():
            return Subject(event.document.id, document=event.document.coordinates)
        case AlignedExtraction():
            extraction, ref = event.extraction, event.document
            return Subject(extraction.doc_id, extraction.id, ref.coordinates, ref.in_parts)
        case _:
            return NOTHING


def dead_letter(
    record: Record,
    stage: Stage,
    error: str,
    detail: str,
    *,
    attempts: int = 1,
    about: Subject = NOTHING,
) -> DeadLetter:
    """The dead letter of a record: its bytes as they came, where from, and what went wrong."""
    where, redriven = record.coordinates, record.redriven
    return DeadLetter(
        id=stable_id("dead-letter", stage, where.topic, str(where.partition), str(where.offset)),
        stage=stage,
        source=where,
        key=_base64(record.key),
        value=_base64(record.value),
        error=error,
        detail=detail[:MAX_ERROR_CHARACTERS],
        attempts=attempts,
        doc_id=about.doc_id,
        extraction_id=about.extraction_id,
        document=about.document,
        in_parts=about.in_parts,
        redriven=redriven.count if redriven else 0,
        redrive_of=redriven.letter if redriven else None,
    )


def outgoing_letter(letter: DeadLetter, record: Record) -> Outgoing:
    """``letter`` to its topic, beside what else is of its document."""
    key = letter.doc_id or (record.key or UNKEYED.encode()).decode("utf-8", "replace")
    return Outgoing(
        DEAD_LETTERS, key, letter, redriven=record.redriven, traceparent=record.traceparent
    )


Refused = Sequence[tuple[Outgoing, str]]
"""Results that the broker will never take, each with the error's name."""


def extractions_among(refused: Refused) -> dict[str, str]:
    """The error's name of each extraction and claim of ``refused``, by its id."""
    return {
        out.event.id: error for out, error in refused if isinstance(out.event, Extraction | Claim)
    }


def naming_refused(letter: DeadLetter, made: Sequence[Outgoing], refused: Refused) -> DeadLetter:
    """``letter``, saying which of the results ``made`` were ``refused``, and which are out."""
    gone = extractions_among(refused)
    manifest_gone = any(isinstance(out.event, ExtractionManifest) for out, _ in refused)
    stands = [
        out.event.id
        for out in made
        if isinstance(out.event, Extraction | Claim) and out.event.id not in gone
    ]
    has_manifest = any(isinstance(out.event, ExtractionManifest) for out in made)
    detail = "the broker refuses a result of this record"
    if has_manifest:
        detail = f"the broker refuses {len(gone)} results of this record; {len(stands)} are out"
    if manifest_gone:
        detail += "; it refuses the manifest, so no report comes"
    named: dict[str, Any] = {
        "detail": detail,
        "manifest_stands": has_manifest and not manifest_gone,
        "refused": dict(islice(gone.items(), MAX_NAMED_RESULTS)),
        "stands": tuple(stands[:MAX_NAMED_RESULTS]),
    }
    return letter.model_copy(update=named)


def contents(letter: DeadLetter) -> tuple[bytes | None, bytes | None]:
    """Key and value of the record as they came, None for null. Raises `ValueError`: not base64."""
    return _bytes(letter.key), _bytes(letter.value)


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)

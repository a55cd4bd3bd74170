"""What somebody says is in a document, as it is given to a `Verifier`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue, ValidationError

from safepassage.schemas import DocumentRef, SchemaField, extraction_id, validation_summary
from safepassage.schemas import Extraction as ExtractionEvent


class InvalidExtraction(ValueError):
    """It cannot be one. The message says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """A fact that was extracted: its entity type, its value, and the text quoted for it.

    ``value`` is a string, number, truth value, list, or an object such as
    ``{"yyyy": 2012, "mm": 1, "dd": 17}``. ``field`` is what your schema says of the field that it
    fills: description, unit, allowed values, whether a document has only one. ``place`` is the
    name of that field where a schema has several of one entity type. ``id`` is derived from
    document, type, value, quote and place where none is given, as the stream's extractor does.
    """

    type: str
    value: JsonValue = field(repr=False)
    quote: str = field(repr=False)
    field: SchemaField | None = None
    place: str = ""
    id: str | None = None


def as_events(extractions: Sequence[Extraction], document: DocumentRef) -> list[ExtractionEvent]:
    """``extractions`` as the events of the stream; repetitions fall out.

    Raises:
        InvalidExtraction: one of them cannot be one, or one id stands for two.
    """
    events: dict[str, ExtractionEvent] = {}
    for number, extraction in enumerate(extractions, start=1):
        try:
            event = _event(extraction, document)
        except ValidationError as error:
            raise InvalidExtraction(f"extraction {number}: {validation_summary(error)}") from None
        if events.setdefault(event.id, event) != event:
            raise InvalidExtraction(f"extraction id {event.id!r} stands for two extractions")
    return list(events.values())


def _event(extraction: Extraction, document: DocumentRef) -> ExtractionEvent:
    event = ExtractionEvent(
        id=extraction.id or "unnamed",
        doc_id=document.id,
        entity_type=extraction.type,
        value=extraction.value,
        context=extraction.quote,
        document=document,
        field=extraction.field,
    )
    said = (event.entity_type, event.value, event.context, extraction.place)
    identity = extraction.id or extraction_id(document, *said)
    return event.model_copy(update={"id": identity})

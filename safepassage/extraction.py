"""What somebody says is in a document, as it is given to a `Verifier`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from safepassage.schemas import DocumentRef, SchemaField, extraction_id, validation_summary
from safepassage.schemas import Extraction as ExtractionEvent
from safepassage.schemas.extraction import among_one_another

if TYPE_CHECKING:
    from safepassage.agents.extraction.known_fields import KnownFields

_BYTES = (bytes, bytearray, memoryview)
_MOST_SHOWN = 80


class InvalidExtraction(ValueError):
    """It cannot be one. The message says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True, repr=False)
class Extraction:
    """A fact that was extracted: its entity type, its value, and the text quoted for it.

    ``value`` is a string, number, truth value, list, or an object such as
    ``{"yyyy": 2012, "mm": 1, "dd": 17}``. A date, a `Decimal`, an enum, a pydantic model or a
    dataclass counts as the JSON that pydantic writes for it: "2012-01-17", "1250.00", the enum's
    value, an object. ``field`` is what your schema says of the field that it fills: its name or
    path ("claim.excess", which is in results and feedback), description, unit, allowed values,
    whether a document has only one. ``place`` is the name of that field where a schema has several
    of one entity type. ``id`` is derived from document, type, value, quote and place where none is
    given, as the stream's extractor does.
    """

    type: str
    value: Any
    quote: str
    field: SchemaField | None = None
    place: str = ""
    id: str | None = None

    def __repr__(self) -> str:
        """Type, value and quote, cut where they are long."""
        value, quote = _cut(repr(self.value)), _cut(repr(self.quote))
        return f"Extraction({self.type!r}, {value}, quote={quote})"


def as_events(
    extractions: Sequence[Extraction], document: DocumentRef, fields: KnownFields | None = None
) -> list[ExtractionEvent]:
    """``extractions`` as the events of the stream; repetitions fall out. ``fields`` are the
    schema's; without them their types represent one, unless their fields say which others it has.
    Raises `InvalidExtraction` where one of them cannot be one, or one id represents two."""
    events: dict[str, ExtractionEvent] = {}
    for number, extraction in enumerate(extractions, start=1):
        try:
            event = as_event(extraction, document)
            event = fields.filled(event, extraction.place) if fields else event
        except ValidationError as error:
            raise InvalidExtraction(f"extraction {number}: {validation_summary(error)}") from None
        except InvalidExtraction as error:
            raise InvalidExtraction(f"extraction {number}: {error}") from None
        if events.setdefault(event.id, event) != event:
            raise InvalidExtraction(f"extraction id {event.id!r} names two extractions")
    return among_one_another(list(events.values()))


def as_event(extraction: Extraction, document: DocumentRef) -> ExtractionEvent:
    """``extraction`` as an event of the stream. Raises `InvalidExtraction` where its value has no
    JSON form; `pydantic.ValidationError` where something else about it is wrong."""
    event = ExtractionEvent(
        id=extraction.id or "unnamed",
        doc_id=document.id,
        entity_type=extraction.type,
        value=json_of(extraction.value),
        context=extraction.quote,
        document=document,
        field=extraction.field,
    )
    said = (event.entity_type, event.value, event.context, extraction.place)
    identity = extraction.id or extraction_id(document, *said)
    return event.model_copy(update={"id": identity})


def listed(given: Iterable[Extraction], of: str = "extractions") -> tuple[Extraction, ...]:
    """``given`` as a tuple. Raises `TypeError` where it is no iterable of `Extraction`; the message
    says what to give instead."""
    if given is None:
        raise TypeError(f"{of} is None; give a list, [] where nothing was found")
    if isinstance(given, Extraction):
        raise TypeError(f"{of} is one Extraction; give a list: [extraction]")
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"{of} is a {type(given).__name__}; give a list of Extraction, or what "
            "extractions_of(output) reads"
        )
    every = tuple(given)
    for number, one in enumerate(every, start=1):
        if not isinstance(one, Extraction):
            raise TypeError(
                f"extraction {number} is a {type(one).__name__}; give "
                "Extraction(type, value, quote=…), or what extractions_of(output) reads"
            )
    return every


def json_of(value: Any) -> JsonValue:
    """``value`` as pydantic writes it in JSON. Raises `InvalidExtraction` where it is None, holds
    bytes, or is of a class that has no JSON form."""
    if value is None:
        raise InvalidExtraction("the value is None; leave out what was not found")
    try:
        plain = to_jsonable_python(value, fallback=_refused)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidExtraction(f"the value has no JSON form ({type(error).__name__})") from None
    if _holds_bytes(value):
        raise InvalidExtraction("the value is bytes; decode it first")
    made: JsonValue = plain
    return made


def _refused(value: Any) -> Any:
    raise InvalidExtraction(f"a value of class {type(value).__name__} has no JSON form")


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_bytes, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_holds_bytes, value))
    return isinstance(value, _BYTES)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"

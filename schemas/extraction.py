"""What the LLM said it found, before anyone believed it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from .base import (
    VOCABULARY,
    Contract,
    EntityType,
    Event,
    EventId,
    Json,
    Text,
    is_empty,
    is_first,
    is_none,
    renamed,
)
from .document import DocumentRef
from .error_type import ErrorType
from .former import FormerVerdict
from .hypothesis import hypothesis
from .ids import canonical_json, stable_id
from .schema_field import SchemaField, among


def _not_null(value: JsonValue) -> JsonValue:
    if value is None:
        raise ValueError("value is null")
    return value


Value = Annotated[Json, AfterValidator(_not_null)]
"""A string, number, truth value, list or object such as ``{"yyyy": 2012, "mm": 1, "dd": 17}``."""


class Usage(Contract):
    """What a call to an LLM took. ``cost_usd`` is None where no price is configured."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)
    milliseconds: float = Field(default=0, ge=0)


class ExtractorTrail(Contract):
    """Who extracted: enough to tell two prompts, schemas or models apart later."""

    model: str
    prompt_digest: str
    schema_digest: str
    usage: Usage | None = None


MAX_RIVALS = 8
MAX_RIVAL_CONTEXT = 2_000
"""Characters: a longer quote is judged for itself and contests nothing."""


MAX_ATTEMPTS = 2
"""An LLM is asked again once: anyone who may guess until it fits is no witness."""


class Rival(Contract):
    """What the same document gave as well, for a field that has room for one value."""

    id: EventId
    value: Value
    context: Text = Field(max_length=MAX_RIVAL_CONTEXT, repr=False)


class Extraction(Event):
    """Topic ``extractions``: an entity type, a value, and the context quoted for it.

    ``document`` is None only in files given to ``safepassage check``, which finds the document
    by ``doc_id``. ``field`` is what the schema says of the field that the value fills, ``rivals``
    what the document gave for it with another value, see `safepassage.schemas.rivals`. ``attempt``
    is 2 for what an LLM gave when it was asked again because its first answer was refused. With
    ``former`` no LLM gave it: it was accepted in an earlier version of the document. "type"
    and "quote" are read as ``entity_type`` and ``context``, which is what is written.
    """

    id: EventId
    doc_id: EventId
    entity_type: EntityType
    value: Value
    context: Text = Field(repr=False)
    document: DocumentRef | None = None
    extractor: ExtractorTrail | None = None
    field: SchemaField | None = Field(default=None, exclude_if=is_none)
    rivals: tuple[Rival, ...] = Field(default=(), max_length=MAX_RIVALS, exclude_if=is_empty)
    attempt: int = Field(default=1, ge=1, le=MAX_ATTEMPTS, exclude_if=is_first)
    former: FormerVerdict | None = Field(default=None, exclude_if=is_none)

    @model_validator(mode="before")
    @classmethod
    def _in_either_vocabulary(cls, row: Any) -> Any:
        return renamed(row, VOCABULARY)

    @property
    def hypothesis(self) -> str:
        """h(y): what the passage has to entail."""
        return hypothesis(self.entity_type, self.value)


def among_one_another(extractions: Sequence[Extraction]) -> list[Extraction]:
    """Each as one field of a schema of the types that its document has; what its own field says
    of the schema stays."""
    types: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for extraction in extractions:
        types[extraction.doc_id].setdefault(extraction.entity_type)
    return [
        one.model_copy(update={"field": among([*types[one.doc_id]], one.entity_type, one.field)})
        for one in extractions
    ]


class LabelledExtraction(Extraction):
    """A row of a file of gold labels: 1 supported, 0 not. ``kind`` and ``why`` are for people.

    ``kind`` is tied to the label in some sets, so no scorer may see it. In a file,
    ``"description"`` represents a ``field`` of which only that is known. ``retrieved`` is the
    `schemas.Alignment` of a claim: its passage was retrieved, so its quote says less. ``reason``
    is the reviewer's (see `Review`), ``error_type`` what it makes of a claim.
    """

    label: Literal[0, 1] | None = None
    kind: str | None = None
    why: str | None = None
    retrieved: dict[Text, Json] | None = Field(default=None, repr=False, exclude_if=is_none)
    draw: dict[Text, Json] | None = Field(default=None, exclude_if=is_none)
    """The `schemas.Draw` of the review that the label comes of."""
    reason: str | None = Field(default=None, max_length=64, exclude_if=is_none)
    error_type: ErrorType | None = Field(default=None, exclude_if=is_none)

    @model_validator(mode="before")
    @classmethod
    def _described(cls, row: Any) -> Any:
        if not isinstance(row, dict) or "description" not in row:
            return row
        row = dict(row)
        description = row.pop("description")
        if row.get("field") is not None and description is not None:
            raise ValueError("give description inside field")
        return row if description is None else {**row, "field": {"description": description}}


def extraction_id(
    document: DocumentRef, entity_type: str, value: JsonValue, context: str, place: str = ""
) -> str:
    """The same finding in the same text has the same id, however often it is extracted.

    ``place`` is the name of the field where a schema has several of one entity type.
    """
    parts = (document.id, document.digest, entity_type, canonical_json(value), context)
    return stable_id("extraction", *parts, *((place,) if place else ()))


class ExtractionManifest(Event):
    """Topic ``manifests``: which extractions a document led to, possibly none.

    It tells the report role what to wait for, and makes a document without any finding end
    (promise P1). ``skipped`` counts by reason what the LLM gave that is no extraction at all,
    such as an entity without a value; of an answer, the sentences that
    claim nothing (``no_claim``). ``unfilled`` names the fields that the schema requires and
    nothing filled. ``refused`` names those of ``extraction_ids`` that the broker will never take,
    with the error's name: they are on no topic, nothing comes of them, and the dead letter of
    the document's record names them too. ``from_cache`` says that no LLM was asked: the same text
    was answered before. Nor was one where ``realigned``: the extractions are those that were
    accepted in an earlier version of the document.
    """

    document: DocumentRef
    extraction_ids: tuple[EventId, ...]
    extractor: ExtractorTrail | None = None
    skipped: dict[str, int] = Field(default_factory=dict)
    unfilled: tuple[Text, ...] = Field(default=(), exclude_if=is_empty)
    refused: dict[EventId, str] = Field(default_factory=dict, exclude_if=is_empty)
    from_cache: bool = Field(default=False, exclude_if=is_empty)
    realigned: bool = Field(default=False, exclude_if=is_empty)

"""Rows of labelled files. Unknown fields are let pass: the files come from many places."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    StrictBool,
    StrictStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from safepassage.schemas import Alignment, Document, Draw, Extraction, Response, SchemaField
from safepassage.schemas.alignment import LANGUAGE_PATTERN
from safepassage.schemas.base import EntityType, EventId, Json, Text
from safepassage.schemas.extraction import Value
from safepassage.schemas.hypothesis import parse_hypothesis
from safepassage.scoring_worker.scorer import Pair

from .cases import DatasetKind

_SUPPORTED = frozenset({"1", "true", "yes", "entailment", "supports", "supported"})
_UNSUPPORTED = frozenset(
    {"0", "false", "no", "neutral", "contradiction", "not_entailment", "insufficient"}
    | {"unsupported", "refuted"}
)
_UNLABELLED = frozenset({"", "-", "none", "null"})


def read_label(label: object) -> bool | None:
    """Whether a label means supported; None where it says "none". Raises `ValueError` where it is
    not one of the known labels."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    name = "" if label is None else str(label).casefold()
    if name in _UNLABELLED:
        return None
    if name not in _SUPPORTED | _UNSUPPORTED:
        raise ValueError("the label is neither 0 or 1 nor entailment, neutral or contradiction")
    return name in _SUPPORTED


Supported = Annotated[bool | None, BeforeValidator(read_label)]


class Row(BaseModel):
    """A row of a file of labels."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
    )


def _or_else(default: object) -> WrapValidator:
    """Takes ``default`` for a value of another form: files have columns of the same names."""

    def read(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except ValidationError:
            return default

    return WrapValidator(read)


_OptionalWords = Annotated[StrictStr | None, _or_else(None)]
_Joints = Annotated[tuple[StrictStr, ...], _or_else(())]
_Language = Annotated[Annotated[StrictStr, Field(pattern=LANGUAGE_PATTERN)] | None, _or_else(None)]
_DayFirst = Annotated[StrictBool | None, _or_else(None)]
_Draw = Annotated[Draw | None, _or_else(None)]
_Places = Annotated[tuple[tuple[NonNegativeInt, NonNegativeInt], ...] | None, _or_else(None)]


class DescribedRow(Row):
    """A row that may tell what the schema says: ``field``, or only its ``description``."""

    field: Annotated[SchemaField | None, _or_else(None)] = None
    description: _OptionalWords = None

    @property
    def schema_field(self) -> SchemaField | None:
        """What the schema says, if the row tells it."""
        if self.field is None and self.description:
            return SchemaField(description=self.description)
        return self.field


class DocumentRow(Row):
    """{"id", "text"}."""

    id: EventId
    text: Text

    @property
    def document(self) -> Document:
        """The document of this row."""
        return Document(id=self.id, text=self.text)


def _model_name(extractor: object) -> str | None:
    found = extractor.get("model") if isinstance(extractor, Mapping) else extractor
    return found if isinstance(found, str) else None


class ExtractionRow(DescribedRow):
    """{"id", "doc_id", "entity_type", "value", "context", "label"}; the extractor's model too.

    ``retrieved`` is the alignment of a claim.
    """

    id: EventId
    doc_id: EventId
    entity_type: EntityType
    value: Value
    context: Text
    supported: Supported = Field(default=None, validation_alias="label")
    kind: str | None = None
    model: Annotated[str | None, BeforeValidator(_model_name)] = Field(
        default=None, validation_alias=AliasChoices("extractor", "model")
    )
    retrieved: Alignment | None = None
    draw: _Draw = None

    @property
    def extraction(self) -> Extraction:
        """The row as the pipeline meets it: without its label and kind."""
        return Extraction(
            id=self.id,
            doc_id=self.doc_id,
            entity_type=self.entity_type,
            value=self.value,
            context=self.context,
            field=self.schema_field,
        )


class PairRow(DescribedRow):
    """{"premise", "hypothesis", "label"}, or {"s1", "s2", "label"}; perhaps typed, and with what
    else a scorer is asked: see `safepassage.scoring_worker.scorer.Pair`.

    ``source`` is the collection that a row comes from.
    """

    premise: Text = Field(validation_alias=AliasChoices("premise", "s1", "clause"))
    hypothesis: Text = Field(validation_alias=AliasChoices("hypothesis", "s2"))
    supported: Supported = Field(validation_alias=AliasChoices("label", "answer"))
    id: str | None = None
    doc_id: str | None = None
    entity_type: EntityType | None = None
    value: Json = None
    kind: str | None = Field(default=None, validation_alias=AliasChoices("kind", "source"))
    before: _OptionalWords = None
    after: _OptionalWords = None
    between: _Joints = ()
    heading: _OptionalWords = None
    column_head: _OptionalWords = None
    row_head: _OptionalWords = None
    language: _Language = None
    day_first: _DayFirst = None
    absent: _Places = None
    draw: _Draw = None


def row_of_pair(pair: Pair) -> dict[str, JsonValue]:
    """The fields of a row; what is not known of the pair is left out."""
    known: dict[str, JsonValue] = {
        "before": pair.before or None,
        "after": pair.after or None,
        "between": list(pair.between) or None,
        "heading": pair.heading or None,
        "column_head": pair.column_head or None,
        "row_head": pair.row_head or None,
        "language": pair.language,
        "day_first": pair.day_first,
        "field": pair.field.model_dump(mode="json") if pair.field else None,
        # An empty list says that no word is absent, None that nobody looked.
        "absent": None if pair.absent is None else [list(place) for place in pair.absent],
    }
    return {
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "entity_type": pair.entity_type,
        "value": pair.value,
        **{name: value for name, value in known.items() if value is not None},
    }


def pair_of_row(row: PairRow) -> Pair:
    """The pair of a row; type and value are read from the hypothesis where the row has none."""
    entity_type, value = row.entity_type, row.value
    if entity_type is None or value is None:
        entity_type, value = parse_hypothesis(row.hypothesis)
    return Pair(
        premise=row.premise,
        hypothesis=row.hypothesis,
        entity_type=entity_type,
        value=value,
        before=row.before or "",
        after=row.after or "",
        between=row.between,
        heading=row.heading or "",
        column_head=row.column_head or "",
        row_head=row.row_head or "",
        language=row.language,
        day_first=row.day_first,
        field=row.schema_field,
        absent=row.absent,
    )


class ResponseRow(Row):
    """{"id", "context", "claim" or "response", "label"}; the model that answered, too."""

    id: EventId
    context: Text | list[Text]
    supported: Supported = Field(validation_alias="label")
    claim: Text | None = None
    response: Text | None = None
    kind: str | None = Field(default=None, validation_alias=AliasChoices("kind", "source"))
    model: Annotated[str | None, BeforeValidator(_model_name)] = Field(
        default=None,
        validation_alias=AliasChoices("extractor", "model", AliasPath("extra", "model")),
    )

    @property
    def answer(self) -> Response:
        """The answer to judge; of ``claim`` and ``response`` the claim."""
        text = self.claim if self.claim is not None else self.response or ""
        return Response(id=self.id, context=self.context, response=text)


class AnnotatedEntity(Row):
    """``text[start:end]`` says ``value``; other offsets (-1) mean that its place is not known."""

    type: str = Field(min_length=1)
    start: int
    end: int
    value: JsonValue = None


class EntityRow(Row):
    """A document and what is known to be in it; without "text" it is among --documents."""

    id: EventId
    entities: list[AnnotatedEntity]
    text: Text | None = None


_FIELDS: Mapping[DatasetKind, tuple[frozenset[str], ...]] = {
    "extractions": tuple(
        frozenset({name}) for name in ("id", "doc_id", "entity_type", "value", "context")
    ),
    "entities": (frozenset({"id"}), frozenset({"entities"})),
    "pairs": (
        frozenset({"premise", "s1", "clause"}),
        frozenset({"hypothesis", "s2"}),
        frozenset({"label", "answer"}),
    ),
    "responses": (
        frozenset({"id"}),
        frozenset({"context"}),
        frozenset({"claim", "response"}),
        frozenset({"label"}),
    ),
}
"""Of each set at least one field is there."""

KNOWN_KINDS = "labelled extractions, pairs, responses, or documents with entities"


def kind_of(fields: Mapping[str, object]) -> DatasetKind | None:
    """The kind of data set whose row has these fields; None where it is of none."""
    present = fields.keys()
    for kind, needed in _FIELDS.items():
        if all(alternatives & present for alternatives in needed):
            return kind
    return None

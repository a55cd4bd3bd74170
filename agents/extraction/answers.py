"""What the LLM is asked to fill in, and how its answer is read back.

Two kinds: the user's own pydantic model (SafePassage paper, Figure 2), and a generic list of
entities for those who only name entity types.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from safepassage.llm_calls.errors import Malformed, SchemaMismatch, TooLarge
from safepassage.schemas import (
    Entity,
    SchemaField,
    canonical_json,
    render_value,
    stable_id,
    strict_json,
    validation_summary,
)
from safepassage.schemas.base import EntityType, Json, Text
from safepassage.schemas.schema_field import among

from .examples import Example
from .generic_schema import generic_json_schema, plain_value
from .schema_fields import (
    EntityPlace,
    ambiguous_types,
    entity_places,
    other_fields,
    placed_entities,
    schema_field,
)

MAX_FINDINGS = 2_000
"""In one answer: far above what a document says, far below what would flood a topic."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One entity as the LLM gave it. ``context`` may be empty: the aligner rejects that.

    ``schema_field`` is what the schema says of it, which is nothing that the LLM found. ``place``
    is the name of the field where the schema has several of this entity type, else "". ``attempt``
    is 2 for what came when the LLM was asked again.
    """

    entity_type: EntityType
    value: Json = field(repr=False)
    context: Text = field(repr=False)
    place: str = field(default="", compare=False)
    schema_field: SchemaField | None = field(default=None, compare=False, repr=False)
    attempt: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one answer held. ``skipped`` counts by reason the entities that are no extraction.

    Reasons: ``no_value``, ``unknown_type``, ``invalid_entity``; ``replaced`` where the LLM was
    asked again and gave another.
    """

    findings: tuple[Finding, ...]
    skipped: Counter[str] = field(default_factory=Counter)


class _Required:
    """What a document has to have, by entity type and name of the field."""

    required: tuple[tuple[str, str | None], ...] = ()

    def unfilled(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """The required fields that ``findings``, all of a document, leave empty."""
        filled = {(f.entity_type, f.schema_field and f.schema_field.name) for f in findings}
        return tuple([name or kind for kind, name in self.required if (kind, name) not in filled])


class GenericSchema(_Required):
    """A flat list of entities of ``entity_types`` (any where empty); as a mapping it says what each
    is."""

    name = "entities"
    strict = True

    def __init__(
        self,
        entity_types: Sequence[str] | Mapping[str, SchemaField] = (),
        examples: Sequence[Example] = (),
    ) -> None:
        self.examples = tuple(examples)
        self.entity_types = tuple(entity_types)
        told = dict(entity_types) if isinstance(entity_types, Mapping) else {}
        self.required = tuple((n, f.name) for n, f in told.items() if f.required)
        self.json_schema = generic_json_schema(self.entity_types, told)
        self.fields = {
            name: said
            for name in self.entity_types
            if (said := among(self.entity_types, name, told.get(name)))
        }

    def read(self, answer: JsonValue) -> Answer:
        rows = answer.get("entities") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise SchemaMismatch('the answer has no list "entities"')
        skipped: Counter[str] = Counter()
        findings = tuple(self._findings(rows, skipped))
        return Answer(findings, skipped)

    def _findings(self, rows: list[JsonValue], skipped: Counter[str]) -> Iterator[Finding]:
        for row in rows:
            try:
                entity = _GenericEntity.model_validate(row)
            except ValidationError:
                skipped["invalid_entity"] += 1
                continue
            if self.entity_types and entity.entity_type not in self.entity_types:
                skipped["unknown_type"] += 1
            else:
                value, context = plain_value(entity.value), entity.context or ""
                said = self.fields.get(entity.entity_type)
                found = Finding(entity.entity_type, value, context, schema_field=said)
                yield from _with_value(found, skipped)


class UserSchema(_Required):
    """A pydantic model with subclasses of `Entity` inside; an answer that breaks it is a
    `SchemaMismatch`."""

    def __init__(
        self,
        model: type[BaseModel],
        json_schema: dict[str, Any],
        strict: bool,
        examples: Sequence[Example] = (),
    ) -> None:
        self.examples = tuple(examples)
        self.model = model
        self.name = model.__name__[:64]
        self.json_schema = json_schema
        self.strict = strict
        self.places = entity_places(model)
        self._ambiguous = ambiguous_types(self.places)
        self.required = tuple(
            (entity.type_name(), place.name) for entity, place in self.places if place.required
        )
        self._fields: dict[tuple[type[Entity], tuple[str, ...], bool], SchemaField] = {}

    def read(self, answer: JsonValue) -> Answer:
        try:
            response = self._validated(answer)
        except ValidationError as error:
            said = f"the answer is no {self.name}: {validation_summary(error)}"
            raise SchemaMismatch(said) from None
        skipped: Counter[str] = Counter()
        findings = tuple(self._findings(response, skipped))
        return Answer(findings, skipped)

    def _validated(self, answer: JsonValue) -> BaseModel:
        """A key that is left out is null: not every endpoint keeps to the schema that it is sent.
        An answer without any key of the schema is no empty answer."""
        try:
            return self.model.model_validate(answer)
        except ValidationError as error:
            if isinstance(answer, dict) and answer.keys() & self.json_schema["properties"].keys():
                absent = [str(one["loc"][0]) for one in error.errors() if one["type"] == "missing"]
                with suppress(ValidationError):
                    return self.model.model_validate(dict.fromkeys(absent) | answer)
            raise

    def _findings(self, response: BaseModel, skipped: Counter[str]) -> Iterator[Finding]:
        for entity, place in placed_entities(response):
            yield from self._finding(entity, place, skipped)

    def _finding(
        self, entity: Entity, place: EntityPlace, skipped: Counter[str]
    ) -> Iterator[Finding]:
        try:
            value = _JSON.validate_python(entity.payload())
            context = _TEXT.validate_python(entity.context)
        except ValidationError:
            skipped["invalid_entity"] += 1
        else:
            name = entity.type_name()
            where = place.name if name in self._ambiguous else ""
            said = self._said_of(type(entity), place)
            yield from _with_value(Finding(name, value, context, where, said), skipped)

    def _said_of(self, entity: type[Entity], place: EntityPlace) -> SchemaField:
        key = entity, place.path, place.many
        if key not in self._fields:
            self._fields[key] = schema_field(entity, place, other_fields(self.places, entity))
        return self._fields[key]


ExtractionSchema = GenericSchema | UserSchema
"""The form of an answer. ``strict`` says whether an endpoint can enforce ``json_schema``, and
``examples`` are what the LLM is shown before the document."""


def schema_digest(schema: ExtractionSchema) -> str:
    """Tells two schemas apart on an `ExtractorTrail`."""
    return stable_id("schema", schema.name, canonical_json(dict(schema.json_schema)))


def read_answer(schema: ExtractionSchema, content: str) -> Answer:
    """The entities in the text that the LLM answered.

    Raises:
        Malformed: it is not JSON. NaN and infinity are not JSON either.
        SchemaMismatch: it is JSON of another shape.
        TooLarge: it has more than `MAX_FINDINGS` entities.
    """
    try:
        answer = strict_json(content)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the answer is not JSON ({type(error).__name__})") from None
    read = schema.read(answer)
    if len(read.findings) > MAX_FINDINGS:
        raise TooLarge(f"the answer has more than {MAX_FINDINGS} entities")
    return read


class _GenericEntity(BaseModel):
    entity_type: EntityType
    value: Json
    context: Text | None = None


_JSON: TypeAdapter[JsonValue] = TypeAdapter(Json)
_TEXT: TypeAdapter[str] = TypeAdapter(Text)


def _with_value(finding: Finding, skipped: Counter[str]) -> Iterator[Finding]:
    """Nothing, counted, where the value says nothing: there is no hypothesis to support."""
    if render_value(finding.value):
        yield finding
    else:
        skipped["no_value"] += 1

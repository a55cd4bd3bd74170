"""What a user's model says of each place where an `Entity` can be.

The same class can be at several places ("landlord: Party", "tenant: Party"), so what is said
belongs to the place and not to the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from safepassage.schemas import Entity, SchemaField
from safepassage.schemas.schema_field import MAX_OTHERS, other_types

_INHERITED = Entity.__doc__


@dataclass(frozen=True, slots=True)
class EntityPlace:
    """A field of a model that holds entities. ``path`` are the names on the way to it; ``many``
    says whether it or what holds it is a list, ``certain`` whether a document always has what
    holds it."""

    path: tuple[str, ...] = ()
    info: FieldInfo | None = None
    many: bool = False
    certain: bool = True

    def inside(self, name: str, info: FieldInfo) -> EntityPlace:
        certain = self.info is None or (self.required and not self.many)
        return EntityPlace((*self.path, name), info, self.many, certain)

    def in_a_list(self) -> EntityPlace:
        return EntityPlace(self.path, self.info, True, self.certain)

    @property
    def required(self) -> bool:
        """Whether a document has to have an entity here."""
        if not self.certain or self.info is None or type(None) in get_args(self.info.annotation):
            return False
        if self.many:
            return any(getattr(bound, "min_length", 0) for bound in self.info.metadata)
        return self.info.is_required()

    @property
    def name(self) -> str:
        return ".".join(self.path)


def placed_entities(
    response: BaseModel, place: EntityPlace | None = None
) -> Iterator[tuple[Entity, EntityPlace]]:
    """Every `Entity` inside ``response`` with its place, depth first, in field order."""
    place = place or EntityPlace()
    if isinstance(response, Entity):
        yield response, place
        return
    for name, info in type(response).model_fields.items():
        yield from _in_value(getattr(response, name), place.inside(name, info))


def _in_value(value: object, place: EntityPlace) -> Iterator[tuple[Entity, EntityPlace]]:
    if isinstance(value, BaseModel):
        yield from placed_entities(value, place)
    elif isinstance(value, list | tuple | dict):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _in_value(element, place.in_a_list())


def entity_places(model: type[BaseModel]) -> tuple[tuple[type[Entity], EntityPlace], ...]:
    """Every place of ``model`` for an `Entity`, in field order; a model that holds itself once."""
    return tuple(_places(model, EntityPlace(), frozenset()))


def _places(
    annotation: Any, place: EntityPlace, within: frozenset[Any]
) -> Iterator[tuple[type[Entity], EntityPlace]]:
    origin = get_origin(annotation)
    if origin is not None:
        many = isinstance(origin, type) and issubclass(origin, list | tuple | Mapping | set)
        for part in get_args(annotation):
            yield from _places(part, place.in_a_list() if many else place, within)
    elif isinstance(annotation, type) and issubclass(annotation, Entity):
        yield annotation, place
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in within:
            for name, info in annotation.model_fields.items():
                yield from _places(info.annotation, place.inside(name, info), within | {annotation})
    else:
        for part in get_args(annotation):  # X | None
            yield from _places(part, place, within)


def ambiguous_types(places: tuple[tuple[type[Entity], EntityPlace], ...]) -> frozenset[str]:
    """Entity types that are at several places: the type alone does not tell the fact."""
    counts = Counter(entity.type_name() for entity, _ in places)
    return frozenset(name for name, count in counts.items() if count > 1)


def other_fields(
    places: Sequence[tuple[type[Entity], EntityPlace]], entity: type[Entity]
) -> tuple[str, ...]:
    """The entity types of the other fields of a schema with ``places``."""
    names = [one.type_name() for one, _ in places]
    own = entity.type_name()
    return other_types(names, names.index(own)) if own in names else tuple(names[:MAX_OTHERS])


def schema_field(
    entity: type[Entity], place: EntityPlace, others: Sequence[str] = ()
) -> SchemaField:
    """What the schema says of ``entity`` where it is at ``place``, beside ``others``."""
    payload = _payload(entity)
    info = place.info
    extra = info.json_schema_extra if info and isinstance(info.json_schema_extra, dict) else {}
    descriptions = [
        info.description if info else None,
        entity.__doc__ if entity.__doc__ != _INHERITED else None,
        *_descriptions(payload),
    ]
    return SchemaField.model_validate(
        {
            "name": place.name or None,
            "description": " ".join(" ".join(filter(None, descriptions)).split()) or None,
            "unit": _unit(extra) or next(filter(None, map(_unit, payload.values())), None),
            "words": word_rule(extra) or next(filter(None, map(word_rule, payload.values())), None),
            "allowed": _allowed(next(iter(payload.values()))) if len(payload) == 1 else None,
            "part_options": _part_options(payload) if len(payload) > 1 else None,
            "single": not place.many,
            "required": place.required,
            "others": others,
        }
    )


def _payload(entity: type[Entity]) -> dict[str, dict[str, Any]]:
    """The JSON schemas of the payload fields, references resolved."""
    schema = entity.model_json_schema()
    definitions = schema.get("$defs", {})
    fields = schema.get("properties", {})
    return {name: _resolved(fields[name], definitions) for name in fields if name != "context"}


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with what it refers to at its top; of two forms the one that is not null."""
    if "$ref" in schema:
        named = definitions.get(schema["$ref"].rpartition("/")[2], {})
        return {**named, **_without(schema, "$ref")}
    forms = [form for form in schema.get("anyOf", ()) if form.get("type") != "null"]
    if len(forms) == 1:
        return {**_resolved(forms[0], definitions), **_without(schema, "anyOf")}
    if isinstance(schema.get("items"), dict):
        return {**schema, "items": _resolved(schema["items"], definitions)}
    return schema


def _without(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}


def _descriptions(payload: Mapping[str, Mapping[str, Any]]) -> Iterator[str | None]:
    for name, schema in payload.items():
        description = schema.get("description")
        if isinstance(description, str):
            yield description if len(payload) == 1 else f"{name}: {description}"


def _unit(schema: Mapping[str, Any]) -> str | None:
    unit = schema.get("unit") or schema.get("x-unit")
    return unit if isinstance(unit, str) else None


def _part_options(payload: Mapping[str, Mapping[str, Any]]) -> list[JsonValue] | None:
    options = [option for schema in payload.values() for option in _allowed(schema) or ()]
    return list(dict.fromkeys(options)) or None


def word_rule(schema: Mapping[str, Any]) -> Any:
    """What a field's schema says of its values' words; see `SchemaField.words`."""
    return schema.get("words") or schema.get("x-words")


def _allowed(schema: Mapping[str, Any]) -> list[JsonValue] | None:
    if "const" in schema:
        return [schema["const"]]
    options = schema.get("enum") or schema.get("items", {}).get("enum")
    return [option for option in options if option is not None] if options else None

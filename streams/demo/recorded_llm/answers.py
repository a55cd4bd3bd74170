"""Recorded findings in the form that a request asks for.

A request brings a JSON schema and nothing else: not the user's classes. What looks like an
entity in it (an object with a string ``context``) is filled from the findings of its title.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from safepassage.agents.extraction.answers import Finding
from safepassage.agents.extraction.generic_schema import schema_value
from safepassage.schemas import entity_type_name

Schema = Mapping[str, Any]


class Unanswerable(Exception):
    """The findings of the recording do not fit the schema that was asked for."""


def answer(findings: Sequence[Finding], schema: Schema | None) -> JsonValue:
    """The object that the LLM would have answered; the generic list without a schema.

    Findings of types that the schema does not ask for are left out, as an LLM would.

    Raises:
        Unanswerable: the schema has no place for an entity, or a finding does not fit its own.
    """
    if schema is None or _is_generic(schema):
        return _generic(findings, schema)
    form = _Form(schema, findings)
    try:
        filled = form.container(schema)
    except RecursionError:
        raise Unanswerable("the schema contains itself") from None
    if not form.asked:
        raise Unanswerable("the schema has no object with a context")
    return filled


def _is_generic(schema: Schema) -> bool:
    entities = schema.get("properties", {}).get("entities", {})
    fields = entities.get("items", {}).get("properties", {})
    return {"entity_type", "value", "context"} == set(fields)


def _generic(findings: Sequence[Finding], schema: Schema | None) -> JsonValue:
    asked: Sequence[str] | None = None
    if schema is not None:
        entity = schema["properties"]["entities"]["items"]["properties"]
        asked = entity["entity_type"].get("enum")
    return {
        "entities": [
            {
                "entity_type": finding.entity_type,
                "value": schema_value(finding.value),
                "context": finding.context,
            }
            for finding in findings
            if asked is None or finding.entity_type in asked
        ]
    }


class _Form:
    """A schema being filled in. ``asked`` are the entity types it has a place for."""

    def __init__(self, root: Schema, findings: Sequence[Finding]) -> None:
        self._root = root
        self._left = list(findings)
        self.asked: set[str] = set()

    def container(self, schema: Schema) -> dict[str, JsonValue]:
        """An object that is no entity itself, each of its fields filled."""
        fields = schema.get("properties", {})
        return {name: self._field(name, self._resolved(part)) for name, part in fields.items()}

    def _field(self, name: str, schema: Schema) -> JsonValue:
        forms = [self._resolved(form) for form in schema.get("anyOf", [schema])]
        for form in forms:
            if form.get("type") == "array":
                return self._list(self._resolved(form.get("items", {})))
        entities = [form for form in forms if _is_entity(form)]
        if entities:
            return self._single(name, entities, may_be_null=_allows_null(forms))
        for form in forms:
            if form.get("properties"):
                return self.container(form)
        if "default" in schema:
            default: JsonValue = schema["default"]
            return default
        if _allows_null(forms):
            return None
        raise Unanswerable(f"the recording knows nothing of the field {name!r}")

    def _list(self, schema: Schema) -> list[JsonValue]:
        forms = [self._resolved(form) for form in schema.get("anyOf", [schema])]
        entities = [form for form in forms if _is_entity(form)]
        if entities:
            return list(self._entities(entities))
        return [self.container(form) for form in forms[:1] if form.get("properties")]

    def _single(self, name: str, forms: list[Schema], *, may_be_null: bool) -> JsonValue:
        found = list(self._entities(forms))
        if len(found) > 1:
            raise Unanswerable(f"{len(found)} findings for {name!r}, which has room for one")
        if not found and not may_be_null:
            raise Unanswerable(f"no finding for {name!r}, which may not be null")
        return found[0] if found else None

    def _entities(self, forms: list[Schema]) -> Iterator[JsonValue]:
        by_type = {_type_key(form.get("title", "")): form for form in forms}
        self.asked |= by_type.keys()
        for finding in [*self._left]:
            form = by_type.get(_type_key(finding.entity_type))
            if form is not None:
                self._left.remove(finding)
                yield self._entity(finding, form)

    def _entity(self, finding: Finding, form: Schema) -> JsonValue:
        payload = {name: part for name, part in form["properties"].items() if name != "context"}
        value = finding.value
        if len(payload) == 1:
            [name] = payload
            if not (isinstance(value, dict) and set(value) == {name}):
                value = {name: value}
        filled = self._coerced(value, {"type": "object", "properties": payload})
        if not isinstance(filled, dict):
            raise Unanswerable(f"a {finding.entity_type} of the recording is no object")
        return {"context": finding.context, **filled}

    def _coerced(self, value: JsonValue, schema: Schema) -> JsonValue:
        """``value`` as ``schema`` wants it: digits as a number, a number as its digits."""
        schema = self._resolved(schema)
        if "anyOf" in schema:
            return self._first_that_fits(value, schema["anyOf"])
        kind = schema.get("type")
        if kind == "object" and isinstance(value, dict):
            return self._object(value, schema.get("properties", {}))
        if kind == "array" and isinstance(value, list):
            return [self._coerced(part, schema.get("items", {})) for part in value]
        if kind is None or _fits(value, kind):
            return value
        if kind == "string" and _fits(value, "number"):
            return str(value)
        if kind == "integer" and isinstance(value, str) and value.isdecimal():
            return int(value)
        raise Unanswerable(f"a recorded value is no {kind}")

    def _object(self, value: dict[str, JsonValue], fields: Schema) -> JsonValue:
        unknown = value.keys() - fields.keys()
        if unknown:
            raise Unanswerable(f"the schema has no field {min(unknown)!r}")
        return {name: self._coerced(value.get(name), part) for name, part in fields.items()}

    def _first_that_fits(self, value: JsonValue, forms: Sequence[Schema]) -> JsonValue:
        exact = [form for form in forms if _fits(value, self._resolved(form).get("type"))]
        for form in [*exact, *forms]:
            try:
                return self._coerced(value, form)
            except Unanswerable:
                continue
        raise Unanswerable("a recorded value has none of the forms that the schema allows")

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            found: Any = self._root
            for key in (path := str(schema["$ref"]).removeprefix("#/").split("/")):
                found = found.get(key, {})
            schema = {"title": path[-1], **found}
        return schema


def _is_entity(schema: Schema) -> bool:
    context = schema.get("properties", {}).get("context", {})
    return bool(context.get("type") == "string")


def _allows_null(forms: Sequence[Schema]) -> bool:
    return any(form.get("type") == "null" for form in forms)


def _type_key(name: str) -> str:
    return entity_type_name(name).casefold()


_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def _fits(value: JsonValue, kind: object) -> bool:
    kinds = kind if isinstance(kind, list) else [kind]
    if isinstance(value, bool):  # an int in Python, but not in JSON
        return "boolean" in kinds
    return any(isinstance(value, _JSON_TYPES.get(str(name), ())) for name in kinds)

"""The JSON schema of the generic list of entities.

Endpoints enforce only closed objects strictly, but a value may be an object of any form. So a
value is a scalar, a list of strings, a date, or ``{"fields": [{"name", "value"}, …]}``, which
represents an object with these fields. An endpoint that enforces nothing may answer with the
plain object: both are read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from safepassage.schemas import SchemaField

DATE_KEYS = ("yyyy", "mm", "dd")
_SCALAR_TYPES = ["string", "number", "boolean", "null"]


def generic_json_schema(
    entity_types: Sequence[str], fields: Mapping[str, SchemaField] | None = None
) -> dict[str, Any]:
    """The form of an answer; the type is one of ``entity_types``, or any where there are none."""
    entity_type: dict[str, Any] = {"type": "string"}
    if entity_types:
        entity_type["enum"] = list(entity_types)
    if said := "\n".join(_told(name, field) for name, field in (fields or {}).items()):
        entity_type["description"] = said
    pair = _closed(name={"type": "string"}, value={"type": _SCALAR_TYPES})
    values = [
        *({"type": name} for name in ("string", "number", "boolean")),
        {"type": "array", "items": {"type": "string"}},
        # A date, or as much of one as the document says.
        _closed(**{key: {"type": ["integer", "null"]} for key in DATE_KEYS}),
        _closed(fields={"type": "array", "items": pair}),
    ]
    entity = _closed(
        entity_type=entity_type,
        value={"anyOf": values},
        context={
            "type": "string",
            "description": "A short snippet copied character by character from the document "
            "that shows both what kind of fact this is and its value.",
        },
    )
    return _closed(entities={"type": "array", "items": entity})


def _told(name: str, field: SchemaField) -> str:
    parts = [field.description]
    parts.append(f"unit: {field.unit}" if field.unit else None)
    if field.allowed:
        parts.append("one of: " + ", ".join(map(str, field.allowed)))
    parts.append("at most one in a document" if field.single else None)
    return f"{name}: " + "; ".join(filter(None, parts))


def plain_value(value: JsonValue) -> JsonValue:
    """``{"fields": […]}`` as the object that it represents; anything else as it is."""
    if isinstance(value, dict) and set(value) == {"fields"} and isinstance(value["fields"], list):
        pairs = [_pair(part) for part in value["fields"]]
        if all(pair is not None for pair in pairs):
            return dict(pair for pair in pairs if pair is not None)
    return value


def schema_value(value: JsonValue) -> JsonValue:
    """The reverse of `plain_value`; objects within objects stay as they are."""
    if not isinstance(value, dict) or tuple(value) == DATE_KEYS:
        return value
    if any(isinstance(part, dict | list) for part in value.values()):
        return value
    return {"fields": [{"name": name, "value": part} for name, part in value.items()]}


def _pair(part: JsonValue) -> tuple[str, JsonValue] | None:
    if isinstance(part, Mapping) and set(part) == {"name", "value"}:
        name = part["name"]
        return (name, part["value"]) if isinstance(name, str) else None
    return None


def _closed(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

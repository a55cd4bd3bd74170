"""A JSON schema in the few words that an LLM needs of it.

JSON schema says everything several times: eleven small classes are 6 kB, which a small LLM on a
processor reads for a minute with every document. The instructions show the form of an answer
instead, with what is said of each field beside it; the schema that an endpoint enforces carries no
prose.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from safepassage.schemas import Entity, entity_type_name

Schema = Mapping[str, Any]

_INLINE: Final = 100
"""Characters of an object in one line; a longer one has a line for each field."""

_INHERITED: Final = Entity.model_fields["context"].description
"""Is once in the instructions."""

_BOUNDS: Final = (
    "format",
    "pattern",
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems"),
    *("unit", "x-unit", "examples"),
)


def notation(schema: Schema) -> str:
    """The form of an answer, e.g. ``{"rent": {"context": string, "amount": number}[]  // a month}``
    with a line a field; a field that may be left out has a "?"."""
    return _Form(schema.get("$defs", {})).written(schema, "", ())


def enforced(schema: Schema, name: str = "") -> dict[str, Any]:
    """``schema`` for ``response_format``: without what the instructions say. An object keeps its
    title, the entity type, unless its ``name`` says it."""
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            kept[key] = {each: enforced(part, each) for each, part in value.items()}
        elif key in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            kept[key] = [enforced(part) for part in value]
        elif isinstance(value, Mapping):
            kept[key] = enforced(value)
        elif key == "title":
            if "properties" in schema and value != entity_type_name(name):
                kept[key] = value
        elif key not in {"description", "examples"}:
            kept[key] = value
    return kept


class _Form:
    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions

    def written(self, schema: Schema, indent: str, within: tuple[str, ...]) -> str:
        """The type of ``schema``; ``within`` are the definitions that it is inside of."""
        if name := _reference(schema):
            inside = self._definitions.get(name, {}), indent, (*within, name)
            return name if name in within else self.written(*inside)
        if forms := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            return " | ".join(self.written(form, indent, within) for form in forms)
        if "const" in schema or "enum" in schema:
            allowed = schema.get("enum", [schema.get("const")])
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in allowed)
        kind = schema.get("type", "any")
        if kind == "array":
            listed = self.written(schema.get("items", {}), indent, within)
            return f"({listed})[]" if " | " in listed and listed[0] != "{" else f"{listed}[]"
        if kind == "object":
            return self._object(schema, indent, within)
        return " | ".join(kind) if isinstance(kind, list) else str(kind)

    def _object(self, schema: Schema, indent: str, within: tuple[str, ...]) -> str:
        fields = schema.get("properties", {})
        if not fields:
            return "{}" if schema.get("additionalProperties") is False else "object"
        required = schema.get("required", fields)
        deeper = indent + "  "
        lines: list[tuple[str, str]] = []
        for name, part in fields.items():
            optional = "" if name in required else "?"
            written = self.written(part, deeper, within)
            said = " ".join(dict.fromkeys(self._said(part, name, within)))
            lines.append((f"{json.dumps(name, ensure_ascii=False)}{optional}: {written}", said))
        inline = "{" + ", ".join(line for line, _ in lines) + "}"
        if len(inline) <= _INLINE and indent and not any(said for _, said in lines):
            return inline
        body = [f"{deeper}{line}{',  // ' + said if said else ','}" for line, said in lines]
        return "\n".join(["{", *body, indent + "}"])

    def _said(self, schema: Schema, field: str, within: tuple[str, ...]) -> Iterator[str]:
        """What is said of ``field``: of itself, and of what it holds as far as that is no field."""
        title = schema.get("title", "")
        if "context" in schema.get("properties", ()) and _letters(title) not in _letters(field):
            yield f"{title}:"
        described = schema.get("description")
        if described and described != _INHERITED:
            yield " ".join(str(described).split())
        for bound in _BOUNDS:
            if bound in schema:
                yield f"({bound} {json.dumps(schema[bound], ensure_ascii=False)})"
        name = _reference(schema)
        if name and name not in within:
            yield from self._said(self._definitions.get(name, {}), field, (*within, name))
        for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("items")):
            if isinstance(part, Mapping):
                yield from self._said(part, field, within)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _reference(schema: Schema) -> str | None:
    reference = schema.get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else None

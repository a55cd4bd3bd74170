"""What a change of the events may not do to records that stand on topics already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_AT_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_COMPARED = ("pattern", "const", "format", "$ref", "type")
_PARTS = ("items", "additionalProperties", "propertyNames")


def refusals(released: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Where a reader of ``now`` refuses what a writer of ``released`` wrote, or lacks what it read:
    both are the schemas of all events by name."""
    found = [f"{name} is gone" for name in released if name not in now]
    for name in released.keys() & now.keys():
        found += _narrowed(released[name], now[name], name)
    return sorted(found)


def _narrowed(before: Any, after: Any, where: str) -> Iterator[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before is True and after is not True:
            yield f"{where}: anything was allowed"
        return
    before, after = _plain(before), _plain(after)
    if "anyOf" in before or "anyOf" in after:
        yield from _alternatives(before, after, where)
        return
    yield from _fields(before, after, where)
    yield from _bounds(before, after, where)
    for key in _COMPARED:
        if key in after and after[key] != before.get(key):
            yield f"{where}: {key} is {after[key]}, and was {before.get(key)}"
    if "enum" in after:
        allowed = before.get("enum", [before["const"]] if "const" in before else None)
        if allowed is None or (gone := set(map(str, allowed)) - set(map(str, after["enum"]))):
            yield f"{where}: values are gone: {sorted(gone) if allowed else 'it was open'}"
    for key in _PARTS:
        if key in after:
            yield from _narrowed(before.get(key, True), after[key], f"{where}[]")


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A constant as an enumeration of one, so that it may become a longer one."""
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
        del schema["const"]
    return schema


def _fields(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[str]:
    old, new = before.get("properties", {}), after.get("properties", {})
    for name in after.get("required", ()):
        if name not in before.get("required", ()):
            yield f"{where}.{name} is required, and was not"
    for name, schema in old.items():
        if name in new:
            yield from _narrowed(schema, new[name], f"{where}.{name}")
        else:
            yield f"{where}.{name} is gone"


def _bounds(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[str]:
    for keys, lowest in ((_AT_LEAST, True), (_AT_MOST, False)):
        for key in keys:
            if key not in after:
                continue
            was, is_now = before.get(key), after[key]
            if was is None or (is_now > was if lowest else is_now < was):
                yield f"{where}: {key} is {is_now}, and was {was}"


def _alternatives(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[str]:
    wanted = after.get("anyOf", [after])
    for one in before.get("anyOf", [before]):
        if not any(not list(_narrowed(one, other, where)) for other in wanted):
            yield f"{where}: {one} is not allowed any more"

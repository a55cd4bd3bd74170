"""The topics for readers in other languages: JSON Schemas of the events, and an AsyncAPI document.

Both are made from the models. What our roles write may gain fields, so its schemas are open: a
reader passes over what it does not know. What people send is closed.
"""

from typing import Any

from pydantic.json_schema import models_json_schema

from safepassage.schemas import Event

from .kafka.records import ANEW_HEADER, BORN_HEADER, SENT_BY_PEOPLE, VERSION_HEADER
from .topics import ACCESS, ALL_TOPICS, Topic

ASYNCAPI_VERSION = "3.0.0"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FORMAT = "application/schema+json;version=draft-2020-12"
_REFERENCE = "#/components/schemas/{model}"


def event_models() -> dict[str, type[Event]]:
    return dict(sorted({topic.model.__name__: topic.model for topic in ALL_TOPICS}.items()))


def event_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of event, complete in itself. Raises `LookupError` where there is
    no such event."""
    models = event_models()
    if name not in models:
        raise LookupError(f"no event {name!r}; there are: {', '.join(models)}")
    schema = models[name].model_json_schema()
    if models[name] not in SENT_BY_PEOPLE:
        _open(schema)
    return {"$schema": DIALECT, **schema}


def asyncapi_document(version: str) -> dict[str, Any]:
    """All topics, what they carry, and which role reads and writes them; ``version`` is ours."""
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": "SafePassage",
            "version": version,
            "description": "Topics are named without SAFEPASSAGE_TOPIC_PREFIX.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {topic.name: _channel(topic) for topic in ALL_TOPICS},
        "operations": _operations(),
        "components": {
            "messages": {name: _message(name, model) for name, model in event_models().items()},
            "schemas": _schemas(),
        },
    }


def _schemas() -> dict[str, Any]:
    models = event_models()
    _, made = models_json_schema(
        [(model, "validation") for model in models.values()], ref_template=_REFERENCE
    )
    schemas: dict[str, Any] = made["$defs"]
    for name, schema in schemas.items():
        if models.get(name) not in SENT_BY_PEOPLE:
            _open(schema)
    return dict(sorted(schemas.items()))


def _open(schema: Any) -> None:
    """Let a schema, and those within it, pass over what they do not know."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
        for part in schema.values():
            _open(part)
    elif isinstance(schema, list):
        for part in schema:
            _open(part)


def _message(name: str, model: type[Event]) -> dict[str, Any]:
    header = {"type": "string"}
    return {
        "name": name,
        "summary": " ".join((model.__doc__ or "").split()).partition(". ")[0].rstrip("."),
        "headers": {
            "type": "object",
            "properties": dict.fromkeys((VERSION_HEADER, BORN_HEADER, ANEW_HEADER), header),
        },
        "payload": {
            "schemaFormat": SCHEMA_FORMAT,
            "schema": {"$ref": _REFERENCE.format(model=name)},
        },
    }


def _channel(topic: Topic) -> dict[str, Any]:
    name = topic.model.__name__
    configuration: dict[str, Any] = {
        "cleanup.policy": ["compact" if topic.compacted else "delete"],
        "retention.ms": topic.retention_ms,
    }
    kafka: dict[str, Any] = {"topicConfiguration": configuration, "bindingVersion": "0.5.0"}
    if topic.single:
        kafka["partitions"] = 1
    return {
        "address": topic.name,
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        "bindings": {"kafka": kafka},
    }


def _operations() -> dict[str, Any]:
    operations = {}
    for role, access in ACCESS.items():
        for action, topics in (("receive", access.reads), ("send", access.writes)):
            for topic in topics:
                operations[f"{role}-{action}-{topic.name}"] = {
                    "action": action,
                    "channel": {"$ref": f"#/channels/{topic.name}"},
                }
    return operations

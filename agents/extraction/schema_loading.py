"""From a setting to an `ExtractionSchema`, with one-line errors for anything else."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError

from safepassage.agents.alignment import DocumentIndex
from safepassage.llm_calls.errors import LLMError
from safepassage.schemas import Entity, SchemaField, validation_summary
from safepassage.schemas.base import EntityType

from .answers import ExtractionSchema, GenericSchema, UserSchema, read_answer
from .examples import Example, examples_in
from .schema_fields import entity_places
from .user_modules import imported_module

# Endpoints do not enforce a schema that has one of these, or one that allows anything at all.
_UNSTRICT = frozenset({"oneOf", "allOf", "not", "if", "patternProperties", "prefixItems"})
_TYPED = frozenset({"type", "anyOf", "$ref", "enum", "const"})


SchemaLike = type[BaseModel] | Sequence[str] | Mapping[str, str | SchemaField] | str
Schema = TypeVar("Schema", GenericSchema, UserSchema)


class SchemaError(ValueError):
    """A setting names no usable schema. The message is one line that says what to mend."""


def load_schema(spec: str | None, entity_types: Sequence[str] = ()) -> ExtractionSchema:
    """The schema that ``spec`` names, or a generic one of ``entity_types``.

    ``spec`` names a JSON file of entity types, each with its description or with a `SchemaField`:
    ``{"Dose": "the daily dose", "Sex": {"allowed": ["f", "m"], "single": true}}``. Or it is
    ``module:Class`` (see `imported_module` for where it is looked for), where the class is a
    pydantic model that holds `Entity` subclasses, or is one itself. Without ``spec`` the answer is
    a flat list of entities, of any type where none is given. Raises `SchemaError` where there is no
    such class, or it holds nothing to extract."""
    return schema_of(configured(spec, entity_types))


def configured(spec: str | None, entity_types: Sequence[str]) -> str | Sequence[str]:
    """Whichever of the two settings is set. Raises `SchemaError` where both are."""
    if spec and entity_types:
        raise SchemaError("give either a schema class or entity types, not both")
    return spec or entity_types


def user_schema(model: type[BaseModel]) -> UserSchema:
    """The schema of a user's pydantic model. Raises `SchemaError` where it holds no `Entity`, an
    `Entity` without payload, fields that have no JSON schema, or examples that are wrong."""
    said = None if issubclass(model, Entity) else model.model_config.get("json_schema_extra")
    model = entity_model(model)
    try:
        json_schema, strict = _json_schema(model)
    except (PydanticUserError, NameError) as error:
        raise _without_json_schema(model, error) from error
    json_schema.pop("examples", None)  # they are shown as answers; strict endpoints refuse them
    shown = said.get("examples", ()) if isinstance(said, dict) else ()
    return with_examples(UserSchema(model, json_schema, strict), shown)


def entity_model(model: type[BaseModel]) -> type[BaseModel]:
    """``model``, or a list of it where it is an `Entity`. Raises `SchemaError` where it holds no
    `Entity`, an `Entity` without payload, or fields that are no types."""
    if model is BaseModel:
        raise SchemaError("BaseModel itself says nothing to extract; give a model of your own")
    if issubclass(model, Entity):
        model = create_model(model.__name__, entities=(list[model], ...))  # type: ignore[valid-type]
    try:
        entities = {entity for entity, _ in entity_places(model)}
    except (PydanticUserError, NameError) as error:
        raise _without_json_schema(model, error) from error
    if not entities:
        raise SchemaError(f"{model.__name__} holds no subclass of schemas.Entity")
    for entity in entities:
        if not set(entity.model_fields) - {"context"}:
            raise SchemaError(f"{entity.__name__} has no field besides context")
    return model


def _without_json_schema(model: type[BaseModel], error: Exception) -> SchemaError:
    reason = str(error).splitlines()[0]
    return SchemaError(f"{model.__name__} has no JSON schema: {reason}")


def with_examples(schema: Schema, said: object) -> Schema:
    """``schema`` with further examples: ``[{"document": …, "answer": …}, …]``. Raises `SchemaError`
    where they have another form, are too much, break the schema, or quote what is not in their
    document."""
    try:
        schema.examples = (*schema.examples, *examples_in(said))
    except ValueError as error:
        raise SchemaError(f"{schema.name}: {error}") from None
    for number, example in enumerate(schema.examples, start=1):
        if wrong := _wrong(schema, example):
            raise SchemaError(f"{schema.name}: example {number}: {wrong}")
    return schema


def _wrong(schema: ExtractionSchema, example: Example) -> str | None:
    """What ``example`` would teach an LLM that is refused later."""
    try:
        answer = read_answer(schema, example.answered)
    except LLMError as error:
        return str(error)
    if answer.skipped:
        return ", ".join(answer.skipped)
    index = DocumentIndex(example.document)
    lost = next((f for f in answer.findings if index.align(f.context).score < 1.0), None)
    if lost is None:
        return None
    return f"the context of {lost.entity_type} is not in its document as it is quoted"


def schema_of(given: SchemaLike) -> ExtractionSchema:
    """The schema of a pydantic model, of entity types, of a mapping from entity types to what each
    is (a description or a `SchemaField`), or of the ``spec`` of `load_schema`. Raises `SchemaError`
    where it is no schema."""
    if isinstance(given, str):
        if given.endswith(".json"):
            return GenericSchema(_described_types(Path(given)))
        return user_schema(imported_class(given))
    if isinstance(given, type) and issubclass(given, BaseModel):
        return user_schema(given)
    if isinstance(given, Mapping):
        try:
            return GenericSchema(_fields_of(_DESCRIBED.validate_python(dict(given))))
        except ValidationError as error:
            raise SchemaError(f"no entity types: {validation_summary(error)}") from None
    if isinstance(given, Sequence):
        return GenericSchema(_distinct_types(given))
    raise SchemaError(f"a {type(given).__name__} is no schema; give a pydantic model")


def imported_class(spec: str) -> type[BaseModel]:
    module_name, _, class_name = spec.partition(":")
    if not module_name or not class_name:
        raise SchemaError(f"{spec!r} is not of the form module:Class")
    try:
        module = imported_module(module_name)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise SchemaError(f"the module {module_name} cannot be imported: {reason}") from error
    found = getattr(module, class_name, None)
    where = getattr(module, "__file__", None) or "a built-in module"
    if found is None:
        raise SchemaError(f"the module {module_name} has no class {class_name}; found {where}")
    if not isinstance(found, type) or not issubclass(found, BaseModel):
        raise SchemaError(f"{spec} is not a pydantic model; found {where}")
    return found


def _distinct_types(entity_types: Sequence[str]) -> tuple[str, ...]:
    names = [name.strip() for name in entity_types]
    if len(set(names)) < len(names):
        raise SchemaError("an entity type is given twice")
    try:
        TypeAdapter(list[EntityType]).validate_python(names)
    except ValidationError:
        raise SchemaError("an entity type is empty or longer than 200 characters") from None
    return tuple(names)


def _described_types(path: Path) -> dict[str, SchemaField]:
    try:
        said = _DESCRIBED.validate_json(path.read_bytes())
    except OSError as error:
        raise SchemaError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise SchemaError(
            f"{path} describes no entity types: {validation_summary(error)}"
        ) from None
    if not said:
        raise SchemaError(f"{path} describes no entity types")
    return _fields_of(said)


def _fields_of(said: Mapping[str, str | SchemaField]) -> dict[str, SchemaField]:
    named = [SchemaField(description=s) if isinstance(s, str) else s for s in said.values()]
    return dict(zip(_distinct_types(tuple(said)), named, strict=True))


_DESCRIBED: TypeAdapter[dict[str, str | SchemaField]] = TypeAdapter(dict[str, str | SchemaField])


def _json_schema(model: type[BaseModel]) -> tuple[dict[str, Any], bool]:
    """The schema in the form that endpoints enforce, and whether they can."""
    from openai import pydantic_function_tool  # noqa: PLC0415 - what is judged needs no LLM

    closed: dict[str, Any] = dict(pydantic_function_tool(model)["function"]["parameters"])
    if not _permits_strict(closed):
        return model.model_json_schema(), False
    _drop_defaults(closed)
    return closed, True


def _permits_strict(schema: dict[str, Any]) -> bool:
    is_open = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    if is_open or _UNSTRICT & schema.keys() or not _TYPED & schema.keys():
        return False
    return all(map(_permits_strict, _parts(schema)))


def _drop_defaults(schema: dict[str, Any]) -> None:
    """Strict endpoints require every field and refuse the keyword ``default``."""
    schema.pop("default", None)
    for part in _parts(schema):
        _drop_defaults(part)


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from schema.get("$defs", {}).values()
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]

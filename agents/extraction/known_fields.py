"""What a schema says of extractions that come from elsewhere: from a file, a call or a request.

The extractor puts it onto what the LLM gave. Judged without it, the same extraction is another
question.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from safepassage.schemas import Extraction, SchemaField

from .answers import GenericSchema
from .schema_fields import entity_places, other_fields, schema_field
from .schema_loading import SchemaLike, configured, entity_model, imported_class, schema_of

Places = Mapping[str, SchemaField]
"""What is said of one entity type, by the name of the field; "" where it has none."""


class KnownFields:
    """The fields of a schema by their entity types."""

    def __init__(self, fields: Mapping[str, Places]) -> None:
        self._fields = fields

    def filled(self, extraction: Extraction, place: str = "") -> Extraction:
        """``extraction`` with what the schema says of its field; what it says itself stays.

        Of several fields with its entity type ``place`` or its own ``field.name`` tells which;
        where neither does, only the schema's other fields are known. An entity type that is not
        of the schema is left as it is.
        """
        places = self._fields.get(extraction.entity_type)
        if places is None:
            return extraction
        own = extraction.field or SchemaField()
        first = next(iter(places.values()))
        known = places.get(own.name or place)
        if known is None:
            known = first if len(places) == 1 else SchemaField(others=first.others)
        return extraction.model_copy(update={"field": own.over(known)})

    def missing(self, extractions: Sequence[Extraction]) -> str:
        """Why the schema says nothing of any of ``extractions``; "" where it does."""
        given = dict.fromkeys(one.entity_type for one in extractions)
        if not given or not self._fields.keys().isdisjoint(given):
            return ""
        asked, found = (", ".join(map(repr, [*names][:8])) for names in (self._fields, given))
        return f"no extraction is of a type of the schema: it has {asked}; they have {found}"


def known_fields(given: SchemaLike) -> KnownFields | None:
    """The fields of a schema as `schema_of` takes it; None where it names no entity type. Raises
    `SchemaError` where it is no schema."""
    if isinstance(given, str) and not given.endswith(".json"):
        given = imported_class(given)
    if isinstance(given, type) and issubclass(given, BaseModel):
        return _of_model(entity_model(given))
    schema = schema_of(given)
    assert isinstance(schema, GenericSchema)  # noqa: S101 (for the type checker)
    fields = {name: {said.name or "": said} for name, said in schema.fields.items()}
    return KnownFields(fields) if fields else None


def configured_fields(spec: str | None, entity_types: Sequence[str] = ()) -> KnownFields | None:
    """The fields of the schema that ``SAFEPASSAGE_SCHEMA`` or ``SAFEPASSAGE_ENTITY_TYPES`` names;
    None where neither is set. Raises `SchemaError` where it is no schema, or both are set."""
    return known_fields(configured(spec, entity_types))


def _of_model(model: type[BaseModel]) -> KnownFields:
    places = entity_places(model)
    fields: dict[str, dict[str, SchemaField]] = {}
    for entity, place in places:
        said = schema_field(entity, place, other_fields(places, entity))
        fields.setdefault(entity.type_name(), {})[place.name] = said
    return KnownFields(fields)

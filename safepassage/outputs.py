"""What other extractors give, as `Extraction` objects: a model filled by an LLM, langextract's.

instructor, pydantic-ai and langchain fill a pydantic model of yours; its `schemas.Entity` classes
say which parts are facts with a quote. A model without them goes to `Verifier.check`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from safepassage.schemas import entity_type_name

from .extraction import Extraction


@runtime_checkable
class AnnotatedDocument(Protocol):
    """What langextract returns for one document."""

    text: str | None
    extractions: list[Any] | None


def extractions_of(output: Any) -> list[Extraction]:
    """The facts in what an extractor gave.

    Takes a pydantic model with `schemas.Entity` anywhere inside (instructor; langchain's
    structured output, also with ``include_raw``; the ``output`` of a pydantic-ai run, or the run
    itself), or langextract's annotated document. An entity without a value is left out.

    Raises:
        TypeError: it is not one of these, or a model that has no place for an `Entity`.
        ValueError: langchain says that the LLM's answer could not be read.
    """
    found = filled(output)
    if isinstance(found, BaseModel):
        return list(_of_model(found))
    if isinstance(found, AnnotatedDocument):
        return [of_langextract(one) for one in found.extractions or ()]
    raise TypeError(f"no extractions are known in a {type(found).__name__}")


def filled(output: Any) -> Any:
    """What was filled: of langchain's answer with ``include_raw`` what was parsed, of a run of
    pydantic-ai its output; anything else as it is. Raises `ValueError` where langchain says
    that the LLM's answer could not be read."""
    if isinstance(output, BaseModel | AnnotatedDocument):
        return output
    if isinstance(output, Mapping) and {"parsed", "parsing_error"} <= set(output):
        if output["parsing_error"] is not None or output["parsed"] is None:
            raise ValueError("the LLM's answer could not be read into the schema")
        return output["parsed"]
    return getattr(output, "output", output)


def of_langextract(found: Any) -> Extraction:
    """An extraction of langextract's. The text that was extracted is the quote, and the value too
    unless an attribute of that name says it. langextract's own alignment is not believed: the
    quote is aligned anew."""
    attributes = found.attributes or {}
    return Extraction(
        entity_type_name(found.extraction_class),
        attributes.get("value", found.extraction_text),
        quote=found.extraction_text,
    )


def _of_model(model: BaseModel) -> Iterator[Extraction]:
    from safepassage.agents.extraction.schema_fields import (  # noqa: PLC0415 - only where there is a schema
        ambiguous_types,
        entity_places,
        other_fields,
        placed_entities,
        schema_field,
    )
    from safepassage.schemas import render_value  # noqa: PLC0415

    places = entity_places(type(model))
    placed = list(placed_entities(model))
    if not places and not placed:
        name = type(model).__name__
        raise TypeError(
            f"{name} has no field for an Entity, so nothing says what is quoted for its values: "
            f"derive them from safepassage.Entity, or give the {name} to Verifier.check"
        )
    ambiguous = ambiguous_types(places)
    for entity, place in placed:
        value, name = entity.payload(), entity.type_name()
        if render_value(value):
            yield Extraction(
                name,
                value,
                quote=entity.context,
                field=schema_field(type(entity), place, other_fields(places, type(entity))),
                place=place.name if name in ambiguous else "",
            )

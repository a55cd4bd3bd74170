"""What other extractors give, as `Extraction` objects: a model filled by an LLM, langextract's.

instructor, pydantic-ai and langchain fill a pydantic model of yours; its `schemas.Entity` classes
say which parts are facts with a quote.
"""

from __future__ import annotations

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
    itself), or langextract's annotated document. An entity without a value is none.

    Raises:
        TypeError: it is none of these.
        ValueError: langchain says that the LLM's answer could not be read.
    """
    if isinstance(output, BaseModel):
        return list(_of_model(output))
    if isinstance(output, Mapping) and {"parsed", "parsing_error"} <= set(output):
        if output["parsing_error"] is not None or output["parsed"] is None:
            raise ValueError("the LLM's answer could not be read into the schema")
        return extractions_of(output["parsed"])
    if isinstance(output, AnnotatedDocument):
        return list(_of_langextract(output))
    if isinstance(getattr(output, "output", None), BaseModel):
        return extractions_of(output.output)
    raise TypeError(f"no extractions are known in a {type(output).__name__}")


def _of_model(model: BaseModel) -> Iterator[Extraction]:
    from safepassage.agents.extraction.schema_fields import (  # noqa: PLC0415 - only where there is a schema
        ambiguous_types,
        entity_places,
        placed_entities,
        schema_field,
    )
    from safepassage.schemas import render_value  # noqa: PLC0415

    ambiguous = ambiguous_types(entity_places(type(model)))
    for entity, place in placed_entities(model):
        value, name = entity.payload(), entity.type_name()
        if render_value(value):
            yield Extraction(
                name,
                value,
                quote=entity.context,
                field=schema_field(type(entity), place),
                place=place.name if name in ambiguous else "",
            )


def _of_langextract(document: AnnotatedDocument) -> Iterator[Extraction]:
    """The text that was extracted is the quote, and the value too unless an attribute of that
    name says it. langextract's own alignment is not believed: the quote is aligned anew."""
    for found in document.extractions or ():
        attributes = found.attributes or {}
        yield Extraction(
            entity_type_name(found.extraction_class),
            attributes.get("value", found.extraction_text),
            quote=found.extraction_text,
        )

"""What the schema says of a field: part of the question that a scorer answers.

"Maximum daily dose for hypertension" is another question than "maximum dose", and a field that
is not a list has room for one value only. It travels with the extraction, so that a verdict can
be judged again from its events alone; it is bounded, and a digest represents what was cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .base import MAX_TYPE_CHARACTERS, Contract, EntityType, Text, is_empty, is_none
from .ids import stable_id

MAX_DESCRIPTION = 500
MAX_UNIT = 60
MAX_ALLOWED = 100
MAX_OPTION = 100
MAX_OTHERS = 8

Option = Annotated[Text, Field(max_length=MAX_OPTION)] | bool | int | float


WordRule = Literal["all", "reader"]
"""Who decides on a value's words: "all" have to be in the quote, or the "reader" judges those that
are not."""


class SchemaField(Contract):
    """What a schema says of the field that an extraction fills; None where it says nothing.

    ``name`` is the field's name in the schema, ``allowed`` the values that it may have,
    ``part_options`` those that parts of an object may be chosen from, of all parts together,
    ``single`` whether a document can have only one (False: it is a list), ``required`` whether
    a document must have one. ``words`` is "reader" where values may be in other words than the
    document's: a paraphrase, a translation, a category. ``others`` are the entity types of the
    schema's other fields, of many the nearest: a passage may speak of one of them instead. Longer
    texts and lists are cut, and ``digest`` is of the whole.
    """

    name: Text | None = Field(default=None, max_length=MAX_TYPE_CHARACTERS, exclude_if=is_none)
    description: Text | None = Field(
        default=None, max_length=MAX_DESCRIPTION, exclude_if=is_none, repr=False
    )
    unit: Text | None = Field(default=None, max_length=MAX_UNIT, exclude_if=is_none)
    allowed: tuple[Option, ...] | None = Field(
        default=None, max_length=MAX_ALLOWED, exclude_if=is_none
    )
    part_options: tuple[Option, ...] | None = Field(
        default=None, max_length=MAX_ALLOWED, exclude_if=is_none
    )
    single: bool | None = Field(default=None, exclude_if=is_none)
    required: bool | None = Field(default=None, exclude_if=is_none)
    words: WordRule | None = Field(default=None, exclude_if=is_none)
    others: tuple[EntityType, ...] = Field(
        default=(), max_length=MAX_OTHERS, exclude_if=is_empty, repr=False
    )
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] | None = Field(
        default=None, exclude_if=is_none
    )

    @model_validator(mode="before")
    @classmethod
    def _cut_to_bounds(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        cut = {name: _cut(name, value) for name, value in given.items()}
        if cut != dict(given) and not cut.get("digest"):
            cut["digest"] = stable_id("field", *(f"{name}={given[name]}" for name in sorted(given)))
        return cut

    def beside(self, others: Sequence[str]) -> SchemaField:
        """This field of a schema that has ``others`` too; what it says of them stays."""
        return self if self.others else self.model_copy(update={"others": tuple(others)})

    def over(self, known: SchemaField) -> SchemaField:
        """``known``, but for what this field says."""
        said = {name: value for name, value in self if value not in (None, ())}
        return known.model_copy(update=said) if said else known

    @property
    def identity(self) -> str:
        """Changes with every word of what the schema says."""
        return stable_id("field", self.model_dump_json(exclude_none=True))


def other_types(entity_types: Sequence[str], at: int) -> tuple[str, ...]:
    """The ``others`` of field number ``at`` of a schema whose fields have ``entity_types``."""
    others = {entity_types[at].casefold(): ""}
    for other in sorted(range(len(entity_types)), key=lambda other: abs(other - at)):
        others.setdefault(entity_types[other].casefold(), entity_types[other])
    return tuple(others.values())[1 : MAX_OTHERS + 1]


def among(
    entity_types: Sequence[str], entity_type: str, said: SchemaField | None
) -> SchemaField | None:
    """What is ``said`` of the field of ``entity_type``, with the others of ``entity_types``, to
    which it belongs; what it says of others itself stays."""
    others = other_types(entity_types, entity_types.index(entity_type))
    return (said or SchemaField()).beside(others) if others else said


_LIMITS = {"name": MAX_TYPE_CHARACTERS, "description": MAX_DESCRIPTION, "unit": MAX_UNIT}


def _cut(name: str, value: object) -> object:
    if name in _LIMITS and isinstance(value, str):
        return value[: _LIMITS[name]]
    if name == "others" and isinstance(value, list | tuple):
        return value[:MAX_OTHERS]
    if name in ("allowed", "part_options") and isinstance(value, list | tuple):
        options = [v[:MAX_OPTION] if isinstance(v, str) else v for v in value[:MAX_ALLOWED]]
        return type(value)(options)
    return value

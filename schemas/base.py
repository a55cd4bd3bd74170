"""What every event on a topic shares."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

# Bounds on what comes from outside. A longer id or type is a defect of the producer; a longer
# text is refused by name (see `Settings`) instead of being truncated.
MAX_ID_CHARACTERS = 512
MAX_TYPE_CHARACTERS = 200
MAX_DEPTH = 50  # of a value; pydantic's JSON reader stops at 200, so what is written is readable


def _encodable(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"a lone surrogate at {error.start}, which is no Unicode") from None
    return text


def _representable(value: JsonValue, depth: int = MAX_DEPTH) -> JsonValue:
    """Refuses what pydantic lets pass inside a `JsonValue` though it could not be read back."""
    if depth < 0:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    if isinstance(value, str):
        _encodable(value)
    elif isinstance(value, list):
        for element in value:
            _representable(element, depth - 1)
    elif isinstance(value, dict):
        for key, element in value.items():
            _encodable(key)
            _representable(element, depth - 1)
    return value


Text = Annotated[str, AfterValidator(_encodable)]
"""A string that UTF-8 can carry: without lone surrogates."""

Json = Annotated[JsonValue, AfterValidator(_representable)]
"""A JSON value without NaN, infinity and lone surrogates, and not nested without end."""

EventId = Annotated[
    str, Field(min_length=1, max_length=MAX_ID_CHARACTERS), AfterValidator(_encodable)
]
EntityType = Annotated[
    str, Field(min_length=1, max_length=MAX_TYPE_CHARACTERS), AfterValidator(_encodable)
]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


def is_none(value: object) -> bool:
    """For ``Field(exclude_if=is_none)``: a field that came later leaves no trace where it is
    absent, so that records and ids from before it stay as they were, byte for byte."""
    return value is None


def is_first(value: object) -> bool:
    """The same for a count that begins at one."""
    return value == 1


def is_empty(value: object) -> bool:
    """The same for a collection, a truth value or a count from zero that came later."""
    return not value


class Contract(BaseModel):
    """Immutable, closed to unknown fields, and without NaN or infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Event(Contract):
    """A record of a topic. ``version`` grows when a reader of the old form would misread it."""

    version: Literal[1] = 1

    def to_json(self) -> bytes:
        """UTF-8 JSON with the fields in declaration order: equal events give equal bytes."""
        return self.model_dump_json().encode()


VOCABULARY = {"type": "entity_type", "quote": "context"}
"""Names that the library and HTTP take, by those of files and topics: both are read everywhere,
and what comes out has the names of files and topics."""


def renamed(row: Any, names: Mapping[str, str]) -> Any:
    """``row`` with the keys of ``names`` under their other names. Raises `ValueError` where it has
    a field under both."""
    if not isinstance(row, dict) or names.keys().isdisjoint(row):
        return row
    for given, wanted in names.items():
        if given in row and wanted in row:
            raise ValueError(f"{given} and {wanted} are the same field; give one")
    return {names.get(key, key): value for key, value in row.items()}

"""What every event on a topic shares."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# Bounds on what comes from outside. A longer id or type is a defect of the producer; a longer
# text is refused by name (see `Settings`) instead of being truncated.
MAX_ID_CHARACTERS = 512
MAX_TYPE_CHARACTERS = 200

EventId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
EntityType = Annotated[str, Field(min_length=1, max_length=MAX_TYPE_CHARACTERS)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class Contract(BaseModel):
    """Immutable, closed to unknown fields, and without NaN or infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Event(Contract):
    """A record of a topic. ``version`` grows when a reader of the old form would misread it."""

    version: Literal[1] = 1

    def to_json(self) -> bytes:
        """UTF-8 JSON with the fields in declaration order: equal events give equal bytes."""
        return self.model_dump_json().encode()

"""Dead letters on their way back onto the topics that they came from."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from .base import Event, EventId, Text
from .document import Coordinates

MAX_BATCH_LETTERS = 100


class Redrive(Event):
    """Topic ``redrives``: a batch of dead letters put back, said before and after.

    "begun" names the ``letters``. "ended" names what was ``published``, with the new record's
    place, and what the broker ``refused``, with the error's name; a letter in neither is still to
    be redriven. Both have the same ``batch``; ``run`` is one call of the command.
    """

    id: EventId
    run: EventId
    batch: EventId
    step: Literal["begun", "ended"]
    canary: bool = False
    at: datetime
    by: Text = Field(min_length=1, max_length=200)
    reason: Text = Field(default="", max_length=1_000)
    letters: tuple[EventId, ...] = Field(min_length=1, max_length=MAX_BATCH_LETTERS)
    published: dict[EventId, Coordinates] = Field(
        default_factory=dict, max_length=MAX_BATCH_LETTERS
    )
    refused: dict[EventId, Text] = Field(default_factory=dict, max_length=MAX_BATCH_LETTERS)

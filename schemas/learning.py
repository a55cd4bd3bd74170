"""What happens where a scorer learns from decisions: one event a step."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from .base import Event, EventId, Json, Text

LearningStep = Literal[
    "started", "trained", "judged", "shadowed", "replayed", "asked", "promoted", "ended"
]


class LearningEvent(Event):
    """Topic ``learning``: one step of a run that learns from decisions, in the order of the steps.

    ``supported`` and ``unsupported`` count the labels it learns from and is judged on, ``reviews``
    the records of the topic that were there when it started. ``scorer`` is the candidate's folder.
    ``figures`` are those of the promotion test (see `promotion_bounds.PromotionResult`), or of the
    replay. A run that waits for a person has "asked"; "promoted" and "ended" are the last of a run,
    ``detail`` says why it ended.
    """

    id: EventId
    run: EventId
    step: LearningStep
    at: datetime
    by: Text = Field(min_length=1, max_length=200)
    reviews: int = Field(ge=0)
    supported: int = Field(ge=0)
    unsupported: int = Field(ge=0)
    scorer: Text | None = None
    revision: Text | None = None
    learnt: dict[Text, Text] = Field(default_factory=dict)
    figures: Json = None
    detail: Text = ""

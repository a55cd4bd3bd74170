"""Whether the passage gives a value for another field of the schema.

A reader that is asked for one field prefers what stands there to nothing: "The deposit is £2,500."
is an answer to *Rent*. Asked for every field, it says which of them the words answer best. Both
are asked by their names alone, so that a long description is no advantage.
"""

from collections.abc import Mapping

import numpy as np

from safepassage.schemas import Finding
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.scorer import Pair

from .opinion import LARGEST, Opinion, at_places
from .questions import Part

CLEARLY = 1.5
"""The logit by which another field has to lead: fields that mean nearly the same do not."""
SURE = 2.5
"""The logit from which on no other field is asked: the large reader's are at most 4, so that none
could lead. It spares three questions of four on the tribunal's decisions."""

Readings = Mapping[Task, Reading | PairFailure]


def questions(pair: Pair, part: Part, opinion: Opinion) -> dict[str, Task]:
    """What the reader is asked, by field, the pair's own first; nothing where the value does not
    stand in the quote, where the reader is sure of it, or where its schema has no other field."""
    others = pair.field.others if pair.field else ()
    said = opinion.features.get("value_mean")
    if not others or said is None or said * LARGEST >= SURE or part.question is None:
        return {}
    return {
        name: Task(name, part.question.passage)
        for name in dict.fromkeys((pair.entity_type, *others))
    }


def better_field(asked: Mapping[str, Task], part: Part, readings: Readings) -> Finding | None:
    """The finding that names the field of ``asked`` which the value clearly answers better."""
    own, *others = [(_support(readings[task], part), name) for name, task in asked.items()]
    best, name = max(others)
    if not np.isfinite(own[0]) or best - own[0] < CLEARLY:
        return None
    detail = f"the passage gives it as {name} rather than as {own[1]}"
    return Finding(code="another_field", detail=detail[:500])


def _support(read: Reading | PairFailure, part: Part) -> float:
    """The mean logit of the value's tokens, at the place where it is highest."""
    if isinstance(read, PairFailure):
        return -np.inf
    found = (float(read.answers[inside].mean()) for inside in at_places(part, read))
    return max(found, default=-np.inf)

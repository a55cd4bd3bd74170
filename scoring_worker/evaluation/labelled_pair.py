"""A pair with the answer to it: what is trained on and measured by."""

from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from safepassage.schemas import hypothesis
from safepassage.scoring_worker.scorer import Pair


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A passage, a claim about it and whether it holds (label 1). ``group`` is the document.

    ``kind`` names how the pair came about. It is for counting: no scorer sees it. ``around`` is
    the pair as the pipeline shows it, with what is around the passage, where that is known.
    ``weight`` is how many values of the stream it represents, relative to the others: the inverse
    of the probability that it was drawn to be labelled.
    """

    premise: str
    entity_type: str
    value: JsonValue
    label: Literal[0, 1]
    kind: str
    group: str = field(default="")
    around: Pair | None = field(default=None, repr=False)
    weight: float = 1.0

    @property
    def pair(self) -> Pair:
        """What a scorer is asked."""
        asked = self.around or Pair("", "", "", None)
        if (asked.entity_type, asked.value) == (self.entity_type, self.value):
            return replace(asked, premise=self.premise)
        return replace(
            asked,
            premise=self.premise,
            hypothesis=hypothesis(self.entity_type, self.value),
            entity_type=self.entity_type,
            value=self.value,
        )

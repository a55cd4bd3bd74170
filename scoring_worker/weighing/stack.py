"""Weighs an opinion: logistic regression, one set of coefficients per shape of part.

Read from ``stack`` of scorer.json; nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, ValidationError

from safepassage.schemas.base import Contract, is_empty
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest

from .opinion import SHAPES, Opinion


class ShapeWeights(Contract):
    """Coefficients for one shape; features without one do not count."""

    bias: float
    weights: dict[str, float]

    def log_odds(self, features: Mapping[str, float]) -> float:
        """Log-odds that the passage supports the value."""
        return self.bias + sum(
            self.weights[name] * value for name, value in features.items() if name in self.weights
        )


class Stack(Contract):
    """``stack`` of scorer.json: coefficients for every shape.

    ``with_packs`` holds other coefficients by the packs they were fitted with, their names in
    alphabetical order joined by "+". ``by_type`` is what reviews add to the log-odds of the values
    of an entity type (its name in lower case).
    """

    shapes: dict[str, ShapeWeights] = Field(min_length=1)
    with_packs: dict[str, dict[str, ShapeWeights]] = Field(default_factory=dict)
    by_type: dict[str, float] = Field(default_factory=dict, exclude_if=is_empty)

    @classmethod
    def of(cls, manifest: ScorerManifest, packs: tuple[str, ...] = ()) -> Stack:
        """The stack of ``manifest`` for ``packs``; with none fitted for them, the general one.
        Raises `ModelError` where it is absent or malformed, or a shape has no coefficients."""
        try:
            stack = cls.model_validate(manifest.stack)
        except ValidationError as error:
            raise ModelError(f"{manifest.name}: no usable stack in scorer.json") from error
        missing = sorted(set(SHAPES) - stack.shapes.keys())
        if missing:
            raise ModelError(f"{manifest.name}: no coefficients for {', '.join(missing)}")
        fitted = stack.with_packs.get("+".join(packs), {})
        return Stack(shapes={**stack.shapes, **fitted}, by_type=stack.by_type)

    def log_odds(self, opinion: Opinion, entity_type: str) -> float:
        """Log-odds of support for (a part of) a value of ``entity_type``."""
        of_type = self.by_type.get(entity_type.casefold(), 0.0)
        return self.shapes[opinion.shape].log_odds(opinion.features) + of_type

"""Error types by a small classifier: logistic regression over how words differ.

It learnt from sentences altered by rule and knows the kinds of words that rules exchange. What it
is worth on errors that nobody made by rule, nobody has measured: it is a hint for a reviewer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from safepassage.schemas.base import Contract
from safepassage.schemas.error_type import ERROR_TYPES, ErrorType, ErrorTyping
from safepassage.schemas.ids import stable_id
from safepassage.scoring_worker.manifest import ModelError, read_contract

from .contract import StoppedClaim
from .features import features

WEIGHTS = Path(__file__).with_name("weights.json")
ALSO = 0.25
"""A second type is named from this probability on."""


class TypeWeights(Contract):
    """``bias`` and the weights of every feature, in the order of ``types``."""

    types: tuple[ErrorType, ...]
    bias: tuple[float, ...]
    weights: dict[str, tuple[float, ...]]
    trained_on: tuple[str, ...]
    measured: dict[str, float]


class LocalTyper:
    """Types claims by ``weights``.

    Raises:
        ModelError: the weights are not of all types.
    """

    def __init__(self, weights: TypeWeights, revision: str) -> None:
        sizes = {len(row) for row in (weights.bias, *weights.weights.values())}
        if set(weights.types) != set(ERROR_TYPES) or sizes != {len(weights.types)}:
            raise ModelError("the weights of error types are not one for each type")
        self._weights = weights
        self.revision = revision

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> LocalTyper:
        """The typer of a file, by default the one that ships.

        Raises:
            ModelError: it is missing or malformed.
        """
        weights = read_contract(TypeWeights, path, "file of weights of error types")
        return cls(weights, stable_id("error-types", path.read_bytes().decode())[:16])

    def probabilities(self, stopped: StoppedClaim) -> Mapping[ErrorType, float]:
        """Of every type, together 1."""
        scores = list(self._weights.bias)
        for name in sorted(features(stopped)):
            for at, weight in enumerate(self._weights.weights.get(name, ())):
                scores[at] += weight
        most = max(scores)
        powers = [math.exp(score - most) for score in scores]
        return {
            kind: power / sum(powers)
            for kind, power in zip(self._weights.types, powers, strict=True)
        }

    def type_errors(self, claims: Sequence[StoppedClaim]) -> list[ErrorTyping | None]:
        """The likeliest type of every claim, and a second one that is likely too."""
        return [self._typed(claim) for claim in claims]

    def _typed(self, stopped: StoppedClaim) -> ErrorTyping:
        known = self.probabilities(stopped)
        ranked = sorted(known, key=lambda kind: -known[kind])
        second = [kind for kind in ranked[1:2] if known[kind] >= ALSO]
        return ErrorTyping(
            types=(ranked[0], *second),
            typed_by="local",
            revision=self.revision,
            probability=round(known[ranked[0]], 6),
        )

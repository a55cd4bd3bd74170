"""Scorers: does a passage support a value? No Kafka in here."""

from typing import TYPE_CHECKING, Any

from .manifest import ModelError
from .scorer import Pair, Scorer

if TYPE_CHECKING:
    from .loading import load_scorer

__all__ = ["ModelError", "Pair", "Scorer", "load_scorer"]


def __getattr__(name: str) -> Any:
    """Import `load_scorer` when it is asked for: it brings torch, which takes seconds."""
    if name != "load_scorer":
        raise AttributeError(name)
    from .loading import load_scorer  # noqa: PLC0415 - see above

    return load_scorer

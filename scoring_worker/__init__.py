"""Scorers: does a passage support a value? No Kafka in here."""

from .loading import load_scorer
from .manifest import ModelError
from .scorer import Pair, Scorer

__all__ = ["ModelError", "Pair", "Scorer", "load_scorer"]

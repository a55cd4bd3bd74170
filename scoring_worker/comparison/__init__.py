"""Does the passage hold this value, in any notation and script? By kind of value."""

from .contract import Answer, Comparison, Kind, Passage, Place, Question

__all__ = ["Answer", "Comparison", "Kind", "Passage", "Place", "Question"]

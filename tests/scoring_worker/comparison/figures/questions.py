"""Questions about figures."""

from pydantic import JsonValue

from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Question
from safepassage.scoring_worker.comparison.values import compare_value


def compared(value: JsonValue, passage: Passage, entity_type: str = "") -> Comparison:
    """What is answered for a value of a field that asks for no kind of its own."""
    return compare_value(Question(entity_type, value, passage))

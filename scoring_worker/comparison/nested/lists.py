"""Lists element by element: each has to be held, and one that is not is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from safepassage.scoring_worker.comparison.contract import Comparison, Question

from .enumerations import with_unclaimed
from .objects import Compare
from .parts import MAX_DEPTH, Budget, NestedPart, together, too_deep


def compare_list(
    question: Question, value: Sequence[JsonValue], depth: int, budget: Budget, compare: Compare
) -> Comparison:
    """Every element that is not null, with ``compare``, each as a value of the list's own type."""
    if depth >= MAX_DEPTH:
        return too_deep("list")
    parts: list[NestedPart] = []
    elements: list[JsonValue] = []
    complete = True
    for number, element in enumerate(value, 1):
        if element is None or element == "":
            continue
        if not budget.take():
            complete = False
            break
        asked = replace(question, value=element)
        elements.append(element)
        parts.append(NestedPart(f"element {number}", compare(asked, depth + 1, budget)))
    parts = with_unclaimed(question.passage.quote, parts, elements)
    return together("list", parts, complete=complete)

"""Lists element by element, objects field by field.

The name of a field is a role: the passage need not contain it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from safepassage.scoring_worker.text.closed_classes import lines_of

from ..answers.absence import is_empty
from ..contract import Comparison, Question
from .enumerations import claimed_by_others, with_unclaimed
from .parts import MAX_DEPTH, Budget, NestedPart, together, too_deep
from .records import of_different_records, other_record, swapped

Compare = Callable[[Question, int, Budget], Comparison]

_NAME = ("title", "first", "middle", "last", "suffix")
_DATE = ("year", "month", "day")
_LONGEST_NAME = 100


def compare_object(
    question: Question, value: Mapping[str, JsonValue], depth: int, budget: Budget, compare: Compare
) -> Comparison:
    """Every field that is not empty, with ``compare``; a name, a date or an amount as one value.

    Fields that the quote has in different records ("Pen 2.00, Book 9.00") are not one object.
    """
    filled = {key: part for key, part in value.items() if not is_empty(part)}
    whole = as_one_value(filled)
    if whole is not None:
        return compare(_asked(question, "", whole), depth + 1, budget)
    asked = ((name, _asked(question, name, part)) for name, part in filled.items())
    parts, complete = _parts(asked, depth, budget, compare)
    parts = claimed_by_others(parts)
    compared = together("object", parts, complete=complete)
    if compared.answer == "different":
        return compared
    return of_different_records(question.passage.quote, parts, compared)


def as_one_value(filled: Mapping[str, JsonValue]) -> JsonValue | None:
    """The one value that the fields are parts of: a name in its order, or an amount with its
    unit; a date stays an object. None where the fields are values of their own."""
    roles = {_role(name): part for name, part in filled.items()}
    if not roles or None in roles or len(roles) != len(filled):
        return None
    if roles.keys() <= {*_DATE} and roles.keys() & {"year", "month"}:
        # Fields in any language become those that the date comparator knows.
        return {role: roles[role] for role in _DATE if role in roles}
    if not all(isinstance(part, str | int | float) for part in roles.values()):
        return None
    if roles.keys() == {"amount", "unit"}:
        return f"{roles['amount']} {roles['unit']}"
    if {"first", "last"} <= roles.keys() <= {*_NAME}:
        return " ".join(str(roles[role]) for role in _NAME if role in roles)
    return None


@cache
def _roles() -> Mapping[str, str]:
    rows = [line.split(": ", 1) for line in lines_of(Path(__file__).with_name("fields.txt"))]
    return {name.strip(): role for role, names in rows for name in names.split(";")}


def _role(name: str) -> str | None:
    plain = name[:_LONGEST_NAME].strip().casefold().replace("-", "_").replace(" ", "_")
    return _roles().get(plain)


def _asked(question: Question, name: str, value: JsonValue) -> Question:
    """The question for one field: its name is the last of the type's words."""
    entity_type = f"{question.entity_type} {name[:_LONGEST_NAME]}".strip()
    return replace(question, entity_type=entity_type, value=value)


def compare_list(
    question: Question, value: Sequence[JsonValue], depth: int, budget: Budget, compare: Compare
) -> Comparison:
    """Every element that is not null, with ``compare``, each as a value of the list's own type."""
    if depth >= MAX_DEPTH:
        return too_deep("list")
    filled = [(n, one) for n, one in enumerate(value, 1) if one is not None and one != ""]
    asked = ((f"element {number}", replace(question, value=one)) for number, one in filled)
    parts, complete = _parts(asked, depth, budget, compare)
    elements = [element for _, element in filled]
    parts = with_unclaimed(question.passage.quote, parts, elements)
    objects = [one for one in elements if isinstance(one, Mapping)]
    if len(objects) == len(parts) > 1:
        for at in swapped(question.passage.quote, objects):
            names = ", ".join(objects[at])
            parts[at] = NestedPart(parts[at].name, other_record(parts[at].comparison, names))
    return together("list", parts, complete=complete)


def _parts(
    asked: Iterable[tuple[str, Question]], depth: int, budget: Budget, compare: Compare
) -> tuple[list[NestedPart], bool]:
    parts: list[NestedPart] = []
    for name, question in asked:
        if depth >= MAX_DEPTH or not budget.take():
            return parts, False
        parts.append(NestedPart(name, compare(question, depth + 1, budget)))
    return parts, True

"""Documents whose facts are known, and the labelled pairs made from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Kind = Literal[
    "date", "person", "place", "organisation", "money", "number", "category", "clause", "text"
]
"""What a value is, under any name of its entity type. Corruptions stay within a kind.

A "category" is one of a few options, a "clause" a yes to the question that its type asks.
"""

GENERIC_TYPES: Mapping[Kind, tuple[str, ...]] = {
    "date": ("Date",),
    "person": ("Person", "Name"),
    "place": ("GPE", "Geopolitical Entity", "Location"),
    "organisation": ("Organization", "Organisation"),
    "money": ("Amount", "Money"),
    "number": (),
    "category": (),
    "clause": (),
    "text": (),
}
"""Types that any value of a kind has wherever it is: no label has to say so."""


@dataclass(frozen=True, slots=True)
class KnownField:
    """One fact of a document: ``text[start:end]`` says ``value``.

    ``entity_types`` are the names under which that is right (the first is the usual one), none
    where the sentence does not say what the value is. ``context_start`` to ``context_end`` is the
    least that shows both value and type: a label with its value, or a sentence.
    """

    entity_types: tuple[str, ...]
    kind: Kind
    value: JsonValue
    start: int
    end: int
    context_start: int
    context_end: int

    @property
    def generic_types(self) -> tuple[str, ...]:
        """The kind's own types, which fit without any label."""
        return GENERIC_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Label:
    """``text[start:end]`` announces a value of one of ``entity_types``."""

    start: int
    end: int
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A text with what is known of it. ``plain`` are spans that state no value at all.

    ``empty`` are labels whose value is absent (N/A, Nil, redacted): (start, end of the label
    with that mark, entity types).
    """

    id: str
    text: str
    fields: tuple[KnownField, ...]
    labels: tuple[Label, ...] = ()
    plain: tuple[tuple[int, int], ...] = ()
    empty: tuple[Label, ...] = ()

"""Labelled extractions from documents whose entities are annotated (contracts, judgments).

An annotated entity is a supported extraction: its type, its value, and the line it is in as
the quoted context. From each, up to three unsupported ones are made with a fixed seed:

- ``type_swap``: the same value and context under a type that no annotation gives that place,
  a yes/no question for another one;
- ``value_swap``: another value of the same document, of the same type where there is one, else
  one that looks alike (with digits or without);
- ``other_passage``: the context of another entity, in which the value is not.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from safepassage.schemas import entity_type_name

from .rows import AnnotatedEntity, EntityRow, ExtractionRow

CONTEXT_CHARACTERS = 160
"""How far a context reaches beyond the entity where its line is longer."""

BROAD_TYPES = frozenset({"Org", "Organization", "Organisation", "Person", "Other Person", "Gpe"})
"""Types that take in others: a petitioner is a person too, so no swap into these is wrong."""

_ANSWERS = frozenset({"yes", "no"})


@dataclass(frozen=True, slots=True)
class _Fact:
    """One annotated entity, as the extraction it would be."""

    entity: AnnotatedEntity
    entity_type: str
    value: str
    context: str


def types_of(documents: Sequence[EntityRow]) -> dict[str, bool]:
    """The entity types of all documents, each with whether its values are yes or no."""
    values: dict[str, bool] = {}
    for document in documents:
        for entity in document.entities:
            name = type_name(entity.type)
            values[name] = values.get(name, False) or _is_answer(entity.value)
    return dict(sorted(values.items()))


def labelled_extractions(
    document: EntityRow, text: str, types: Mapping[str, bool], *, seed: int = 0
) -> Iterator[ExtractionRow]:
    """The extractions of one document; equal seeds give equal rows.

    Args:
        text: the document's text.
        types: the entity types of the whole data set (see `types_of`).
    """
    chooser = random.Random(f"{seed} {document.id}")
    facts = [fact for entity in document.entities if (fact := _fact(text, entity))]
    for number, fact in enumerate(facts):
        swapped_type = _other_type(fact, facts, types, chooser)
        swapped_value = _other_value(fact, facts, chooser)
        elsewhere = _other_context(fact, facts, chooser)
        made = {
            "annotated": (fact.entity_type, fact.value, fact.context),
            "type_swap": swapped_type and (swapped_type, fact.value, fact.context),
            "value_swap": swapped_value and (fact.entity_type, swapped_value, fact.context),
            "other_passage": elsewhere and (fact.entity_type, fact.value, elsewhere),
        }
        for kind, parts in made.items():
            if parts:
                yield _row(document.id, number, kind, parts)


def type_name(annotated: str) -> str:
    """OTHER_PERSON reads "Other Person"."""
    return entity_type_name(annotated.lower() if annotated.isupper() else annotated)


def _row(doc_id: str, number: int, kind: str, parts: tuple[str, str, str]) -> ExtractionRow:
    entity_type, value, context = parts
    return ExtractionRow.model_validate(
        {
            "id": f"{doc_id}#{number}-{kind}",
            "doc_id": doc_id,
            "entity_type": entity_type,
            "value": value,
            "context": context,
            "label": int(kind == "annotated"),
            "kind": kind,
        }
    )


def _fact(text: str, entity: AnnotatedEntity) -> _Fact | None:
    if not 0 <= entity.start < entity.end <= len(text):
        return None
    shown = " ".join(text[entity.start : entity.end].split())
    if not shown:
        return None
    given = " ".join(entity.value.split()) if isinstance(entity.value, str) else ""
    # Some annotations give each span the list of all values; then the span itself is the value.
    value = shown if not given or len(given) > 3 * len(shown) else given
    context = text[slice(*line_around(text, entity.start, entity.end))].strip()
    return _Fact(entity, type_name(entity.type), value, context)


def line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The line of ``text[start:end]``, cut between tokens `CONTEXT_CHARACTERS` beyond it."""
    left = max(text.rfind("\n", 0, start) + 1, start - CONTEXT_CHARACTERS)
    newline = text.find("\n", end)
    right = min(len(text) if newline < 0 else newline, end + CONTEXT_CHARACTERS)
    while 0 < left < start and not text[left - 1].isspace():
        left += 1
    while end < right < len(text) and not text[right].isspace():
        right -= 1
    return left, right


def _other_type(
    fact: _Fact, facts: Sequence[_Fact], types: Mapping[str, bool], chooser: random.Random
) -> str | None:
    """A type that nothing annotated with that value, or in that context, has."""
    answer = _is_answer(fact.value)
    here = {
        other.entity_type
        for other in facts
        if _overlap(fact.entity, other.entity)
        or _mentions(fact.context, other.value)
        or (other.value == fact.value and not answer)
    }
    asked_alike = {name for name, is_answer in types.items() if is_answer == answer}
    foreign = sorted(asked_alike - here - BROAD_TYPES)
    return chooser.choice(foreign) if foreign else None


def _other_value(fact: _Fact, facts: Sequence[_Fact], chooser: random.Random) -> str | None:
    """A value of the document that the context does not show; none for the answer to a question."""
    if _is_answer(fact.value):
        return None
    absent = [
        other
        for other in facts
        if not _mentions(fact.context, other.value)
        and not _mentions(other.value, fact.value)
        and not _is_answer(other.value)
        and not _overlap(fact.entity, other.entity)
    ]
    alike = [other for other in absent if other.entity_type == fact.entity_type]
    similar = [other for other in absent if _has_digits(other.value) == _has_digits(fact.value)]
    pool = sorted({other.value for other in alike or similar})
    return chooser.choice(pool) if pool else None


def _other_context(fact: _Fact, facts: Sequence[_Fact], chooser: random.Random) -> str | None:
    """The context of a fact of another type, without this fact's value."""
    pool = sorted(
        {
            other.context
            for other in facts
            if other.entity_type != fact.entity_type
            and not _mentions(other.context, fact.value)
            and not _overlap(fact.entity, other.entity)
        }
    )
    return chooser.choice(pool) if pool else None


def _is_answer(value: object) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _ANSWERS


def _has_digits(value: str) -> bool:
    return any(character.isdigit() for character in value)


def _overlap(one: AnnotatedEntity, other: AnnotatedEntity) -> bool:
    return one.start < other.end and other.start < one.end


def _mentions(text: str, value: str) -> bool:
    return " ".join(value.casefold().split()) in " ".join(text.casefold().split())

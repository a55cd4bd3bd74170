"""Rivals: what else one document gave for a field that has room for one value.

The extractor, or ``check``, knows the whole set and copies the others onto each extraction, so that
later steps and replays need nothing but the event.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from pydantic import JsonValue

from .extraction import MAX_RIVAL_CONTEXT, MAX_RIVALS, Extraction, Rival
from .hypothesis import render_value

_CANDIDATES = 64
"""Looked at for each extraction: a field that got hundreds of values stays cheap."""


def with_rivals(extractions: Sequence[Extraction]) -> list[Extraction]:
    """``extractions``, each with its rivals: others of its document, entity type and field whose
    value reads otherwise, where the field is declared single.

    At most `MAX_RIVALS`, the first of each value before its repetitions, in the order given.
    """
    fields: dict[tuple[str, str, str | None], list[Extraction]] = defaultdict(list)
    for extraction in extractions:
        if extraction.field and extraction.field.single:
            fields[_field(extraction)].append(extraction)
    contested = {field: _candidates(found) for field, found in fields.items()}
    return [
        _with(extraction, contested.get(_field(extraction), []))
        if extraction.field and extraction.field.single
        else extraction
        for extraction in extractions
    ]


def reads_alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same but for letter case, blanks and forms of characters."""
    return _reading(one) == _reading(other)


def _field(extraction: Extraction) -> tuple[str, str, str | None]:
    name = extraction.field.name if extraction.field else None
    return extraction.doc_id, extraction.entity_type, name


def _candidates(found: Sequence[Extraction]) -> list[tuple[str, Extraction]]:
    """The first of each value, then the others; none where all values are one."""
    seen: set[str] = set()
    first: list[tuple[str, Extraction]] = []
    repeated: list[tuple[str, Extraction]] = []
    for extraction in found:
        reading = _reading(extraction.value)
        (repeated if reading in seen else first).append((reading, extraction))
        seen.add(reading)
    return (first + repeated)[:_CANDIDATES] if len(first) > 1 else []


def _with(extraction: Extraction, candidates: Sequence[tuple[str, Extraction]]) -> Extraction:
    own = _reading(extraction.value)
    rivals = [
        Rival(id=other.id, value=other.value, context=other.context)
        for reading, other in candidates
        if reading != own and len(other.context) <= MAX_RIVAL_CONTEXT
    ]
    made = {"rivals": tuple(rivals[:MAX_RIVALS])}
    return extraction.model_copy(update=made) if rivals else extraction


def _reading(value: JsonValue) -> str:
    return " ".join(unicodedata.normalize("NFKC", render_value(value)).casefold().split())

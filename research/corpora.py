"""Documents with annotated entities as documents of known facts, and which corpora may train."""

from collections.abc import Iterable, Iterator

from research.known_documents import Kind, KnownDocument, KnownField
from safepassage.scoring_worker.evaluation.entities import (
    CONTEXT_CHARACTERS,
    line_around,
    type_name,
)
from safepassage.scoring_worker.training.corpora import Row

PERMISSIVE_NLI = frozenset(
    {"SNLI", "MultiNLI", "InfoTabS", "HANS", "SciTail", "RTE-GLUE", "RTE1-3"}
)
"""Sources of an NLI file whose licences allow the weights trained on them to be shipped."""

ENTITY_TYPES = {"ORG": "Organization", "PER": "Person", "LOC": "GPE", "TIME": "Date", "GPE": "GPE"}
_KIND_WORDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("date", ("date", "time")),
    ("person", ("judge", "lawyer", "counsel", "person", "witness", "per", "signatory")),
    ("place", ("gpe", "loc", "location", "place", "country", "city", "governing law")),
    ("organisation", ("org", "court", "company", "organization", "organisation", "tribunal")),
    ("money", ("amount", "fee", "rent", "price")),
    ("number", ("num", "notice period", "renewal term", "duration")),
)


def known_documents(rows: Iterable[Row]) -> Iterator[KnownDocument]:
    """Documents with ``entities`` [{type, start, end, text, value?}] as documents of known fields.

    A field's context is its line, or what is within 160 characters where lines are long.
    """
    for row in rows:
        text = row["text"]
        fields = (_field(text, entity) for entity in row.get("entities", ()))
        yield KnownDocument(id=row["id"], text=text, fields=tuple(filter(None, fields)))


def _field(text: str, entity: Row) -> KnownField | None:
    start, end = entity["start"], entity["end"]
    name = ENTITY_TYPES.get(entity["type"]) or type_name(entity["type"])
    words = " ".join(text[start:end].split())
    value = entity.get("value") or words
    if isinstance(value, str) and len(value) > 3 * len(words):
        value = words  # a list of all parties, of which this span is one
    if not value or end <= start:
        return None
    context = (start, end) if end - start > CONTEXT_CHARACTERS else line_around(text, start, end)
    kind: Kind = "clause" if value == "Yes" else kind_of_type(name)
    return KnownField((name,), kind, value, start, end, *context)


def kind_of_type(entity_type: str) -> Kind:
    words = entity_type.casefold()
    return next((kind for kind, cues in _KIND_WORDS if any(cue in words for cue in cues)), "text")

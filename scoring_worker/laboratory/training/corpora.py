"""Reads the files that training rests on into `LabelledPair`s. ``.gz`` is read everywhere."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from safepassage.schemas import CLAIM_TYPE
from safepassage.schemas.jsonl import BadLine, read_objects
from safepassage.scoring_worker.laboratory.evaluation.entities import (
    CONTEXT_CHARACTERS,
    line_around,
    type_name,
)
from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.laboratory.evaluation.splits import held_out
from safepassage.scoring_worker.laboratory.training.corruption.corruptors import labelled_pairs
from safepassage.scoring_worker.laboratory.training.corruption.known_documents import (
    Kind,
    KnownDocument,
    KnownField,
)

Row = Mapping[str, Any]

PERMISSIVE_NLI = frozenset(
    {"SNLI", "MultiNLI", "InfoTabS", "HANS", "SciTail", "RTE-GLUE", "RTE1-3"}
)
"""Sources of an NLI file whose licences allow the weights trained on them to be shipped."""

_TYPE_NAMES = {"ORG": "Organization", "PER": "Person", "LOC": "GPE", "TIME": "Date", "GPE": "GPE"}
_KIND_WORDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("date", ("date", "time")),
    ("person", ("judge", "lawyer", "counsel", "person", "witness", "per", "signatory")),
    ("place", ("gpe", "loc", "location", "place", "country", "city", "governing law")),
    ("organisation", ("org", "court", "company", "organization", "organisation", "tribunal")),
    ("money", ("amount", "fee", "rent", "price")),
    ("number", ("num", "notice period", "renewal term", "duration")),
)


class CorpusError(ValueError):
    """A file of labels or documents that cannot be read; the message names file and line."""


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSONL or JSONL.gz file.

    Raises:
        CorpusError: the file is missing, or a line is not a JSON object.
    """
    try:
        for row in read_objects(path):
            if isinstance(row, BadLine):
                raise CorpusError(str(row))
            yield row
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from error


def known_documents(rows: Iterable[Row]) -> Iterator[KnownDocument]:
    """Documents with ``entities`` [{type, start, end, text, value?}] as documents of known fields.

    A field's context is its line, or what stands within 160 characters where lines are long.
    """
    for row in rows:
        text = row["text"]
        fields = (_field(text, entity) for entity in row.get("entities", ()))
        yield KnownDocument(id=row["id"], text=text, fields=tuple(filter(None, fields)))


def _field(text: str, entity: Row) -> KnownField | None:
    start, end = entity["start"], entity["end"]
    name = _TYPE_NAMES.get(entity["type"]) or type_name(entity["type"])
    words = " ".join(text[start:end].split())
    value = entity.get("value") or words
    if isinstance(value, str) and len(value) > 3 * len(words):
        value = words  # a list of all parties, of which this span is one
    if not value or end <= start:
        return None
    context = (start, end) if end - start > CONTEXT_CHARACTERS else line_around(text, start, end)
    kind: Kind = "clause" if value == "Yes" else _kind(name)
    return KnownField((name,), kind, value, start, end, *context)


def _kind(entity_type: str) -> Kind:
    words = entity_type.casefold()
    return next((kind for kind, cues in _KIND_WORDS if any(cue in words for cue in cues)), "text")


def redocred_documents(rows: Iterable[Row]) -> Iterator[KnownDocument]:
    """Re-DocRED: every first mention of a person, body, place or time in its sentence."""
    for row in rows:
        text, sentences, fields = row["text"], row["sent_offsets"], []
        for entity in row["entities"]:
            name = _TYPE_NAMES.get(entity["type"])
            mention = entity["mentions"][0]
            if name is None:
                continue
            start, end = mention["start"], mention["end"]
            context = sentences[mention["sent"]]
            fields.append(
                KnownField(
                    (name,), _kind(name), text[start:end], start, end, context[0], context[1]
                )
            )
        yield KnownDocument(id=row["id"], text=text, fields=tuple(fields))


HELD_OUT = 0.25
"""Share of the documents of each corpus that nothing is trained on, so that it can measure."""


def held_documents(data: Path, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Pairs of the documents of CUAD and InLegalNER that nothing is trained on.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    documents = {
        "cuad": known_documents(read_rows(data / "legal/cuad.jsonl.gz")),
        "inlegal_ner": known_documents(read_rows(data / "legal/inlegal_ner.jsonl.gz")),
    }
    return {
        name: list(labelled_pairs((d for d in own if held_out(d.id, HELD_OUT)), seed))
        for name, own in documents.items()
    }


ANSWER_LICENCES = {"expertqa": "MIT", "wice_claim": "ODC-BY, text CC BY-SA"}
"""The sets of judged answers that may teach what ships; the others measure."""
MEASURED_ANSWERS = 0.4
"""Share of the questions of each of these sets that teaches nothing, so that it can measure."""


def answer_rows(data: Path, name: str, *, taught: bool = False) -> list[Row]:
    """The rows of a groundedness file that measure, or those that teach.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    rows = list(read_rows(data / f"groundedness/{name}.jsonl.gz"))
    if name not in ANSWER_LICENCES:
        return [] if taught else rows
    return [row for row in rows if _measures(row) is not taught]


def _measures(row: Row) -> bool:
    """By its question, so that claims of one answer are on one side."""
    return held_out(str(row.get("query") or row["id"]), MEASURED_ANSWERS)


def nli_pairs(rows: Iterable[Row], sources: frozenset[str] | None = None) -> Iterator[LabelledPair]:
    """Rows of ``premise``, ``hypothesis`` and ``label`` as claims; a binary label is enough.

    ``label`` is "entailment", or 1, for supported; whatever else is not. ``sources`` filters.
    """
    for number, row in enumerate(rows):
        if sources is not None and row.get("source") not in sources:
            continue
        supported = row["label"] in ("entailment", 1)
        group = str(row.get("id") or row.get("source") or number)
        yield LabelledPair(
            row["premise"], CLAIM_TYPE, row["hypothesis"], 1 if supported else 0, "nli", group
        )

"""Where the corpus lies, and its rows.

The recorded extractor is right in about three of four cases. Labels, kinds and reasons are for
tests and for ``safepassage evaluate``; nothing that judges may see them. Of the last seven
documents no text was changed after the scorer had first judged it: what it gets wrong there
stays, and the demo counts it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from safepassage.schemas import (
    BadLine,
    Contract,
    Document,
    LabelledExtraction,
    Response,
    read_jsonl,
)

_FOLDER = Path(__file__).parent
DOCUMENTS = _FOLDER / "documents.jsonl"
EXTRACTIONS = _FOLDER / "extractions.jsonl"
SCHEMA = _FOLDER / "schema.json"
"""What the extract role asks for: every entity type, with what is said of its field."""
RESPONSES = _FOLDER / "responses.jsonl"
RESPONSE_LABELS = _FOLDER / "response_labels.jsonl"

Row = TypeVar("Row", bound=Contract)


class SentenceLabel(Contract):
    """Gold label of one sentence of a response: 1 supported by its context, 0 not.

    ``id`` is the response's; ``ordinal`` counts its sentences from 0.
    """

    id: str
    ordinal: int = Field(ge=0)
    sentence: str
    label: Literal[0, 1]
    why: str


def documents() -> tuple[Document, ...]:
    """The documents: decisions, invoices, leases, letters, a CV, a job advertisement and more."""
    return tuple(rows(DOCUMENTS, Document))


def extractions() -> tuple[LabelledExtraction, ...]:
    """What the recorded extractor found in them, with gold labels."""
    return tuple(rows(EXTRACTIONS, LabelledExtraction))


def responses() -> tuple[Response, ...]:
    """Answers to questions about the documents, with the passages they were given."""
    return tuple(rows(RESPONSES, Response))


def response_labels() -> tuple[SentenceLabel, ...]:
    """Gold labels of the sentences of `responses`, in their order."""
    return tuple(rows(RESPONSE_LABELS, SentenceLabel))


def rows(path: Path, model: type[Row]) -> Iterator[Row]:
    """The rows of a file. Raises `ValueError` where a line is no row; the message names file and
    line."""
    for row in read_jsonl(path, model):
        if isinstance(row, BadLine):
            raise ValueError(str(row))  # noqa: TRY004 - a line of the file
        yield row

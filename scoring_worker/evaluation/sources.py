"""Where labels and texts come from: files, the aligner, the splitter of answers."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Document,
    Extraction,
    Response,
    Verdict,
    undetermined,
)
from safepassage.schemas.extraction import among_one_another
from safepassage.schemas.jsonl import BadLine, read_jsonl, read_objects

from .cases import DatasetKind
from .rows import KNOWN_KINDS, DocumentRow, ExtractionRow, kind_of

Align = Callable[[Document, Sequence[Extraction]], Sequence[AlignedExtraction | Verdict]]
"""Aligns the extractions of one document, in order; a verdict where alignment alone decides."""

Ground = Callable[[Response, bool], Sequence[AlignedExtraction | Verdict]]
"""Finds the passage of each claim of an answer; the flag says that it is one claim as it is."""

Describe = Callable[[Extraction], Extraction]
"""The extraction with what its schema says of the field that it fills."""

OnProgress = Callable[[str, int, int], None]
"""Called with what is done, how many of it, and of how many."""

AnyRow = TypeVar("AnyRow", bound=BaseModel)


class DatasetError(ValueError):
    """A file that cannot be evaluated; the message says why and what is missing."""


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Shows no progress."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What turns rows into cases: texts by document id, the aligner, the splitter of answers, and
    what a schema says of the field that an extraction fills.

    ``seed`` draws the negatives of data sets that have none of their own.
    """

    documents: Mapping[str, Document]
    align: Align
    ground: Ground
    describe: Describe = lambda extraction: extraction
    seed: int = 0
    on_progress: OnProgress = _silent

    def results(
        self, document: Document, rows: Sequence[ExtractionRow]
    ) -> list[AlignedExtraction | Verdict]:
        """What the stream hands to its scorer of each row, in order.

        The passage of a claim comes with its row: it was retrieved and is no quote.
        """
        quoted = among_one_another(
            [self.describe(row.extraction) for row in rows if row.retrieved is None]
        )
        aligned = iter(self.align(document, quoted) if quoted else ())
        return [
            next(aligned) if row.retrieved is None else _retrieved(row, row.retrieved, document)
            for row in rows
        ]


def _retrieved(
    row: ExtractionRow, alignment: Alignment, document: Document
) -> AlignedExtraction | Verdict:
    ref = document.ref()
    spans = [span for around in alignment.surroundings or () for span in around.slices if span]
    for span in (*alignment.spans, *alignment.passages, *spans):
        if document.text[span.start : span.end] != span.text:
            return undetermined(row.extraction, "document_mismatch", ref)
    return AlignedExtraction(extraction=row.extraction, document=ref, alignment=alignment)


def read_documents(paths: Iterable[Path]) -> dict[str, Document]:
    """The documents of all files, by id. Raises `OSError` where a file cannot be opened;
    `DatasetError` where one id names two texts, or a row is no document."""
    documents: dict[str, Document] = {}
    for path in paths:
        for row in read_jsonl(path, DocumentRow):
            if isinstance(row, BadLine):
                raise DatasetError(f"not a document: {row}")
            document = documents.setdefault(row.id, row.document)
            if document.text != row.text:
                raise DatasetError(f"document id {row.id!r} names two texts")
    return documents


def kind_of_file(path: Path) -> DatasetKind:
    """The kind of data set of the first row that has one. Raises `OSError` where the file cannot be
    opened; `DatasetError` where there is no such row."""
    first: str | None = None
    for row in read_objects(path):
        fields = {} if isinstance(row, BadLine) else row
        if kind := kind_of(fields):
            return kind
        if first is None:
            first = str(row) if isinstance(row, BadLine) else f"fields {sorted(fields)[:10]}"
    if first is None:
        raise DatasetError(f"{path}: no rows")
    raise DatasetError(f"{path}: not {KNOWN_KINDS}; first row: {first}")


@dataclass(slots=True)
class DatasetFile:
    """One file being read; with a ``limit``, its documents are drawn in a seeded order."""

    path: Path
    sources: Sources
    limit: int | None = None
    refused: list[str] = field(default_factory=list)
    unlabelled: int = 0

    def rows(self, model: type[AnyRow]) -> Iterator[AnyRow]:
        """The rows that are of the model, with a label where the model has one."""
        for row in read_jsonl(self.path, model):
            if isinstance(row, BadLine):
                self.refused.append(str(row))
            elif getattr(row, "supported", True) is None:
                self.unlabelled += 1
            else:
                yield row

    def by_document(
        self, rows: Iterable[AnyRow], document_of: Callable[[AnyRow], str]
    ) -> list[list[AnyRow]]:
        """The rows of each document together."""
        members: dict[str, list[AnyRow]] = defaultdict(list)
        for row in rows:
            members[document_of(row)].append(row)
        documents = list(members.values())
        if self.limit is not None:
            random.Random(self.sources.seed).shuffle(documents)
        return documents

    def text_of(self, doc_id: str) -> Document | None:
        """The document among those given; refuses the row where it is not."""
        document = self.sources.documents.get(doc_id)
        if document is None:
            self.refused.append(f"{self.path}: document {doc_id!r} is not in --documents")
        return document

"""Which recorded extractions a text is answered with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from safepassage.agents.extraction.answers import Finding
from safepassage.schemas import (
    BadLine,
    Contract,
    Document,
    Extraction,
    LabelledExtraction,
    canonical_json,
    read_jsonl,
    text_digest,
)

Row = TypeVar("Row", bound=Contract)


class RecordingError(ValueError):
    """A file of the recording cannot be used. The message is one line with file and line."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding and where its context starts in the text; None where it is not there."""

    finding: Finding
    start: int | None


class Recording:
    """Extractions by the text they were made from.

    Only type, value and context are kept: no label and no id leaves a recording. Documents with
    the same text share their answers, as they would with an LLM. Of several versions of a
    document each is answered with the extractions whose context it holds, and with those whose
    context none of them holds. ``unmatched`` counts the extractions whose document was not
    given: a recording may be of some of the documents.
    """

    def __init__(self, documents: Iterable[Document], extractions: Iterable[Extraction]) -> None:
        by_document: dict[str, list[Extraction]] = defaultdict(list)
        for extraction in extractions:
            by_document[extraction.doc_id].append(extraction)
        versions: dict[str, dict[str, str]] = defaultdict(dict)
        self._texts: dict[str, str] = {}
        for document in documents:
            digest = text_digest(document.text)
            self._texts[digest] = versions[document.id][digest] = document.text
        rows_by_digest: dict[str, list[Extraction]] = defaultdict(list)
        for document_id, texts in versions.items():
            for row in by_document.pop(document_id, []):
                for digest in _holders(row.context, texts):
                    rows_by_digest[digest].append(row)
        self.unmatched = sum(map(len, by_document.values()))
        self._answers = {
            digest: _placed(text, rows_by_digest[digest]) for digest, text in self._texts.items()
        }

    @classmethod
    def read(cls, documents: Path, extractions: Path) -> Recording:
        """A recording from two JSONL(.gz) files.

        Raises:
            RecordingError: a line is no row.
            OSError: a file cannot be opened.
        """
        return cls(rows(documents, Document), rows(extractions, LabelledExtraction))

    def __len__(self) -> int:
        return len(self._texts)

    def find(self, text: str) -> list[Finding] | None:
        """What was extracted from ``text``, a document or a part of one; None if it is neither. A
        part has the findings whose context starts inside it, the first also those that are
        nowhere."""
        placed = self._answers.get(text_digest(text))
        if placed is not None:
            return [row.finding for row in placed]
        if not text:
            return None
        for digest, whole in self._texts.items():
            if text in whole:
                return _in_part(self._answers[digest], whole, text)
        return None

    def find_in(self, message: str) -> list[Finding] | None:
        """What was extracted from the longest document that ``message`` quotes in full."""
        quoted = [digest for digest, text in self._texts.items() if text and text in message]
        if not quoted:
            return None
        longest = max(quoted, key=lambda digest: len(self._texts[digest]))
        return [row.finding for row in self._answers[longest]]


def rows(path: Path, model: type[Row]) -> Iterator[Row]:
    """The rows of a file of the recording.

    Raises:
        RecordingError: a line is no row.
        OSError: the file cannot be opened.
    """
    for row in read_jsonl(path, model):
        if isinstance(row, BadLine):
            raise RecordingError(str(row))
        yield row


def _holders(context: str, texts: Mapping[str, str]) -> Collection[str]:
    """The versions, by digest, that hold ``context``; all of them where none does."""
    if len(texts) == 1:
        return texts
    return [d for d, text in texts.items() if _start(text, context) is not None] or texts


def _placed(text: str, rows: list[Extraction]) -> list[_Placed]:
    distinct = {(row.entity_type, canonical_json(row.value), row.context): row for row in rows}
    return [
        _Placed(Finding(row.entity_type, row.value, row.context), _start(text, row.context))
        for row in distinct.values()
    ]


def _start(text: str, context: str) -> int | None:
    """Where ``context`` starts in ``text``, blanks and line breaks being alike."""
    words = context.split()
    match = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return match.start() if match else None


def _in_part(placed: list[_Placed], whole: str, part: str) -> list[Finding]:
    starts = [match.start() for match in re.finditer(f"(?={re.escape(part)})", whole)]

    def is_inside(row: _Placed) -> bool:
        if row.start is None:
            return 0 in starts
        return any(start <= row.start < start + len(part) for start in starts)

    return [row.finding for row in placed if is_inside(row)]

"""Align and score without Kafka: the same agents, the same rule, the same verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from safepassage.agents.aligner import Aligner
from safepassage.agents.intake import Kind, beginning, kind_of
from safepassage.files import Rejected
from safepassage.pipeline import align_all, ground, judge_in_batches
from safepassage.schemas import Document, Extraction, LabelledExtraction, Response, Verdict
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker import Scorer
from safepassage.scoring_worker.error_types.verdict_errors import TypeVerdicts
from safepassage.streams.settings import Settings

from .documents import read_documents

R = TypeVar("R", bound=BaseModel)


@dataclass(slots=True)
class CheckInput:
    """Extractions and answers in file order, the documents that the extractions name, and in
    ``refused`` a line for each row that is none of these."""

    extractions: list[Extraction] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    responses: list[Response] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read_input(
    documents: Sequence[Path],
    extractions: Sequence[Path],
    responses: Sequence[Path] = (),
    settings: Settings | None = None,
) -> CheckInput:
    """Read the extractions, the documents that they name, and the answers. Documents are rows, or
    folders and files of the kinds that ``submit`` reads, within the limits of ``settings``.

    Raises:
        OSError: a file cannot be opened.
        ValueError: one id stands for two documents.
    """
    result = CheckInput()
    seen: set[str] = set()
    for row in _rows(extractions, LabelledExtraction, result):
        if row.id in seen:
            result.refused.append(f"extraction {row.id!r}: the id was used before")
            continue
        seen.add(row.id)
        result.extractions.append(
            Extraction(**row.model_dump(exclude={"label", "kind", "why", "retrieved"}))
        )
    result.responses += _rows(responses, Response, result)
    wanted = {extraction.doc_id for extraction in result.extractions}
    settings = settings or Settings()
    most = settings.max_file_bytes
    files = [path for path in documents if path.is_dir() or _is_a_document(path, most)]
    rows = [path for path in documents if path not in files]
    for document in (*_rows(rows, Document, result), *_read(files, settings, result)):
        if document.id not in wanted:
            continue
        known = result.documents.setdefault(document.id, document)
        if known.text != document.text:
            raise ValueError(f"document id {document.id!r} stands for two texts; give each its own")
    return result


def check(
    given: CheckInput,
    aligner: Aligner,
    scorer: Scorer,
    type_errors: TypeVerdicts | None = None,
) -> list[Verdict]:
    """One verdict per extraction, then one per sentence of each answer, in order."""
    results = align_all(given.extractions, given.documents, aligner)
    for response in given.responses:
        results += ground(response)
    return list(judge_in_batches(results, scorer.assess, type_errors))


def _is_a_document(path: Path, most: int) -> bool:
    """Whether a file is one document and not rows of them. At most ``most`` bytes are read."""
    return kind_of(path.name, beginning(path, most)) not in (Kind.TEXT, Kind.UNKNOWN)


def _read(paths: Sequence[Path], settings: Settings, result: CheckInput) -> Iterator[Document]:
    for found in read_documents(paths, settings) if paths else ():
        if isinstance(found, Rejected):
            result.refused.append(str(found))
        elif isinstance(found, Document):
            yield found


def _rows(paths: Iterable[Path], model: type[R], result: CheckInput) -> Iterator[R]:
    for path in paths:
        for row in read_jsonl(path, model):
            if isinstance(row, BadLine):
                result.refused.append(str(row))
            else:
                yield row

"""Align and score without Kafka: the same agents, the same rule, the same verdicts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from safepassage.agents.aligner import Aligner
from safepassage.agents.extraction.known_fields import KnownFields
from safepassage.agents.extraction.schema_loading import SchemaError
from safepassage.agents.intake.file_kinds import Kind, beginning, kind_of
from safepassage.files import Rejected, path_id
from safepassage.pipeline import align_all, ground, judge_in_batches
from safepassage.schemas import Document, Extraction, LabelledExtraction, Response, Verdict
from safepassage.schemas.base import VOCABULARY
from safepassage.schemas.extraction import among_one_another
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker import Scorer

from ..settings import Settings
from .documents import files_of, has_row_name, read_documents
from .wanted_documents import UnknownDocuments, WantedDocuments

R = TypeVar("R", bound=BaseModel)


class _Row(LabelledExtraction):
    """An extraction with columns of the user's own."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _spelt(cls, row: Any) -> Any:
        given = set(row) if isinstance(row, dict) else set()
        known = {*LabelledExtraction.model_fields, *VOCABULARY, "description"}
        for name in sorted(given - known):
            if meant := get_close_matches(name, known - given, 1, 0.8):
                raise ValueError(f"{name[:60]!r} is unknown; is {meant[0]!r} meant?")
        return row


@dataclass(slots=True)
class CheckInput:
    """Extractions and answers in file order, the documents that the extractions name, and in
    ``refused`` a line for each other row. ``columns`` are the user's, by the extraction's id."""

    extractions: list[Extraction] = field(default_factory=list)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    responses: list[Response] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read_input(
    documents: Sequence[Path],
    extractions: Sequence[Path],
    responses: Sequence[Path] = (),
    settings: Settings | None = None,
    fields: KnownFields | None = None,
) -> CheckInput:
    """Read the extractions, the documents that they name, and the answers. Documents are rows, or
    folders and files as ``submit`` reads them, within the limits of ``settings``. ``fields`` are
    those of the extractions' schema. Raises `ValueError` where one id names two documents."""
    result = CheckInput()
    seen: set[str] = set()
    for row in _rows(extractions, _Row, result):
        if row.id in seen:
            result.refused.append(f"extraction {row.id!r}: the id was used before")
            continue
        seen.add(row.id)
        result.extractions.append(
            Extraction(**row.model_dump(include=set(Extraction.model_fields)))
        )
        if row.model_extra:
            result.columns[row.id] = row.model_extra
    if fields:
        if missing := fields.missing(result.extractions):
            raise SchemaError(missing)
        result.extractions = [fields.filled(one) for one in result.extractions]
    result.responses += _rows(responses, Response, result)
    settings = settings or Settings()
    _read_documents(documents, settings, result)
    result.extractions = among_one_another(result.extractions)
    return result


def check(given: CheckInput, aligner: Aligner, scorer: Scorer) -> list[Verdict]:
    """One verdict per extraction, then one per sentence of each answer, in order."""
    results = align_all(given.extractions, given.documents, aligner)
    for response in given.responses:
        results += ground(response)
    return list(judge_in_batches(results, scorer.assess))


def _read_documents(paths: Sequence[Path], settings: Settings, result: CheckInput) -> None:
    """Read what the extractions name, and give each of them its document's id."""
    if not result.extractions:
        return
    wanted = WantedDocuments(extraction.doc_id for extraction in result.extractions)
    most = settings.max_file_bytes
    folders = [path for path in paths if path.is_dir() or not _has_rows(path, most)]
    rows = [path for path in paths if path not in folders]
    found = _by_id(_rows(rows, Document, result))
    files = [path for folder in folders for path in files_of(folder)]
    if not wanted.resolved(found)[0] and not any(
        has_row_name(path) or wanted.may_be_read_from(path, most) for path in files
    ):
        raise UnknownDocuments(wanted.names, [*found, *map(path_id, files)], result.refused)
    found |= _by_id(
        _read(folders, settings, result, lambda path: wanted.may_be_in(path, most)), found
    )
    ids, problems = wanted.resolved(found)
    if not ids:
        raise UnknownDocuments(wanted.names, [*found, *map(path_id, files)], result.refused)
    result.refused += problems
    result.documents = {doc_id: found[doc_id] for doc_id in ids.values()}
    result.extractions = [
        extraction.model_copy(update={"doc_id": ids.get(extraction.doc_id, extraction.doc_id)})
        for extraction in result.extractions
    ]


def _by_id(
    documents: Iterable[Document], known: Mapping[str, Document] = MappingProxyType({})
) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in documents:
        other = known.get(document.id) or found.setdefault(document.id, document)
        if other.text != document.text:
            raise ValueError(f"document id {document.id!r} names two texts; give each its own")
    return found


def _has_rows(path: Path, most: int) -> bool:
    """Whether a file is rows of documents and not one. At most ``most`` bytes are read."""
    if has_row_name(path):
        return True
    head = beginning(path, most)
    kind = kind_of(path.name, head)
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return kind is Kind.UNKNOWN or (kind is Kind.TEXT and starts)


def _read(
    paths: Sequence[Path], settings: Settings, result: CheckInput, wanted: Callable[[Path], bool]
) -> Iterator[Document]:
    for found in read_documents(paths, settings, wanted=wanted) if paths else ():
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

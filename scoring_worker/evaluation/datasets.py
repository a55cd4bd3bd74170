"""Reads labelled files into cases. What kind a file is, its fields tell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from safepassage.schemas import CLAIM_TYPE, Document

from .cases import Dataset, DatasetKind, LabelledCase, Lost, part_of
from .entities import labelled_extractions, types_of
from .rows import (
    EntityRow,
    ExtractionRow,
    PairRow,
    ResponseRow,
    pair_of_row,
)
from .sources import DatasetError, DatasetFile, Sources, kind_of_file

LABELS: Mapping[DatasetKind, str] = {
    "extractions": "as in the file, which does not say who gave them",
    "pairs": "as in the file, which does not say who gave them",
    "responses": "as in the file, which does not say who gave them",
    "entities": "supported: the annotated entities; unsupported: made from them by swapping type, "
    "value or passage with a fixed seed, judged by nobody",
}


def read_dataset(
    path: Path, sources: Sources, *, labels: str | None = None, limit: int | None = None
) -> Dataset:
    """The labelled cases of ``path``.

    Args:
        labels: who gave the labels, for the reports.
        limit: about how many cases to take: whole documents, drawn with the sources' seed.

    Raises:
        OSError: the file cannot be opened.
        DatasetError: it is of no known kind, or no row of it can be evaluated.
    """
    kind = kind_of_file(path)
    reading = DatasetFile(path, sources, limit)
    cases = tuple(_whole_documents(_CASES[kind](reading), limit))
    if not cases:
        why = f"; the first row was refused: {reading.refused[0]}" if reading.refused else ""
        raise DatasetError(f"{path}: no labelled row to evaluate{why}")
    return Dataset(
        name=path.name.removesuffix(".gz").removesuffix(".jsonl"),
        kind=kind,
        labels=labels or LABELS[kind],
        cases=cases,
        refused=tuple(reading.refused),
        unlabelled=reading.unlabelled,
    )


def _whole_documents(cases: Iterator[LabelledCase], limit: int | None) -> Iterator[LabelledCase]:
    group: str | None = None
    for count, case in enumerate(cases):
        if limit is not None and count >= limit and case.group != group:
            return
        group = case.group
        yield case


def _extraction_cases(reading: DatasetFile) -> Iterator[LabelledCase]:
    rows = reading.rows(ExtractionRow)
    documents = reading.by_document(rows, lambda row: row.doc_id)
    for done, members in enumerate(documents, start=1):
        document = reading.text_of(members[0].doc_id)
        if document is not None:
            yield from _aligned_cases(document, members, reading.sources)
        reading.sources.on_progress("documents aligned", done, len(documents))


def _aligned_cases(
    document: Document, rows: Sequence[ExtractionRow], sources: Sources
) -> Iterator[LabelledCase]:
    results = sources.results(document, rows)
    for row, result in zip(rows, results, strict=True):
        yield LabelledCase(
            id=row.id,
            group=document.id,
            supported=bool(row.supported),
            entity_type=row.entity_type,
            parts=(part_of(result),),
            kind=row.kind,
            extractor=row.model,
            draw=row.draw,
        )


def _entity_cases(reading: DatasetFile) -> Iterator[LabelledCase]:
    annotated = list(reading.rows(EntityRow))
    types = types_of(annotated)
    rows = [row for rows in reading.by_document(annotated, lambda row: row.id) for row in rows]
    for done, row in enumerate(rows, start=1):
        given = row.text is not None
        document = Document(id=row.id, text=row.text or "") if given else reading.text_of(row.id)
        if document is not None:
            seed = reading.sources.seed
            made = list(labelled_extractions(row, document.text, types, seed=seed))
            yield from _aligned_cases(document, made, reading.sources)
        reading.sources.on_progress("documents aligned", done, len(rows))


def _pair_cases(reading: DatasetFile) -> Iterator[LabelledCase]:
    """Pairs that share a premise err together, so a premise is a document."""
    documents = reading.by_document(reading.rows(PairRow), lambda row: row.doc_id or row.premise)
    rows = (row for members in documents for row in members)
    for number, row in enumerate(rows):
        pair = pair_of_row(row)
        yield LabelledCase(
            id=row.id or str(number),
            group=row.doc_id or row.premise,
            supported=bool(row.supported),
            entity_type=pair.entity_type,
            parts=(pair,),
            kind=row.kind,
            draw=row.draw,
        )


def _response_cases(reading: DatasetFile) -> Iterator[LabelledCase]:
    answers = reading.by_document(reading.rows(ResponseRow), lambda row: row.id)
    for done, rows in enumerate(answers, start=1):
        for row in rows:
            found = reading.sources.ground(row.answer, row.claim is not None)
            parts = tuple(part_of(result) for result in found)
            yield LabelledCase(
                id=row.id,
                group=row.id,
                supported=bool(row.supported),
                entity_type=CLAIM_TYPE,
                parts=parts or (Lost("invalid_extraction", undetermined=True),),  # nothing claimed
                kind=row.kind,
                extractor=row.model,
            )
        reading.sources.on_progress("answers split", done, len(answers))


_CASES: Mapping[DatasetKind, Callable[[DatasetFile], Iterator[LabelledCase]]] = {
    "extractions": _extraction_cases,
    "entities": _entity_cases,
    "pairs": _pair_cases,
    "responses": _response_cases,
}

"""Align and score without Kafka: the same agents, the same rule, the same verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from agents.aligner import Aligner
from schemas import (
    AlignedExtraction,
    Document,
    Extraction,
    LabelledExtraction,
    Verdict,
    judge,
    undetermined,
)
from schemas.jsonl import BadLine, read_jsonl
from scoring_worker import Pair, Scorer

SCORE_BATCH = 512

R = TypeVar("R", bound=BaseModel)


@dataclass(slots=True)
class CheckInput:
    """Extractions in file order, the documents they name, and the lines that are neither."""

    extractions: list[Extraction] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    bad_lines: list[BadLine] = field(default_factory=list)


def read_input(documents: Sequence[Path], extractions: Sequence[Path]) -> CheckInput:
    """Read the extractions and, of the documents, those that they name.

    Raises:
        OSError: a file cannot be opened.
    """
    result = CheckInput()
    for row in _rows(extractions, LabelledExtraction, result):
        result.extractions.append(Extraction(**row.model_dump(exclude={"label", "kind", "why"})))
    wanted = {extraction.doc_id for extraction in result.extractions}
    for document in _rows(documents, Document, result):
        if document.id not in wanted:
            continue
        known = result.documents.setdefault(document.id, document)
        if known.text != document.text:
            raise ValueError(f"document id {document.id!r} stands for two texts; give each its own")
    return result


async def check(given: CheckInput, aligner: Aligner, scorer: Scorer) -> list[Verdict]:
    """One verdict per extraction, in order."""
    by_document: dict[str, list[int]] = defaultdict(list)
    for position, extraction in enumerate(given.extractions):
        by_document[extraction.doc_id].append(position)
    results: dict[int, AlignedExtraction | Verdict] = {}
    for doc_id, positions in by_document.items():
        chosen = [given.extractions[position] for position in positions]
        results.update(
            zip(positions, await _align(given.documents.get(doc_id), chosen, aligner), strict=True)
        )
    ordered = [results[position] for position in range(len(given.extractions))]
    return list(_score(ordered, scorer))


async def _align(
    document: Document | None, extractions: Sequence[Extraction], aligner: Aligner
) -> Sequence[AlignedExtraction | Verdict]:
    if document is None:
        detail = "no document of this id was given"
        return [undetermined(e, "document_missing", None, detail) for e in extractions]
    return await aligner.align(document.text, document.ref(), extractions)


def _score(results: Sequence[AlignedExtraction | Verdict], scorer: Scorer) -> Iterator[Verdict]:
    """Score in batches as long as the worker's; what was not aligned passes through."""
    for start in range(0, len(results), SCORE_BATCH):
        part = results[start : start + SCORE_BATCH]
        aligned = [result for result in part if isinstance(result, AlignedExtraction)]
        assessments = iter(scorer.assess([Pair.of(result) for result in aligned]))
        for result in part:
            yield result if isinstance(result, Verdict) else judge(result, next(assessments))


def _rows(paths: Iterable[Path], model: type[R], result: CheckInput) -> Iterator[R]:
    for path in paths:
        for row in read_jsonl(path, model):
            if isinstance(row, BadLine):
                result.bad_lines.append(row)
            else:
                yield row

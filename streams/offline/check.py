"""Align and score without Kafka: the same agents, the same rule, the same verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from agents.aligner import Aligner
from agents.claims import ground_claims, split_claims
from schemas import (
    AlignedExtraction,
    Document,
    Extraction,
    LabelledExtraction,
    Response,
    Verdict,
    undetermined,
)
from schemas.jsonl import BadLine, read_jsonl
from schemas.rivals import with_rivals
from scoring_worker import Scorer
from scoring_worker.rivals_heard import judge_all

SCORE_BATCH = 512

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
    documents: Sequence[Path], extractions: Sequence[Path], responses: Sequence[Path] = ()
) -> CheckInput:
    """Read the extractions, the documents that they name, and the answers.

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
        result.extractions.append(Extraction(**row.model_dump(exclude={"label", "kind", "why"})))
    result.responses += _rows(responses, Response, result)
    wanted = {extraction.doc_id for extraction in result.extractions}
    for document in _rows(documents, Document, result):
        if document.id not in wanted:
            continue
        known = result.documents.setdefault(document.id, document)
        if known.text != document.text:
            raise ValueError(f"document id {document.id!r} stands for two texts; give each its own")
    return result


async def check(given: CheckInput, aligner: Aligner, scorer: Scorer) -> list[Verdict]:
    """One verdict per extraction, then one per sentence of each answer, in order.

    Extractions of one document for a field that is declared single are rivals, as in the stream.
    """
    extractions = with_rivals(given.extractions)
    by_document: dict[str, list[int]] = defaultdict(list)
    for position, extraction in enumerate(extractions):
        by_document[extraction.doc_id].append(position)
    results: dict[int, AlignedExtraction | Verdict] = {}
    for doc_id, positions in by_document.items():
        chosen = [extractions[position] for position in positions]
        results.update(
            zip(positions, await _align(given.documents.get(doc_id), chosen, aligner), strict=True)
        )
    ordered = [results[position] for position in range(len(extractions))]
    for response in given.responses:
        ordered += ground_claims(split_claims(response, response.ref()), response.text)
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
        judged = iter(judge_all(aligned, scorer))
        yield from (result if isinstance(result, Verdict) else next(judged) for result in part)


def _rows(paths: Iterable[Path], model: type[R], result: CheckInput) -> Iterator[R]:
    for path in paths:
        for row in read_jsonl(path, model):
            if isinstance(row, BadLine):
                result.refused.append(str(row))
            else:
                yield row

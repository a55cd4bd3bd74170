"""Reads what `safepassage train` is given into labelled pairs, with the pipeline's aligner."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker import Pair, Scorer
from safepassage.scoring_worker.evaluation.cases import labelled_pair, learnable, part_of
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.rows import ExtractionRow
from safepassage.scoring_worker.evaluation.sources import DatasetError, Sources

GRADED_AT_ONCE = 64


def read_labels(path: Path, sources: Sources) -> tuple[list[LabelledPair], tuple[str, ...]]:
    """The labelled pairs of a file, and a line for each row that could not be read.

    Documents with annotated entities give as many wrong facts as right ones
    (`evaluation.entities`). Extractions whose context is not found are left out, as are answers of
    several sentences: there is nothing that a scorer could learn from them."""
    dataset = read_dataset(path, sources)
    pairs = list(learnable(dataset.cases))
    if dataset.kind == "entities":
        right = [pair for pair in pairs if pair.label]
        wrong = [pair for pair in pairs if not pair.label]
        drawn = random.Random(sources.seed).sample(wrong, min(len(wrong), len(right)))
        pairs = [*right, *drawn]
    return pairs, dataset.refused


def grade(path: Path, sources: Sources, grader: Scorer) -> Iterator[LabelledPair]:
    """Silver labels: extractions without a label, as the LLM ``grader`` judges them.

    What the grader cannot judge is left out."""
    rows = [row for row in read_jsonl(path, ExtractionRow) if not isinstance(row, BadLine)]
    if not rows:
        raise DatasetError(f"{path}: no extractions to grade")
    found = [known for row in rows if (known := _aligned(row, sources))]
    for start in range(0, len(found), GRADED_AT_ONCE):
        batch = found[start : start + GRADED_AT_ONCE]
        assessments = grader.assess([pair for _, pair in batch])
        for (doc_id, pair), assessment in zip(batch, assessments, strict=True):
            if assessment.score is not None and assessment.threshold is not None:
                yield labelled_pair(pair, assessment.passes, kind="graded", group=doc_id)
        sources.on_progress("extractions graded", start + len(batch), len(found))


def _aligned(row: ExtractionRow, sources: Sources) -> tuple[str, Pair] | None:
    document = sources.documents.get(row.doc_id)
    if document is None:
        raise DatasetError(f"document {row.doc_id!r} is not in --documents")
    (result,) = sources.results(document, [row])
    part = part_of(result)
    return (document.id, part) if isinstance(part, Pair) else None


def count(pairs: Sequence[LabelledPair]) -> str:
    """For a line of output: how many pairs, how many of them supported."""
    return f"{len(pairs)} pairs, {sum(pair.label for pair in pairs)} supported"

"""The answers to compare methods on, whole queries drawn by a seed."""

import random
from collections.abc import Sequence
from pathlib import Path

from research.answers.sets import (
    AnswerRow,
    AnswersOfSource,
    LabelledAnswer,
)
from safepassage.schemas import BadLine, read_jsonl
from safepassage.scoring_worker.evaluation.sources import DatasetError


def read_answers(path: Path, *, limit: int | None = None, seed: int = 0) -> AnswersOfSource:
    """The answers of a JSONL(.gz) file; with ``limit`` about so many, whole queries by ``seed``.

    Raises:
        OSError: the file cannot be opened.
        DatasetError: no row of it can be used.
    """
    cases: list[LabelledAnswer] = []
    refused: list[str] = []
    for row in read_jsonl(path, AnswerRow):
        if isinstance(row, BadLine):
            refused.append(str(row))
        else:
            cases.append(row.labelled)
    if not cases:
        raise DatasetError(f"{path}: no labelled answer in it")
    chosen = drawn(cases, limit, seed)
    return AnswersOfSource(
        name=path.name.removesuffix(".gz").removesuffix(".jsonl"),
        cases=tuple(chosen),
        left_out=len(cases) - len(chosen),
        refused=tuple(refused),
    )


def drawn(
    cases: Sequence[LabelledAnswer], limit: int | None, seed: int
) -> Sequence[LabelledAnswer]:
    """Whole queries in an order that ``seed`` gives, up to the one that reaches ``limit``."""
    if limit is None or limit >= len(cases):
        return cases
    by_query: dict[str, list[LabelledAnswer]] = {}
    for case in cases:
        by_query.setdefault(case.query_group, []).append(case)
    queries = sorted(by_query)
    random.Random(seed).shuffle(queries)
    chosen: list[LabelledAnswer] = []
    for query in queries:
        if len(chosen) >= limit:
            break
        chosen += by_query[query]
    return chosen

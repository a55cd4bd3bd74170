"""Twins in files: what `groundedness adapt` reads and writes, and `groundedness train` reads."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from research.grounding.examples import (
    SentenceTwins,
    of_nli,
    of_twins,
)
from safepassage.schemas import BadLine, read_jsonl, validation_summary
from safepassage.schemas.base import EventId, Text
from safepassage.schemas.error_type import ErrorType
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.training.corpora import CorpusError, read_rows

from .twins import Twins


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: EventId
    context: Text | list[Text]
    response: Text
    query: Text = ""
    label: int = 1
    error_type: ErrorType | None = None
    twin_of: EventId | None = None

    @property
    def passages(self) -> tuple[str, ...]:
        return (self.context,) if isinstance(self.context, str) else tuple(self.context)


def grounded_answers(
    path: Path, limit: int | None = None
) -> tuple[list[tuple[str, Answer]], tuple[str, ...]]:
    """(id, answer) of every row that is not labelled 0, and the lines that could not be read.

    Raises:
        OSError: the file cannot be opened.
        CorpusError: no row can be used.
    """
    found: list[tuple[str, Answer]] = []
    refused: list[str] = []
    for row in read_jsonl(path, _Row):
        if isinstance(row, BadLine):
            refused.append(str(row))
        elif row.label == 1:
            found.append((row.id, Answer(row.passages, row.response, row.query)))
    if not found:
        raise CorpusError(f"{path}: no grounded answer in it")
    return found[:limit], tuple(refused)


def written_rows(twins: Iterable[Twins]) -> Iterator[dict[str, JsonValue]]:
    """The rows of all twins; a grounded answer that has several is there once."""
    seen: set[str] = set()
    for one in twins:
        for row in one.rows():
            if str(row["id"]) not in seen:
                seen.add(str(row["id"]))
                yield row


def sentence_twins(path: Path, limit: int, seed: int = 0) -> list[SentenceTwins]:
    """Up to ``limit`` twins of a file of adapted answers or of NLI rows, drawn by ``seed``.

    Of adapted answers those of the split "train" are taken.

    Raises:
        CorpusError: the file has no such row.
    """
    rows = list(read_rows(path))
    is_nli = bool(rows) and "premise" in rows[0]
    found = list(of_nli(rows) if is_nli else of_twins(_twins(rows)))
    if not found:
        raise CorpusError(f"{path}: no answer with an altered twin in it")
    random.Random(seed).shuffle(found)
    return found[:limit]


def labelled_twins(path: Path) -> list[Twins]:
    """Every answer with an altered twin in a file, of all splits.

    Raises:
        CorpusError: the file has no such row.
    """
    found = list(_twins({**row, "split": "train"} for row in read_rows(path)))
    if not found:
        raise CorpusError(f"{path}: no answer with an altered twin in it")
    return found


def _twins(rows: Iterable[Any]) -> Iterator[Twins]:
    try:
        read = [_Row.model_validate(row) for row in rows if row.get("split", "train") == "train"]
    except ValidationError as error:
        raise CorpusError(f"a row is no answer: {validation_summary(error)}") from None
    by_id = {row.id: row for row in read}
    for row in read:
        grounded = by_id.get(row.twin_of or "")
        if grounded is not None and row.error_type is not None:
            yield Twins(
                id=row.id,
                query=row.query,
                context=row.passages,
                grounded=grounded.response,
                altered=row.response,
                error_type=row.error_type,
            )

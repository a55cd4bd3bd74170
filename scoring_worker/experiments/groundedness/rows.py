"""The answers to compare methods on, whole queries drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from schemas import BadLine, read_jsonl, stable_id
from schemas.base import EventId, Text
from scoring_worker.detectors.contract import Answer
from scoring_worker.evaluation.sources import DatasetError


class AnswerRow(BaseModel):
    """{"id", "context", "claim" or "response", "label"}; query, samples and error type as well."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: EventId
    context: Text | list[Text]
    label: int = Field(ge=0, le=1)
    claim: Text | None = None
    response: Text | None = None
    query: Text | None = None
    samples: tuple[Text, ...] = ()
    error_type: str | None = None

    @property
    def answer(self) -> Answer:
        """What a detector is asked; of ``claim`` and ``response`` the claim."""
        context = (self.context,) if isinstance(self.context, str) else tuple(self.context)
        text = self.claim if self.claim is not None else self.response or ""
        return Answer(context, text, self.query or "", self.samples)

    @property
    def group(self) -> str:
        """Rows that err together: those of one query, else of one context."""
        context = self.context if isinstance(self.context, str) else "\n".join(self.context)
        return stable_id("query", self.query or context)


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Labelled answers of one file; ``of`` is how many it has in all, ``refused`` its bad lines."""

    name: str
    rows: tuple[AnswerRow, ...]
    of: int
    refused: tuple[str, ...] = ()


def read_answers(path: Path, *, limit: int | None = None, seed: int = 0) -> AnswerSet:
    """The answers of a JSONL(.gz) file; with ``limit`` about so many, whole queries by ``seed``.

    Raises:
        OSError: the file cannot be opened.
        DatasetError: no row of it can be used.
    """
    rows: list[AnswerRow] = []
    refused: list[str] = []
    for row in read_jsonl(path, AnswerRow):
        if isinstance(row, BadLine):
            refused.append(str(row))
        else:
            rows.append(row)
    if not rows:
        raise DatasetError(f"{path}: no labelled answer in it")
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return AnswerSet(name, tuple(drawn(rows, limit, seed)), len(rows), tuple(refused))


def drawn(rows: Sequence[AnswerRow], limit: int | None, seed: int) -> Iterable[AnswerRow]:
    """Whole queries in an order that ``seed`` gives, up to the one that reaches ``limit``."""
    if limit is None or limit >= len(rows):
        return rows
    by_group: dict[str, list[AnswerRow]] = {}
    for row in rows:
        by_group.setdefault(row.group, []).append(row)
    groups = sorted(by_group)
    random.Random(seed).shuffle(groups)
    chosen: list[AnswerRow] = []
    for group in groups:
        if len(chosen) >= limit:
            break
        chosen += by_group[group]
    return chosen

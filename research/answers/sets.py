"""Labelled answers, out of files as they are or built as RAGulator builds its data."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from research.curation import (
    Bounds,
    CuratedPair,
    from_similar,
    from_summaries,
    read_similar,
    read_summary,
)
from safepassage.schemas import stable_id
from safepassage.schemas.base import EventId, Text
from safepassage.schemas.jsonl import BadLine, read_objects
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.evaluation.rows import Row, read_label
from safepassage.scoring_worker.evaluation.sources import DatasetError, kind_of_file

Fields = Mapping[str, Any]

BUILT_BOUNDS = Bounds(context=(50, 5_000))
"""PubMedQA abstracts are shorter than the articles of the paper."""
_CONCLUSION = {"id", "context", "conclusion"}
"""The fields of a row with an abstract, and what its authors conclude from it."""


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One labelled answer. ``spans`` are the code points that people marked as hallucinated,
    None where nobody was asked; ``group`` is the document that errs together, and ``error_type``
    what is wrong with the answer, where that is known."""

    id: str
    answer: Answer
    grounded: bool
    group: str
    spans: tuple[tuple[int, int], ...] | None = None
    error_type: str | None = None

    @property
    def query_group(self) -> str:
        """Answers that err together because they are to one query, or else on one context."""
        return stable_id("query", self.answer.query or "\n".join(self.answer.context))


@dataclass(frozen=True, slots=True)
class AnswersOfSource:
    """The cases of one source. ``built`` says that its labels are by construction; ``left_out``
    counts the answers that were not drawn, ``refused`` are its bad lines."""

    name: str
    cases: tuple[LabelledAnswer, ...]
    built: bool = False
    left_out: int = 0
    refused: tuple[str, ...] = ()


class AnswerRow(Row):
    """{"id", "context", "claim" or "response", "label"}; query, samples, error type, the document
    (``group``, or "source_id" in ``extra``) and marked spans (in ``extra``) as well."""

    id: EventId
    context: Text | list[Text]
    grounded: Annotated[bool, BeforeValidator(read_label)] = Field(validation_alias="label")
    claim: Text | None = None
    response: Text | None = None
    query: Text | None = None
    samples: tuple[Text, ...] = ()
    error_type: str | None = None
    group: str | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if not (self.claim or self.response):
            raise ValueError("neither a claim nor a response")
        return self

    @property
    def labelled(self) -> LabelledAnswer:
        """The answer of this row; of ``claim`` and ``response`` the claim."""
        context = (self.context,) if isinstance(self.context, str) else tuple(self.context)
        response = self.claim or self.response or ""
        extra = self.extra or {}
        return LabelledAnswer(
            id=self.id,
            answer=Answer(context, response, self.query or "", self.samples),
            grounded=self.grounded,
            group=str(extra.get("source_id") or self.group or self.id),
            spans=None if self.response is None else _spans(extra),
            error_type=self.error_type,
        )


def read_sets(
    paths: Iterable[Path], *, seed: int = 0, limit: int | None = None, source: str | None = None
) -> list[AnswersOfSource]:
    """The sets of files, and of all files of folders, in order of their names.

    Args:
        seed: draws unrelated articles and noise sentences.
        limit: at most so many cases of a set, spread over it.
        source: in files whose rows name their source, only rows of this one.

    A file with rows of a ``train`` and a ``test`` split gives its test rows only.

    Raises:
        OSError: a file cannot be opened.
        DatasetError: a file is of no kind that has answers, or none of its rows can be used.
    """
    files = [file for path in paths for file in _files(path)]
    sets = [_read(file, seed, source) for file in files]
    return [_limited(one, limit) for one in sets]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if ".jsonl" in file.suffixes)
    if not found:
        raise DatasetError(f"{path}: no .jsonl or .jsonl.gz file in this folder")
    return found


def _read(path: Path, seed: int, source: str | None) -> AnswersOfSource:
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    rows = list(_rows(path, source))
    concluded = any(row.keys() >= _CONCLUSION for row in rows)
    kind = "conclusions" if concluded else kind_of_file(path)
    if source is not None and any(row.get("source") == source for row in rows):
        name = source
    if kind == "responses":
        cases = tuple(_answers(rows))
    elif kind == "conclusions":
        summaries = [s for n, row in enumerate(rows) if (s := read_summary(row, n))]
        cases = tuple(map(_case, from_summaries(summaries, name, seed, BUILT_BOUNDS)))
    elif kind == "pairs":
        pairs = [p for n, row in enumerate(rows) if (p := read_similar(row, n))]
        cases = tuple(map(_case, from_similar(pairs, name, seed)))
    else:
        raise DatasetError(f"{path}: {kind} are no answers; detectors judge answers")
    if not cases:
        raise DatasetError(f"{path}: no labelled answer to judge")
    return AnswersOfSource(name, cases, built=kind != "responses")


def _rows(path: Path, source: str | None) -> Iterator[Fields]:
    rows = [row for row in read_objects(path) if not isinstance(row, BadLine)]
    splits = {row.get("split") for row in rows}
    measured = {"test"} if {"train", "test"} <= splits else splits
    for row in rows:
        if row.get("split") in measured and source in (None, row.get("source", source)):
            yield row


def _answers(rows: Iterable[Fields]) -> Iterator[LabelledAnswer]:
    for row in rows:
        try:
            labelled = AnswerRow.model_validate(row).labelled
        except ValidationError:
            continue
        if labelled.answer.context:
            yield labelled


def _spans(extra: Fields) -> tuple[tuple[int, int], ...] | None:
    """What people marked; None where nobody was asked, or a mark has no place."""
    marked = extra.get("spans")
    if not isinstance(marked, list):
        return None
    places = [(span.get("start"), span.get("end")) for span in marked]
    known = [(a, b) for a, b in places if isinstance(a, int) and isinstance(b, int)]
    return tuple(known) if len(known) == len(places) else None


def _case(pair: CuratedPair) -> LabelledAnswer:
    answer = Answer(context=(pair.context,), response=pair.sentence)
    return LabelledAnswer(pair.id, answer, pair.grounded, pair.group)


def _limited(one: AnswersOfSource, limit: int | None) -> AnswersOfSource:
    if limit is None or len(one.cases) <= limit:
        return one
    step = len(one.cases) / limit
    cases = tuple([one.cases[int(number * step)] for number in range(limit)])
    return replace(one, cases=cases, left_out=len(one.cases) - limit)

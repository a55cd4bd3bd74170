"""Recorded answers to questions that are no extraction: by schema and by what is quoted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from safepassage.schemas.base import Contract, Json, Text
from safepassage.streams.demo.corpus import rows


class RecordedAnswer(Contract):
    """What was answered where a question asks for the schema named ``schema_name`` and its prompt
    holds every text of ``contains``."""

    schema_name: str = Field(min_length=1)
    contains: tuple[Text, ...] = Field(min_length=1)
    answer: Json


class RecordedAnswers:
    """Answers by question; of several that fit, the one that names most of the prompt counts."""

    def __init__(self, answers: Iterable[RecordedAnswer] = ()) -> None:
        self._answers = sorted(answers, key=lambda one: -sum(map(len, one.contains)))

    @classmethod
    def read(cls, path: Path) -> RecordedAnswers:
        """Answers from a JSONL(.gz) file.

        Raises:
            ValueError: a line is no answer.
            OSError: the file cannot be opened.
        """
        return cls(rows(path, RecordedAnswer))

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, schema_name: str, prompt: str) -> RecordedAnswer | None:
        """The answer to a question, if one was recorded."""
        return next(
            (
                one
                for one in self._answers
                if one.schema_name == schema_name and all(text in prompt for text in one.contains)
            ),
            None,
        )

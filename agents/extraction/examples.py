"""Documents with the answer that is right for them: shown to the LLM before the document at hand.

They are in the schema. A pydantic model has them where pydantic has examples, in
``ConfigDict(json_schema_extra={"examples": [{"document": "…", "answer": {…}}]})``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter, ValidationError

from safepassage.agents.alignment import DocumentIndex
from safepassage.llm_calls.errors import LLMError
from safepassage.schemas import validation_summary

if TYPE_CHECKING:
    from .answers import ExtractionSchema

MAX_EXAMPLES = 20
MAX_CHARACTERS = 40_000
"""Of all examples: they are paid for with every part of every document."""


@dataclass(frozen=True, slots=True)
class Example:
    """A document, and the answer that an LLM should give on it."""

    document: str
    answer: JsonValue

    @property
    def answered(self) -> str:
        """The answer as the LLM would write it."""
        return json.dumps(self.answer, ensure_ascii=False)


class InvalidExamples(ValueError):
    """Examples that would teach an LLM what is refused later; the message says which and why."""


def examples_in(said: object) -> tuple[Example, ...]:
    """The examples of ``[{"document": …, "answer": …}, …]``. Raises `InvalidExamples` where it has
    another form, or is too much."""
    try:
        found = _EXAMPLES.validate_python(said)
    except ValidationError as error:
        raise InvalidExamples(f"examples: {validation_summary(error)}") from None
    size = sum(len(one.document) + len(one.answered) for one in found)
    if len(found) > MAX_EXAMPLES or size > MAX_CHARACTERS:
        raise InvalidExamples(
            f"{len(found)} examples of {size} characters; at most {MAX_EXAMPLES} of "
            f"{MAX_CHARACTERS} together"
        )
    return tuple(found)


def verify_examples(schema: ExtractionSchema, examples: Sequence[Example]) -> None:
    """
    Raises:
        InvalidExamples: an answer is not one of ``schema``, or quotes what its document lacks.
    """
    from .answers import read_answer  # noqa: PLC0415 - the two know each other

    for number, example in enumerate(examples, start=1):
        try:
            answer = read_answer(schema, example.answered)
        except LLMError as error:
            raise InvalidExamples(f"example {number}: {error}") from None
        if answer.skipped:
            raise InvalidExamples(f"example {number}: {', '.join(answer.skipped)}")
        index = DocumentIndex(example.document)
        for finding in answer.findings:
            if index.align(finding.context).score < 1.0:
                raise InvalidExamples(
                    f"example {number}: the context of {finding.entity_type} is not in "
                    "its document as it is quoted"
                )


_EXAMPLES: TypeAdapter[list[Example]] = TypeAdapter(list[Example])

"""Documents with the answer that is right for them: shown to the LLM before the document at hand.

They are in the schema. A pydantic model has them where pydantic has examples, in
``ConfigDict(json_schema_extra={"examples": [{"document": "…", "answer": {…}}]})``.
"""

import json
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter, ValidationError

from safepassage.schemas import validation_summary

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


def examples_in(said: object) -> tuple[Example, ...]:
    """The examples of ``[{"document": …, "answer": …}, …]``. Raises `ValueError` where it has
    another form, or is too much."""
    try:
        found = _EXAMPLES.validate_python(said)
    except ValidationError as error:
        raise ValueError(f"examples: {validation_summary(error)}") from None
    size = sum(len(one.document) + len(one.answered) for one in found)
    if len(found) > MAX_EXAMPLES or size > MAX_CHARACTERS:
        raise ValueError(
            f"{len(found)} examples of {size} characters; at most {MAX_EXAMPLES} of "
            f"{MAX_CHARACTERS} together"
        )
    return tuple(found)


_EXAMPLES: TypeAdapter[list[Example]] = TypeAdapter(list[Example])

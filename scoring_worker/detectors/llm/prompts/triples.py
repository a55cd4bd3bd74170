"""RefChecker's two questions: the triples of an answer, and what the context says of one.

Hu et al. 2024, "RefChecker", sections 3.2 (extraction) and 3.3 (checking). The words are ours.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt

MAX_CLAIMED: Final = 60
"""Triples of one answer; what has more is cut into answers by whoever calls."""

EXTRACTION: Final = """\
You take an answer apart into knowledge triples: subject, relation, object. Each is one statement
that can be checked by itself. Together they say all that the answer states as fact, and nothing
that it does not. Keep names, dates, amounts and conditions as the answer writes them; replace
pronouns by what they stand for. A denial keeps its "not" in the relation. Leave out greetings,
hedges and remarks about the answer itself.
"""
CHECKING: Final = """\
You compare one statement, written as subject | relation | object, with a context.
"entailment": the context says so, or it follows from the context alone.
"contradiction": the context says something that cannot be true together with it.
"neutral": neither; the context leaves it open or does not speak of it.
"""


class Triple(AnswerForm):
    """One statement."""

    subject: str = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS)
    relation: str = Field(max_length=MAX_TRIPLE_CHARACTERS)
    object: str = Field(max_length=MAX_TRIPLE_CHARACTERS)

    def __str__(self) -> str:
        return f"{self.subject} | {self.relation} | {self.object}"


class Triples(AnswerForm):
    """The statements of an answer."""

    triples: tuple[Triple, ...] = Field(max_length=MAX_CLAIMED)


class Checked(AnswerForm):
    """What the context makes of one triple."""

    label: Literal["entailment", "contradiction", "neutral"]


def extraction(answer: Answer) -> Prompt[Triples]:
    """The triples of an answer."""
    material = {"QUESTION": answer.query or "(none was recorded)", "ANSWER": answer.response}
    return prompt("triples", EXTRACTION, material, "What are the triples of the answer?", Triples)


def check(answer: Answer, triple: Triple) -> Prompt[Checked]:
    """One triple against the whole context."""
    material = {"CONTEXT": passages(answer.context), "STATEMENT": str(triple)}
    return prompt("triple_check", CHECKING, material, "What does the context say of it?", Checked)

"""Claims in three questions: of the context, of the answer, and which of these are not supported.

The paper's section 5.3, "Claims Extraction and Verification", after the faithfulness metric of
DeepEval (Ip 2023). The words are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt

MAX_CLAIMS: Final = 200

EXTRACTION: Final = """\
You list the claims of a text: short sentences, each with one checkable statement, that together
say what the text states as fact. Keep names, dates, amounts, conditions and denials exactly.
Replace pronouns by what they stand for. Do not judge, complete or correct anything.
"""
COMPARISON: Final = """\
You are given the claims of a source and the numbered claims of an answer. Say for which claims of
the answer the claims of the source give no support, because they say something else or nothing of
it. A claim that says less than the source is supported; one that says more, or something more
precise, is not. List the numbers of the unsupported ones, each with the reason in one short
sentence; an empty list where all are supported.
"""


class Claims(AnswerForm):
    """The claims of a text."""

    claims: tuple[str, ...] = Field(max_length=MAX_CLAIMS)


class Unsupported(AnswerForm):
    """A claim of the answer, by its number from 1, and why the source does not bear it out."""

    reason: str
    number: int = Field(ge=1)


class Comparison(AnswerForm):
    """Every claim of the answer that the source does not bear out."""

    unsupported: tuple[Unsupported, ...] = Field(max_length=MAX_CLAIMS)


def of_context(answer: Answer) -> Prompt[Claims]:
    """The claims of the context."""
    material = {"TEXT": passages(answer.context)}
    return prompt("claims", EXTRACTION, material, "What are the claims of the text?", Claims)


def of_response(answer: Answer) -> Prompt[Claims]:
    """The claims of the answer."""
    material = {"TEXT": answer.response}
    return prompt("claims", EXTRACTION, material, "What are the claims of the text?", Claims)


def comparison(source: Sequence[str], answer: Sequence[str]) -> Prompt[Comparison]:
    """Which claims of the answer the claims of the source do not support."""
    material = {
        "SOURCE CLAIMS": "\n".join(f"- {claim}" for claim in source),
        "ANSWER CLAIMS": "\n".join(f"{at}. {claim}" for at, claim in enumerate(answer, start=1)),
    }
    question = "Which claims of the answer are not supported?"
    return prompt("comparison", COMPARISON, material, question, Comparison)

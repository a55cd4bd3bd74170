"""A question in the form that Lynx was trained for: bullet points of reasoning, PASS or FAIL.

Ravi et al. 2024, "Lynx: An Open Source Hallucination Evaluation Model", section 3: the question,
the document and the answer are given, and an answer passes that adds nothing to the document and
contradicts nothing in it. The words are ours; Lynx itself is asked by naming it as the model of an
endpoint that serves it.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt

SYSTEM: Final = """\
You are given a question, a document and an answer. Decide whether the answer keeps to the
document: it offers no information beyond the document and says nothing that the document
contradicts. The document alone counts, even where you know better.
In REASONING list your points, one string each: what the answer states, and where the document
says so or does not. In SCORE give "PASS" where the answer keeps to the document in all of them,
"FAIL" otherwise.
"""
QUESTION: Final = "Does the answer keep to the document?"


class FaithfulAnswer(AnswerForm):
    """Points of reasoning, then PASS or FAIL."""

    reasoning: tuple[str, ...] = Field(alias="REASONING")
    score: Literal["PASS", "FAIL"] = Field(alias="SCORE")


def ask(answer: Answer) -> Prompt[FaithfulAnswer]:
    """The one question of the method."""
    material = {
        "QUESTION": answer.query or "(none was recorded)",
        "DOCUMENT": passages(answer.context),
        "ANSWER": answer.response,
    }
    return prompt("faithful", SYSTEM, material, QUESTION, FaithfulAnswer)

"""Direct prompting: is the answer borne out by its context, yes or no (paper, section 5.3)."""

from __future__ import annotations

from typing import Final, Literal

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt

SYSTEM: Final = """\
You check whether an answer to a question rests wholly on the context that it was written from.

"grounded": every statement of the answer is said by the context or follows from it without any
further knowledge.
"ungrounded": at least one statement is not. A single changed date, party, court, condition,
step of a procedure or legal term is enough, however small it looks beside what is right; so is a
statement that may be true but stands nowhere in the context.
Whether the answer is useful, complete or well written makes no difference. What you know of the
matter yourself makes none either. When in doubt: "ungrounded".
First give your reasoning: name the statement that decides, in two or three short sentences. Then
give the label.
"""
QUESTION: Final = "Is every statement of the answer borne out by the context?"


class GroundedAnswer(AnswerForm):
    """Reasoning first, so that the label follows from it."""

    reasoning: str
    label: Literal["grounded", "ungrounded"]


def ask(answer: Answer) -> Prompt[GroundedAnswer]:
    """The one question of the method."""
    material = {
        "QUESTION": answer.query or "(none was recorded)",
        "CONTEXT": passages(answer.context),
        "ANSWER": answer.response,
    }
    return prompt("grounded", SYSTEM, material, QUESTION, GroundedAnswer)

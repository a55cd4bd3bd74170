"""Methods of a single question: direct prompting, and a prompt in the form of Lynx.

Lynx (Ravi et al. 2024, section 3) is given the question, the document and the answer; an answer
passes that adds nothing to the document and contradicts nothing in it. The words are ours; Lynx
itself is asked by naming it as the model of an endpoint that serves it.
"""

from typing import Final, Literal

from pydantic import Field

from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation
from .prompting import AnswerForm, Prompt, passages, prompt, prompts_digest

GROUNDED: Final = """\
You check whether an answer to a question rests wholly on the context that it was written from.

"grounded": every statement of the answer is said by the context or follows from it without any
further knowledge.
"ungrounded": at least one statement is not. A single changed date, party, court, condition,
step of a procedure or legal term is enough, however small it looks beside what is right; so is a
statement that may be true but is nowhere in the context.
Whether the answer is useful, complete or well written makes no difference. What you know of the
matter yourself makes none either. When in doubt: "ungrounded".
First give your reasoning: name the statement that decides, in two or three short sentences. Then
give the label.
"""
IS_GROUNDED: Final = "Is every statement of the answer supported by the context?"
FAITHFUL: Final = """\
You are given a question, a document and an answer. Decide whether the answer keeps to the
document: it offers no information beyond the document and says nothing that the document
contradicts. The document alone counts, even where you know better.
In REASONING list your points, one string each: what the answer states, and where the document
says so or does not. In SCORE give "PASS" where the answer keeps to the document in all of them,
"FAIL" otherwise.
"""
IS_FAITHFUL: Final = "Does the answer keep to the document?"
LABELS: Final = {"grounded": 1.0, "ungrounded": 0.0, "PASS": 1.0, "FAIL": 0.0}
"""A label is a decision and not a probability: nothing lies between."""


class GroundedAnswer(AnswerForm):
    """Reasoning first, so that the label follows from it."""

    reasoning: str
    label: Literal["grounded", "ungrounded"]


class FaithfulAnswer(AnswerForm):
    """Points of reasoning, then PASS or FAIL."""

    reasoning: tuple[str, ...] = Field(alias="REASONING")
    score: Literal["PASS", "FAIL"] = Field(alias="SCORE")


class DirectPrompting:
    """Asks whether the answer is grounded (paper, section 5.3)."""

    digest = prompts_digest(GROUNDED, IS_GROUNDED, GroundedAnswer)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """1.0 or 0.0, as the label says; what the reasoning says does not count."""
        said = await conversation.ask(is_grounded(answer))
        return Grounding(score=LABELS[said.label])


class LynxPrompt:
    """Asks for PASS or FAIL after points of reasoning (Ravi et al. 2024)."""

    digest = prompts_digest(FAITHFUL, IS_FAITHFUL, FaithfulAnswer)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """1.0 or 0.0, as the score says."""
        said = await conversation.ask(is_faithful(answer))
        return Grounding(score=LABELS[said.score])


def is_grounded(answer: Answer) -> Prompt[GroundedAnswer]:
    """The question of direct prompting."""
    return prompt("grounded", GROUNDED, _material(answer, "CONTEXT"), IS_GROUNDED, GroundedAnswer)


def is_faithful(answer: Answer) -> Prompt[FaithfulAnswer]:
    """The question in the form of Lynx."""
    return prompt("faithful", FAITHFUL, _material(answer, "DOCUMENT"), IS_FAITHFUL, FaithfulAnswer)


def _material(answer: Answer, context: str) -> dict[str, str]:
    return {
        "QUESTION": answer.query or "(none was recorded)",
        context: passages(answer.context),
        "ANSWER": answer.response,
    }

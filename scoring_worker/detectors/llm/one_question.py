"""Methods of a single question: direct prompting, and a prompt in the form of Lynx."""

from __future__ import annotations

from typing import Final

from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation
from .prompting import prompts_digest
from .prompts import faithful, grounded

LABELS: Final = {"grounded": 1.0, "ungrounded": 0.0, "PASS": 1.0, "FAIL": 0.0}
"""A label is a decision and not a probability: nothing lies between."""


class DirectPrompting:
    """Asks whether the answer is grounded (paper, section 5.3)."""

    digest = prompts_digest(grounded.SYSTEM, grounded.QUESTION, grounded.GroundedAnswer)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """1.0 or 0.0, as the label says; what the reasoning says does not count."""
        said = await conversation.ask(grounded.ask(answer))
        return Grounding(score=LABELS[said.label])


class LynxPrompt:
    """Asks for PASS or FAIL after points of reasoning (Ravi et al. 2024)."""

    digest = prompts_digest(faithful.SYSTEM, faithful.QUESTION, faithful.FaithfulAnswer)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """1.0 or 0.0, as the score says."""
        said = await conversation.ask(faithful.ask(answer))
        return Grounding(score=LABELS[said.score])

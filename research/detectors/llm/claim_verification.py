"""Claims extraction and verification in three calls.

The paper's section 5.3, after the faithfulness metric of DeepEval (Ip 2023). The words are ours.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

from pydantic import Field

from safepassage.passages.granularity import aggregate
from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation, NoAnswer
from .prompting import AnswerForm, Prompt, passages, prompt, prompts_digest

MAX_CLAIMS: Final = 200

EXTRACTION: Final = """\
You list the claims of a text: short sentences, each with one checkable statement, that together
say what the text states as fact. Keep names, dates, amounts, conditions and denials exactly.
Replace pronouns by what they represent. Do not judge, complete or correct anything.
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
    """A claim of the answer, by its number from 1, and why the source does not support it."""

    reason: str
    number: int = Field(ge=1)


class Comparison(AnswerForm):
    """Every claim of the answer that the source does not support."""

    unsupported: tuple[Unsupported, ...] = Field(max_length=MAX_CLAIMS)


def claims_of(text: str) -> Prompt[Claims]:
    """The claims of a text."""
    question = "What are the claims of the text?"
    return prompt("claims", EXTRACTION, {"TEXT": text}, question, Claims)


def comparison(source: Sequence[str], answer: Sequence[str]) -> Prompt[Comparison]:
    """Which claims of the answer the claims of the source do not support."""
    material = {
        "SOURCE CLAIMS": "\n".join(f"- {claim}" for claim in source),
        "ANSWER CLAIMS": "\n".join(f"{at}. {claim}" for at, claim in enumerate(answer, start=1)),
    }
    question = "Which claims of the answer are not supported?"
    return prompt("comparison", COMPARISON, material, question, Comparison)


def response_score(claimed: int, unsupported: Collection[int]) -> float | None:
    """1.0 where every claim is supported, 0.0 where one is not, None without any claim.

    "If any generated claim contradicts a source claim, we consider the answer inaccurate."

    Raises:
        ValueError: a number is no claim's.
    """
    if any(not 1 <= number <= claimed for number in unsupported):
        raise ValueError("a number that no claim has")
    return aggregate("min", [float(at not in unsupported) for at in range(1, claimed + 1)])


class ClaimsVerified:
    """Claims of the context, claims of the answer, and which of these are not supported."""

    digest = prompts_digest(EXTRACTION, COMPARISON, Claims, Comparison)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """As grounded as the worst claim. A comparison that numbers what nobody claimed is void."""
        source, claimed = await asyncio.gather(
            conversation.ask(claims_of(passages(answer.context))),
            conversation.ask(claims_of(answer.response)),
        )
        if not source.claims:
            return Grounding.undetermined("no_context")
        if not claimed.claims:
            return Grounding.undetermined("no_claims")
        compared = await conversation.ask(comparison(source.claims, claimed.claims))
        unsupported = {found.number for found in compared.unsupported}
        try:
            score = response_score(len(claimed.claims), unsupported)
        except ValueError:
            raise NoAnswer("answer_schema_mismatch") from None
        return Grounding(score=score)

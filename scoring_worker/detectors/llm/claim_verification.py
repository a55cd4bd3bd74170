"""Claims extraction and verification in three calls (paper, section 5.3; after DeepEval)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from safepassage.passages.granularity import aggregate
from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation, NoAnswer
from .prompting import prompts_digest
from .prompts import claims as prompts


def response_score(claimed: int, unsupported: Collection[int]) -> float | None:
    """1.0 where every claim is supported, 0.0 where one is not, None without any claim.

    "If any generated claim contradicts a source claim, we consider the answer inaccurate."

    Raises:
        ValueError: a number is no claim's.
    """
    if any(not 1 <= number <= claimed for number in unsupported):
        raise ValueError("a number that no claim has")
    return aggregate("all", [float(at not in unsupported) for at in range(1, claimed + 1)])


class ClaimsVerified:
    """Claims of the context, claims of the answer, and which of these are not supported."""

    digest = prompts_digest(
        prompts.EXTRACTION, prompts.COMPARISON, prompts.Claims, prompts.Comparison
    )

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """As grounded as the worst claim. A comparison that numbers what nobody claimed is void."""
        source, claimed = await asyncio.gather(
            conversation.ask(prompts.of_context(answer)),
            conversation.ask(prompts.of_response(answer)),
        )
        if not source.claims:
            return Grounding.undetermined("no_context")
        if not claimed.claims:
            return Grounding.undetermined("no_claims")
        compared = await conversation.ask(prompts.comparison(source.claims, claimed.claims))
        try:
            score = response_score(
                len(claimed.claims), {found.number for found in compared.unsupported}
            )
        except ValueError:
            raise NoAnswer("answer_schema_mismatch") from None
        return Grounding(score=score)

"""RefChecker: triples of the answer, each checked against the context; the share that holds.

Hu et al. 2024, sections 3.2 to 3.4. With n triples it asks 1 + n times, each time with all of
the context: the method's price.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Literal

from safepassage.passages.granularity import aggregate
from safepassage.schemas.evidence import Evidence, JudgedTriple, TripleStatus
from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation
from .prompting import prompts_digest
from .prompts import triples as prompts

Label = Literal["entailment", "contradiction", "neutral"]

SUPPORT: Final[dict[Label, float]] = {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0}
"""Of ungrounded answers both count: what the context leaves open is not borne out by it."""
_STATUS: Final[dict[Label, TripleStatus]] = {
    "entailment": "supported",
    "neutral": "unsupported",
    "contradiction": "unsupported",
}


def soft_score(labels: Sequence[Label]) -> float | None:
    """The share of triples that the context entails; None of none."""
    return aggregate("mean", [SUPPORT[label] for label in labels])


def strict_label(labels: Sequence[Label]) -> Label | None:
    """The answer's label as its worst triple's: contradiction, else neutral, else entailment."""
    for worst in ("contradiction", "neutral", "entailment"):
        if worst in labels:
            return worst
    return None


class RefChecker:
    """Scores by the share of entailed triples, on which a threshold is fitted."""

    digest = prompts_digest(prompts.EXTRACTION, prompts.CHECKING, prompts.Triples, prompts.Checked)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """The soft score, with every triple and its status as evidence."""
        extracted = (await conversation.ask(prompts.extraction(answer))).triples
        distinct = list(dict.fromkeys(extracted))
        checked = await asyncio.gather(
            *(conversation.ask(prompts.check(answer, triple)) for triple in distinct)
        )
        labels = [check.label for check in checked]
        score = soft_score(labels)
        if score is None:
            return Grounding.undetermined("no_claims")
        judged = tuple(
            JudgedTriple(
                subject=triple.subject,
                relation=triple.relation,
                object=triple.object,
                status=_STATUS[label],
            )
            for triple, label in zip(distinct, labels, strict=True)
        )
        return Grounding(score=score, evidence=Evidence(triples=judged))

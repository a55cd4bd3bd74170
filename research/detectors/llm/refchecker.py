"""RefChecker: triples of the answer, each checked against the context; the share that holds.

Hu et al. 2024, sections 3.2 to 3.4. With n triples it asks 1 + n times, each time with all of
the context: the method's price.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field

from safepassage.passages.granularity import aggregate
from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS, Evidence, JudgedTriple
from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Conversation
from .prompting import AnswerForm, Prompt, passages, prompt, prompts_digest

MAX_CLAIMED: Final = 60
"""Triples of one answer; what has more is cut into answers by the caller."""

EXTRACTION: Final = """\
You take an answer apart into knowledge triples: subject, relation, object. Each is one statement
that can be checked by itself. Together they say all that the answer states as fact, and nothing
that it does not. Keep names, dates, amounts and conditions as the answer writes them; replace
pronouns by what they represent. A denial keeps its "not" in the relation. Leave out greetings,
hedges and remarks about the answer itself.
"""
CHECKING: Final = """\
You compare one statement, written as subject | relation | object, with a context.
"entailment": the context says so, or it follows from the context alone.
"contradiction": the context says something that cannot be true together with it.
"neutral": neither; the context leaves it open or does not speak of it.
"""


Label = Literal["entailment", "contradiction", "neutral"]


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

    label: Label


def extraction(answer: Answer) -> Prompt[Triples]:
    """The triples of an answer."""
    material = {"QUESTION": answer.query or "(none was recorded)", "ANSWER": answer.response}
    return prompt("triples", EXTRACTION, material, "What are the triples of the answer?", Triples)


def check(answer: Answer, triple: Triple) -> Prompt[Checked]:
    """One triple against the whole context."""
    material = {"CONTEXT": passages(answer.context), "STATEMENT": str(triple)}
    return prompt("triple_check", CHECKING, material, "What does the context say of it?", Checked)


SUPPORT: Final[dict[Label, float]] = {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0}
"""Of ungrounded answers both count: what the context leaves open is not supported by it."""


def soft_score(labels: Sequence[Label]) -> float | None:
    """The share of triples that the context entails; None of none."""
    return aggregate("mean", [SUPPORT[label] for label in labels])


class RefChecker:
    """Scores by the share of entailed triples, on which a threshold is fitted."""

    digest = prompts_digest(EXTRACTION, CHECKING, Triples, Checked)

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """The soft score, with every triple and its status as evidence."""
        extracted = (await conversation.ask(extraction(answer))).triples
        distinct = list(dict.fromkeys(extracted))
        checked = await asyncio.gather(
            *(conversation.ask(check(answer, triple)) for triple in distinct)
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
                status="supported" if label == "entailment" else "unsupported",
            )
            for triple, label in zip(distinct, labels, strict=True)
        )
        return Grounding(score=score, evidence=Evidence(triples=judged))

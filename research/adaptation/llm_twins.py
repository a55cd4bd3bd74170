"""Twins by an LLM: one subtle error of a given type, everything else as it was (paper, 4.2)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from research.detectors.llm.batch_calls import (
    Asker,
    Conversation,
    NoAnswer,
    added,
)
from research.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt
from safepassage.schemas import Usage
from safepassage.schemas.error_type import DESCRIPTIONS, ERROR_TYPES, ErrorType
from safepassage.scoring_worker.detectors.contract import Answer

from .twins import Twins, refusal

SYSTEM: Final = """\
You prepare test material for a system that checks legal answers. You are given a question, the
context, an answer that the context supports, and a type of error. Write the answer again with
exactly one error of that type.
- Change one sentence, two at most, and as few words as make it wrong. Copy every other sentence
  as it is.
- The altered sentence must read as naturally as before, and the context must not support it.
- Do not mark, hint at or explain the error in the answer.
"""
QUESTION: Final = "Give the altered answer."


class AlteredAnswer(AnswerForm):
    """The answer with its error, and which words make it wrong."""

    answer: str = Field(min_length=1)
    changed: str


@dataclass(frozen=True, slots=True)
class Adapted:
    """What came out: twins, and how many attempts failed of what."""

    twins: tuple[Twins, ...]
    failures: Counter[str]
    usage: Usage


@dataclass(frozen=True, slots=True)
class _Wanted:
    id: str
    answer: Answer
    error_type: ErrorType


def ask(answer: Answer, error_type: ErrorType) -> Prompt[AlteredAnswer]:
    """The question for one variant."""
    material = {
        "QUESTION": answer.query or "(none was recorded)",
        "CONTEXT": passages(answer.context),
        "ANSWER": answer.response,
        "ERROR TYPE": f"{error_type}: {DESCRIPTIONS[error_type]}",
    }
    return prompt("altered_answer", SYSTEM, material, QUESTION, AlteredAnswer)


def adapt(
    answers: Sequence[tuple[str, Answer]],
    asker: Asker,
    types: Sequence[ErrorType] = ERROR_TYPES,
    on_progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> Adapted:
    """Every grounded answer with an error of each type; what is no subtle variant is refused.

    Blocks while the LLM answers; ``on_progress`` hears the stage, how many variants were asked
    for and answered or given up, and of how many.

    Raises:
        AskingMisconfigured: the endpoint refuses every request.
    """
    wanted = [_Wanted(name, answer, kind) for name, answer in answers for kind in types]
    made: list[Twins] = []
    failures: Counter[str] = Counter()
    usage = Usage()
    found = asker.run(
        _altered, wanted, lambda done: on_progress("altered answers", done, len(wanted))
    )
    for one, (altered, spent) in zip(wanted, found, strict=True):
        usage = added(usage, spent)
        if isinstance(altered, NoAnswer):
            failures[altered.code] += 1
            continue
        why = refusal(one.answer.response, altered)
        if why is not None:
            failures[why] += 1
            continue
        made.append(
            Twins(
                id=f"{one.id}#{one.error_type}",
                query=one.answer.query,
                context=one.answer.context,
                grounded=one.answer.response,
                altered=altered,
                error_type=one.error_type,
            )
        )
    return Adapted(tuple(made), failures, usage)


async def _altered(conversation: Conversation, wanted: _Wanted) -> str:
    said = await conversation.ask(ask(wanted.answer, wanted.error_type))
    return said.answer

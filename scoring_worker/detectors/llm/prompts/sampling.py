"""A further answer to the same query from the same context, for methods that compare a model with
itself (Manakul et al. 2023, "SelfCheckGPT", section 3)."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.llm.prompting import AnswerForm, Prompt, passages, prompt

SYSTEM: Final = """\
You answer a question from the context that is given with it and from nothing else. Write plain
prose of a few sentences. Where the context does not answer the question, say so.
"""


class SampledAnswer(AnswerForm):
    """One generation."""

    answer: str = Field(min_length=1)


def ask(answer: Answer) -> Prompt[SampledAnswer]:
    """The query of ``answer`` again."""
    material = {
        "QUESTION": answer.query or "What does the context say?",
        "CONTEXT": passages(answer.context),
    }
    return prompt("sampled_answer", SYSTEM, material, "Answer the question.", SampledAnswer)

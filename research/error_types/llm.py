"""Error types by an LLM: one question a claim, up to three types (paper, section 8)."""

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from research.detectors.llm.batch_calls import Asker, NoAnswer
from research.detectors.llm.prompting import (
    AnswerForm,
    Prompt,
    prompt,
    prompts_digest,
)
from research.detectors.llm.settings import MethodSettings
from safepassage.schemas.error_type import DESCRIPTIONS, ErrorType, ErrorTyping

from .contract import StoppedClaim

_TYPES = "\n".join(f"- {name}: {said}" for name, said in DESCRIPTIONS.items())
SYSTEM: Final = f"""\
You are given a claim from an answer and the passage that it should rest on. The passage does not
support the claim. Say what kind of error the claim makes. The types:
{_TYPES}
First give your reasoning: which words of the claim differ from the passage, and how, in one or
two short sentences. Then list the types that fit, the best first: one where one fits, three at
most.
"""
QUESTION: Final = "Which types of error does the claim make?"


class TypedAnswer(AnswerForm):
    """Reasoning first, then the types."""

    reasoning: str
    types: tuple[ErrorType, ...] = Field(min_length=1, max_length=3)


def ask(stopped: StoppedClaim) -> Prompt[TypedAnswer]:
    """The question about one claim."""
    material = {"PASSAGE": stopped.passage, "CLAIM": stopped.claim}
    return prompt("error_types", SYSTEM, material, QUESTION, TypedAnswer)


class LLMTyper:
    """Asks the configured LLM. What it does not answer stays untyped."""

    def __init__(self, settings: MethodSettings | None = None) -> None:
        self._asker = Asker(settings or MethodSettings())
        self._revision = prompts_digest(SYSTEM, TypedAnswer, self._asker.settings.model)

    def type_errors(self, claims: Sequence[StoppedClaim]) -> list[ErrorTyping | None]:
        """One typing per claim, in order, None where there is no answer. Blocks.

        Raises:
            AskingMisconfigured: the endpoint refuses every request.
        """
        found = self._asker.run(lambda talk, stopped: talk.ask(ask(stopped)), claims)
        return [None if isinstance(said, NoAnswer) else self._typing(said) for said, _ in found]

    def _typing(self, said: TypedAnswer) -> ErrorTyping:
        types = tuple(dict.fromkeys(said.types))
        return ErrorTyping(types=types, typed_by="llm", revision=self._revision)

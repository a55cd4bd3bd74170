"""An LLM's method as a detector: one conversation an answer, all answers at once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from safepassage.schemas import stable_id
from safepassage.scoring_worker.detectors.contract import Answer, Grounding

from .batch_calls import Asker, Conversation, NoAnswer


class Method(Protocol):
    """One way to ask. ``digest`` changes with its prompts."""

    @property
    def digest(self) -> str: ...

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """The grounding of one answer.

        Raises:
            NoAnswer: the LLM gave none that can be used.
        """
        ...


class LLMDetector:
    """Judges by ``method``, with the calls of ``asker``."""

    def __init__(self, name: str, method: Method, asker: Asker) -> None:
        self.name = name
        self.revision = stable_id("llm", name, asker.settings.model, method.digest)[:16]
        self._method = method
        self._asker = asker

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order, with what it took; failed calls are undetermined.

        Raises:
            AskingMisconfigured: the endpoint refuses every request.
        """
        found = self._asker.run(self._judge, answers)
        return [
            Grounding(None, judged.code, usage=usage)
            if isinstance(judged, NoAnswer)
            else replace(judged, usage=usage)
            for judged, usage in found
        ]

    def close(self) -> None:
        """Nothing is held open between calls."""

    async def _judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        if not answer.response.strip():
            return Grounding.undetermined("no_claims")
        if not any(text.strip() for text in answer.context):
            return Grounding.undetermined("no_context")
        return await self._method.judge(conversation, answer)

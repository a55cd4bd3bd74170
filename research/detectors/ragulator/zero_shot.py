"""The zero-shot baseline: an LLM says 0 or 1, and its log-probabilities say how sure it is.

RAGulator, appendix D: P(out of context) is the softmax over the two answers at the first token.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from openai import AsyncOpenAI

from research.detectors.llm.batch_calls import added
from research.detectors.llm.prompting import (
    MATERIAL,
    fenced,
    passages,
    prompts_digest,
)
from research.detectors.llm.settings import MethodSettings, method_settings
from safepassage.llm_calls.caller import Caller, Question, Spent
from safepassage.llm_calls.client import configured_client
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMError, LLMMisconfigured, LLMUnavailable, Malformed
from safepassage.llm_calls.price import priced
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.passages.granularity import claims
from safepassage.schemas import ChatCompletion, Usage
from safepassage.scoring_worker.detectors.contract import (
    Answer,
    ClaimGrounding,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.detectors.grounding import grounding_of
from safepassage.scoring_worker.manifest import ModelError

GROUNDED: Final = "0"
OUT_OF_CONTEXT: Final = "1"
TOP: Final = 20
DECIMALS = 6

SYSTEM: Final = f"""\
You check one sentence of an answer against the text that the answer was written from.

{GROUNDED}: the text says what the sentence says, or the sentence follows from the text alone.
{OUT_OF_CONTEXT}: anything less, even where the sentence may be true.

{MATERIAL}
Answer with the one digit {GROUNDED} or {OUT_OF_CONTEXT} and nothing else.
"""


class ZeroShot:
    """Asks about every sentence of an answer by itself; a failed call is undetermined."""

    name = "zero-shot"

    def __init__(self, settings: MethodSettings | None = None) -> None:
        self._settings = settings or MethodSettings()
        digest = prompts_digest(SYSTEM)
        self.revision = f"{digest}-{self._settings.model}"[:60].replace("/", "-")
        self._caller = Caller(
            model=self._settings.model,
            timeout=self._settings.llm_timeout_seconds,
            retries=RetryPolicy(
                attempts=self._settings.llm_attempts,
                first_wait=self._settings.llm_first_wait_seconds,
            ),
            options={"temperature": 0.0, "logprobs": True, "top_logprobs": TOP},
        )

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order.

        Blocks: it runs an event loop of its own, so the calling thread must not have one.

        Raises:
            ModelError: the endpoint refuses every request.
        """
        return asyncio.run(self._ground_all(answers))

    def close(self) -> None:
        """Nothing is held open between calls."""

    async def _ground_all(self, answers: Sequence[Answer]) -> list[Grounding]:
        settings = self._settings
        limit = AdaptiveLimit(settings.llm_concurrency, overload=LLMUnavailable)
        async with configured_client(settings) as client:
            asked = [
                asyncio.gather(
                    *(self._claim(client, limit, answer, *at) for at in claims(answer.response))
                )
                for answer in answers
            ]
            return [_of_claims(await one) for one in asked]

    async def _claim(
        self, client: AsyncOpenAI, limit: AdaptiveLimit, answer: Answer, start: int, end: int
    ) -> tuple[ClaimGrounding, Usage | None]:
        """What is said of one sentence, and what asking took; None where nothing was asked."""
        if not any(text.strip() for text in answer.context):
            return ClaimGrounding(start, end, None, "no_context"), None
        material = {"TEXT": passages(answer.context), "SENTENCE": answer.response[start:end]}
        messages = (
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": fenced(material)},
        )
        characters = sum(len(message["content"]) for message in messages)
        if characters > self._settings.max_prompt_characters:
            return ClaimGrounding(start, end, None, "prompt_too_long"), None
        spent = Spent(budget=self._settings.token_budget)
        try:
            out = await self._caller.ask(
                client, Question(messages, None), _read, limit=limit, spent=spent
            )
        except LLMMisconfigured as error:
            raise ModelError(f"the LLM: {error}; check OPENAI_BASE_URL and the model") from None
        except LLMError as error:
            said = ClaimGrounding(start, end, None, error.code)
        else:
            said = ClaimGrounding(start, end, round(1.0 - out, DECIMALS))
        return said, priced(spent.usage(), self._settings)


def _of_claims(found: Sequence[tuple[ClaimGrounding, Usage | None]]) -> Grounding:
    """The answer of its sentences, with the tokens and the time of all calls together."""
    usages = [usage for _, usage in found if usage is not None]
    usage = reduce(added, usages) if usages else None
    return replace(grounding_of(tuple([said for said, _ in found])), usage=usage)


def out_of_context(first_token: Mapping[str, float]) -> float | None:
    """P("1") of "0" and "1" by their log-probabilities; None where neither is told.

    One that is not among the likeliest is at most as likely as the least of these.
    """
    told: dict[str, float] = {}
    for token, logprob in first_token.items():
        digit = token.strip()
        if digit in (GROUNDED, OUT_OF_CONTEXT):
            told[digit] = max(logprob, told.get(digit, -math.inf))
    if not told:
        return None
    floor = min(first_token.values())
    zero, one = (told.get(digit, floor) for digit in (GROUNDED, OUT_OF_CONTEXT))
    return 1.0 / (1.0 + math.exp(min(700.0, zero - one)))


def _read(completion: ChatCompletion) -> float:
    found = out_of_context(completion.tokens[0][1] if completion.tokens else {})
    if found is None:
        raise Malformed("the endpoint tells no log-probabilities of 0 and 1")
    return found


def load_zero_shot(settings: DetectorSettings) -> ZeroShot:
    """The baseline at the endpoint that ``settings`` name, or the environment's."""
    return ZeroShot(method_settings(settings))

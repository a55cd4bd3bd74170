"""The grade of one pair: how likely the LLM says that it is supported, or why it is missing."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from openai import AsyncOpenAI
from pydantic import ValidationError

from safepassage.llm_calls.budget import TokenBudget
from safepassage.llm_calls.caller import Caller, Completion, Question, RetryPolicy, Spent
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import (
    LLMError,
    LLMMisconfigured,
    LLMTimeout,
    LLMUnavailable,
    Malformed,
    SchemaMismatch,
)
from safepassage.schemas import Reason, Usage
from safepassage.scoring_worker.manifest import ModelError

from .llm_prompt import Grade, messages, response_format

LABELS: Final = ("supports", "insufficient")
_LABEL: Final = re.compile(r'"label"\s*:\s*"')
ALTERNATIVES: Final = 10
"""Tokens that are asked for at each place; the two labels are among them."""


class GraderMisconfigured(ModelError):
    """The endpoint refuses every request: the address, the key or the model is wrong."""


class GradeFailed(Exception):
    """One pair has no grade. The message quotes nothing that the endpoint said."""

    def __init__(self, reason: Reason, detail: str, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.usage = usage or Usage()


class Asking:
    """Asks for grades, and counts what they took.

    Args:
        timeout: seconds without a token, after which an attempt is given up.
        attempts: in all, for what may pass: 429, 5xx, a lost connection, a malformed answer.
        first_wait: seconds; waits double, with jitter.
        budget: of tokens; what it does not reach has no grade.
        options: further fields of the request.
    """

    def __init__(
        self,
        *,
        model: str,
        timeout: float,
        attempts: int,
        first_wait: float,
        budget: TokenBudget | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        # An answer in another form may be a better one the next time: a grade is short.
        retries = RetryPolicy(
            attempts=attempts,
            budget=None,
            first_wait=first_wait,
            retried=(LLMUnavailable, Malformed, SchemaMismatch),
        )
        self._caller = Caller(model=model, timeout=timeout, retries=retries, options=options)
        self._budget = budget

    async def ask(
        self, client: AsyncOpenAI, premise: str, hypothesis: str, *, limit: AdaptiveLimit
    ) -> tuple[float, Usage]:
        """p(supports) of one pair, and the tokens of all attempts.

        Raises:
            GradeFailed: all attempts failed, or no answer can be had.
            GraderMisconfigured: no request will ever be answered.
        """
        question = Question(messages(premise, hypothesis), response_format())
        spent = Spent(budget=self._budget)
        try:
            said = await self._caller.ask(client, question, _grade, limit=limit, spent=spent)
        except LLMMisconfigured as error:
            raise GraderMisconfigured(
                f"the grader: {error}; check OPENAI_BASE_URL, OPENAI_API_KEY and "
                "SAFEPASSAGE_GRADER_MODEL"
            ) from None
        except LLMError as error:
            timed_out = isinstance(error, LLMTimeout)
            reason: Reason = "scorer_timeout" if timed_out else "scorer_failed"
            raise GradeFailed(reason, str(error), spent.usage()) from None
        return said, spent.usage()


def _grade(completion: Completion) -> float:
    """p(supports) in an answer: by the log-probabilities of its label, where the endpoint tells
    them; else 1 or 0. Only the JSON field ``label`` decides."""
    try:
        label = Grade.model_validate_json(completion.content).label
    except ValidationError:
        raise SchemaMismatch("the answer is not a grade") from None
    told = _label_probability(completion)
    return float(label == "supports") if told is None else told


def _label_probability(completion: Completion) -> float | None:
    """p(supports) against p(insufficient) where the label begins; None where that is not told."""
    *_, start = [0, *(found.end() for found in _LABEL.finditer(completion.content))]
    if not start or "".join(token for token, _ in completion.tokens) != completion.content:
        return None
    at = 0
    for token, likeliest in completion.tokens:
        if at <= start < at + len(token):
            return _supports(token[: start - at], likeliest)
        at += len(token)
    return None


def _supports(before: str, likeliest: Mapping[str, float]) -> float | None:
    """p(supports) where each of the ``likeliest`` tokens with ``before`` in front begins a label.
    A label that is not one of them has at most the probability of the least likely one, and what
    they leave."""
    found = dict.fromkeys(LABELS, 0.0)
    for token, logprob in likeliest.items():
        begun = token.removeprefix(before).rstrip('"} \n')
        for label in LABELS:
            if token.startswith(before) and begun and (label + '"').startswith(begun):
                found[label] += math.exp(logprob)
    if not any(found.values()):
        return None
    told = [math.exp(logprob) for logprob in likeliest.values()]
    least = max(0.0, min(*told, 1 - sum(told)))
    yes, no = (found[label] or least for label in LABELS)
    return yes / (yes + no)

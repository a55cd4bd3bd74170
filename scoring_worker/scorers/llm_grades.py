"""The grade of one pair: how likely the LLM says that it is supported, or why it is missing."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from openai import AsyncOpenAI

from safepassage.llm_calls.budget import TokenBudget
from safepassage.llm_calls.caller import Caller, Completion, Spent
from safepassage.llm_calls.concurrency import AdaptiveLimit
from safepassage.llm_calls.errors import LLMError, LLMMisconfigured, LLMTimeout
from safepassage.llm_calls.retrying import RetryPolicy
from safepassage.schemas import Reason, Usage
from safepassage.scoring_worker.manifest import ModelError

from .llm_forms import LLMForm

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
        form: how the model is asked.
        timeout: seconds without a token, after which an attempt is given up.
        budget: of tokens; what it does not reach has no grade.
        options: further fields of the request.
    """

    def __init__(
        self,
        *,
        form: LLMForm,
        model: str,
        timeout: float,
        retries: RetryPolicy,
        budget: TokenBudget | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._caller = Caller(model=model, timeout=timeout, retries=retries, options=options)
        self._form = form
        self._budget = budget

    async def ask(
        self, client: AsyncOpenAI, premise: str, hypothesis: str, *, limit: AdaptiveLimit
    ) -> tuple[float, Usage]:
        """p(supports) of one pair, and the tokens of all attempts.

        Raises:
            GradeFailed: all attempts failed, or no answer can be had.
            GraderMisconfigured: no request will ever be answered.
        """
        question, read = self._form.question(premise, hypothesis), partial(_grade, self._form)
        spent = Spent(budget=self._budget)
        try:
            said = await self._caller.ask(client, question, read, limit=limit, spent=spent)
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


def _grade(form: LLMForm, completion: Completion) -> float:
    """p(yes) in an answer: by the log-probabilities of its label, where the endpoint tells them;
    else 1 or 0."""
    yes, start = form.label(completion.content)
    told = _label_probability(form, completion, start)
    return float(yes) if told is None else told


def _label_probability(form: LLMForm, completion: Completion, start: int) -> float | None:
    """p(yes) against p(no) where the label begins; None where that is not told."""
    if "".join(token for token, _ in completion.tokens) != completion.content:
        return None
    at = 0
    for token, likeliest in completion.tokens:
        if at <= start < at + len(token):
            return _says_yes(form, token[: start - at], likeliest)
        at += len(token)
    return None


def _says_yes(form: LLMForm, before: str, likeliest: Mapping[str, float]) -> float | None:
    """p(yes) where each of the ``likeliest`` tokens with ``before`` in front begins a label. A
    label that is not one of them has at most the probability of the least likely one, and what
    they leave."""
    found = {form.yes: 0.0, form.no: 0.0}
    for token, logprob in likeliest.items():
        begun = token.removeprefix(before).rstrip('"}< \n')
        for label in found:
            if token.startswith(before) and begun and form.begins(label, begun):
                found[label] += math.exp(logprob)
    if not any(found.values()):
        return None
    told = [math.exp(logprob) for logprob in likeliest.values()]
    least = max(0.0, min(*told, 1 - sum(told)))
    yes, no = (probability or least for probability in found.values())
    return yes / (yes + no)

"""The grade of one pair: what the LLM answered, or why there is none."""

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
        timeout: seconds of one attempt.
        attempts: in all, for what may pass: 429, 5xx, a lost connection, a malformed answer.
        first_wait: seconds; waits double, with jitter.
        budget: of tokens; what it does not reach has no grade.
    """

    def __init__(
        self,
        *,
        model: str,
        timeout: float,
        attempts: int,
        first_wait: float,
        budget: TokenBudget | None = None,
    ) -> None:
        # An answer in another form may be a better one the next time: a grade is short.
        retries = RetryPolicy(
            attempts=attempts,
            budget=None,
            first_wait=first_wait,
            retried=(LLMUnavailable, Malformed, SchemaMismatch),
        )
        self._caller = Caller(model=model, timeout=timeout, retries=retries)
        self._budget = budget

    async def ask(
        self, client: AsyncOpenAI, premise: str, hypothesis: str, *, limit: AdaptiveLimit
    ) -> tuple[Grade, Usage]:
        """The grade of one pair, and the tokens of all attempts.

        Raises:
            GradeFailed: there is none after all attempts, or none can be had.
            GraderMisconfigured: no request will ever be answered.
        """
        question = Question(messages(premise, hypothesis), response_format())
        spent = Spent(budget=self._budget)
        try:
            grade = await self._caller.ask(client, question, _grade, limit=limit, spent=spent)
        except LLMMisconfigured as error:
            raise GraderMisconfigured(
                f"the grader: {error}; check OPENAI_BASE_URL, OPENAI_API_KEY and "
                "SAFEPASSAGE_GRADER_MODEL"
            ) from None
        except LLMError as error:
            timed_out = isinstance(error, LLMTimeout)
            reason: Reason = "scorer_timeout" if timed_out else "scorer_failed"
            raise GradeFailed(reason, str(error), spent.usage()) from None
        return grade, spent.usage()


def _grade(completion: Completion) -> Grade:
    """The grade in an answer. Only its JSON field ``label`` decides."""
    try:
        return Grade.model_validate_json(completion.content)
    except ValidationError:
        raise SchemaMismatch("the answer is not a grade") from None

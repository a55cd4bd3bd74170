"""What can go wrong between a question to an LLM and its answer.

No message quotes a document or an answer: both may hold what must not be logged.
"""

from typing import ClassVar


class LLMError(Exception):
    """There is no answer, and why. ``code`` is stable and countable.

    ``retryable`` says whose fault it is: True where the same question may succeed later.
    """

    code: ClassVar[str] = "llm_failed"
    retryable: ClassVar[bool] = False


class LLMUnavailable(LLMError):
    """The endpoint gave no answer. ``retry_after`` is what it asked for, in seconds."""

    code = "llm_unavailable"
    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LLMTimeout(LLMUnavailable):
    """The endpoint did not answer in time. ``passed_over``: it worked on other calls meanwhile, and
    had not begun with this one."""

    def __init__(self, message: str, *, passed_over: bool = False) -> None:
        super().__init__(message)
        self.passed_over = passed_over


class BudgetSpent(LLMError):
    """The tokens that may be asked for are used up."""

    code = "budget_spent"


class LLMRejected(LLMError):
    """The endpoint refused the request, e.g. as longer than the model's window."""

    code = "llm_rejected"


class LLMMisconfigured(LLMRejected):
    """The endpoint refuses every request: the deployment is wrong, not the document."""

    code = "llm_misconfigured"
    retryable = True


class AnswerError(LLMError):
    """The LLM answered with something that cannot be used."""

    code = "answer_unusable"


class Refused(AnswerError):
    """The model declined to answer, or a content filter withheld the answer."""

    code = "answer_refused"


class Truncated(AnswerError):
    """The answer broke off at the model's token limit."""

    code = "answer_truncated"


class TooLarge(AnswerError):
    """The response had more bytes than are read."""

    code = "answer_too_large"


class Malformed(AnswerError):
    """The answer is not JSON."""

    code = "answer_malformed"


class SchemaMismatch(AnswerError):
    """The answer is JSON, but not of the schema that was asked for."""

    code = "answer_schema_mismatch"


def first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """One of the errors of a group, where they all say the same."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

"""The OpenAI client's errors as ours.

The client's own quote what the endpoint said, and that may quote the document. They stop here.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import httpx2
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    BadRequestError,
    UnprocessableEntityError,
)

from .errors import LLMMisconfigured, LLMRejected, LLMTimeout, LLMUnavailable

_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})  # and every 5xx


_OPTIONS = {
    option: re.compile(words)
    for option, words in (
        ("temperature", r"\btemperature\b"),
        ("max_tokens", r"\bmax_tokens\b"),
        ("max_completion_tokens", r"\bmax_completion_tokens\b"),
        ("stream_options", r"\bstream_options\b"),
        ("stream", r"\bstream(ing)?\b"),
        ("top_logprobs", r"\btop_logprobs\b"),
        ("logprobs", r"\blogprobs\b"),
        ("return_progress", r"\breturn_progress\b"),
        ("response_format", r"response_format|json_schema|strict|schema"),
    )
}
"""Fields of a request that not every endpoint knows, and how an error names them."""


class OptionRefused(LLMRejected):
    """The endpoint does not take some field of the request: ``named`` are the fields that its error
    names."""

    def __init__(self, message: str, named: Sequence[str]) -> None:
        super().__init__(message)
        self.named = named


@contextmanager
def api_errors() -> Iterator[None]:
    """Turns what the client raises inside the block into `LLMUnavailable` or `LLMRejected`."""
    try:
        yield
    except (APIConnectionError, httpx2.HTTPError) as error:  # the second while a body is read
        raise _connection_failure(error) from None
    except APIStatusError as error:
        raise _status_error(error) from None
    except APIError:
        raise LLMUnavailable("the endpoint answered something that is no completion") from None


def _connection_failure(error: Exception) -> LLMUnavailable:
    kind = type(error.__cause__ or error).__name__
    failure = LLMTimeout if "Timeout" in kind else LLMUnavailable
    return failure(f"no answer from the endpoint ({kind})")


def _status_error(error: APIStatusError) -> LLMUnavailable | LLMRejected:
    status = error.status_code
    if status in _TRANSIENT_STATUSES or status >= 500:
        retry_after = _retry_after(error.response.headers.get("retry-after"))
        return LLMUnavailable(f"the endpoint answered {status}", retry_after=retry_after)
    if isinstance(error, BadRequestError | UnprocessableEntityError) and (named := _named(error)):
        return OptionRefused(f"the endpoint answered {status}: no {named[0]}", named)
    refusal = LLMMisconfigured if _concerns_every_request(error) else LLMRejected
    return refusal(f"the endpoint answered {status} ({_code(error)})")


def _concerns_every_request(error: APIStatusError) -> bool:
    if error.status_code == 404:  # a wrong address or model; with another code, this request
        return error.code in (None, "model_not_found")
    return error.status_code in (401, 403, 405)


def _named(error: APIStatusError) -> list[str]:
    said = f"{error.param} {error.message}".lower()
    return [option for option, words in _OPTIONS.items() if words.search(said)]


def _code(error: APIStatusError) -> str:
    """The endpoint's own code of the error, as far as it looks like one."""
    code = error.code or error.type or ""
    return code if code.replace("_", "").isalnum() and len(code) <= 64 else "no code"


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait by a Retry-After header: a number, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None

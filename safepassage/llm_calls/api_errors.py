"""The OpenAI client's errors as ours.

The client's own quote what the endpoint said, and that may quote the document. They stop here.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    BadRequestError,
    UnprocessableEntityError,
)

from .errors import LLMMisconfigured, LLMRejected, LLMTimeout, LLMUnavailable

_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})  # and every 5xx


class FormRefused(LLMRejected):
    """The endpoint does not know ``response_format`` of type ``json_schema``."""


@contextmanager
def api_errors() -> Iterator[None]:
    """Turns what the client raises inside the block into `LLMUnavailable` or `LLMRejected`."""
    try:
        yield
    except TimeoutError:
        raise LLMTimeout("the endpoint did not answer in time") from None
    except APIConnectionError as error:
        raise _connection_failure(error) from None
    except APIStatusError as error:
        raise _status_error(error) from None
    except APIError:
        raise LLMUnavailable("the endpoint answered something that is no completion") from None


def _connection_failure(error: APIConnectionError) -> LLMUnavailable:
    kind = type(error.__cause__ or error).__name__
    failure = LLMTimeout if "Timeout" in kind else LLMUnavailable
    return failure(f"no answer from the endpoint ({kind})")


def _status_error(error: APIStatusError) -> LLMUnavailable | LLMRejected:
    status = error.status_code
    if status in _TRANSIENT_STATUSES or status >= 500:
        retry_after = _retry_after(error.response.headers.get("retry-after"))
        return LLMUnavailable(f"the endpoint answered {status}", retry_after=retry_after)
    if isinstance(error, BadRequestError | UnprocessableEntityError) and _names_the_form(error):
        return FormRefused(f"the endpoint answered {status}: no json_schema")
    refusal = LLMMisconfigured if _concerns_every_request(error) else LLMRejected
    return refusal(f"the endpoint answered {status} ({_code(error)})")


def _concerns_every_request(error: APIStatusError) -> bool:
    if error.status_code == 404:  # a wrong address or model; with another code, this request
        return error.code in (None, "model_not_found")
    return error.status_code in (401, 403, 405)


def _names_the_form(error: APIStatusError) -> bool:
    said = f"{error.param} {error.message}".lower()
    return any(word in said for word in ("response_format", "json_schema", "strict", "schema"))


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

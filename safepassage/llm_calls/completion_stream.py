"""One chat completion from the body of a response: in one piece, or as server-sent events."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from openai import AsyncAPIResponse
from pydantic import BaseModel, TypeAdapter, ValidationError

from safepassage.schemas import ChatCompletion
from safepassage.schemas.chat_completion import CompletionChunk, joined

from .errors import LLMUnavailable

_FIELD: Final = "data:"
_END: Final = "[DONE]"


async def read_completion(
    response: AsyncAPIResponse[Any], progressed: Callable[[], None]
) -> ChatCompletion:
    """The answer in ``response``; ``progressed`` hears of each token of a stream as it comes.

    An endpoint may answer in one piece though it was asked for a stream. Raises `LLMUnavailable`
    where the body is no completion, or broke off."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return await _streamed(response, progressed)
    body = await response.read()
    progressed()
    try:
        return ChatCompletion.model_validate_json(body)
    except ValidationError:
        # A proxy's page or half a response: a fault of the way, not of the document.
        raise LLMUnavailable("the endpoint answered something that is no completion") from None


async def _streamed(
    response: AsyncAPIResponse[Any], progressed: Callable[[], None]
) -> ChatCompletion:
    chunks: list[CompletionChunk] = []
    async for event in _events(response):
        try:
            chunk = _EVENT.validate_json(event)
        except ValidationError:
            raise LLMUnavailable("the endpoint streamed something that is no completion") from None
        if isinstance(chunk, _Failure):
            raise LLMUnavailable("the endpoint failed within its answer")
        chunks.append(chunk)
        if chunk.is_progress:
            progressed()
    if (answer := joined(chunks)) is None:
        raise LLMUnavailable("the answer broke off")
    return answer


async def _events(response: AsyncAPIResponse[Any]) -> AsyncIterator[str]:
    """The data of each event, a line each with every endpoint known. Other lines are comments,
    which keep a connection open."""
    async for line in response.iter_lines():
        if line.startswith(_FIELD):
            event = line.removeprefix(_FIELD).strip()
            if event == _END:
                return
            yield event


class _Failure(BaseModel):
    error: dict[str, object] | str


_EVENT: TypeAdapter[_Failure | CompletionChunk] = TypeAdapter(_Failure | CompletionChunk)

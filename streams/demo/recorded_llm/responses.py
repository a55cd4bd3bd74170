"""Completions of the recorded LLM, right and wrong ones."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from safepassage.schemas import stable_id

from .faults import Fault, Faults
from .requests import RECORDING_HEADERS, ApiError, Question, count_tokens

MODEL = "recorded"


def refuse(fault: Fault | None, question: Question, faults: Faults) -> None:
    """Raises what a fault answers in place of a completion, as far as that is an error."""
    if fault is Fault.RATE_LIMIT:
        wait = f"{faults.retry_after:g}"
        raise ApiError(429, "rate_limit_exceeded", "as scheduled", retry_after=wait)
    if fault is Fault.SERVER_ERROR:
        raise ApiError(500, "server_error", "as scheduled")
    form = question.response_format
    if fault is Fault.NO_JSON_SCHEMA and form and form.type == "json_schema":
        message = "response_format of type json_schema is not supported"
        raise ApiError(400, "invalid_request_error", message)


def _page() -> Response:
    return Response("<html>it works</html>", media_type="text/html", headers=RECORDING_HEADERS)


def _flood() -> Response:
    async def spaces() -> AsyncIterator[bytes]:
        for _ in range(1024):
            yield b" " * 65_536

    return StreamingResponse(spaces(), media_type="application/json", headers=RECORDING_HEADERS)


BODIES = {Fault.GARBAGE: _page, Fault.OVERSIZED: _flood}


def drip(completion: dict[str, Any], seconds: float) -> Response:
    """``completion``, a byte at a time."""

    async def drops() -> AsyncIterator[bytes]:
        for byte in json.dumps(completion).encode():
            yield bytes([byte])
            await asyncio.sleep(seconds)

    return StreamingResponse(drops(), media_type="application/json", headers=RECORDING_HEADERS)


def completion_body(question: Question, content: str, fault: Fault | None) -> dict[str, Any]:
    """A chat completion with ``content``, spoilt by ``fault``."""
    message, finish_reason = _message(content, fault)
    tokens = count_tokens(content)
    return {
        "id": "chatcmpl-recorded-" + stable_id("completion", question.prompt),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "system_fingerprint": "recording",
        "choices": [
            {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}
        ],
        "usage": {
            "prompt_tokens": question.tokens,
            "completion_tokens": tokens,
            "total_tokens": question.tokens + tokens,
        },
    }


def _message(content: str, fault: Fault | None) -> tuple[dict[str, Any], str]:
    """The message and its finish reason, as the fault leaves them."""
    refusal, finish_reason = None, "stop"
    if fault is Fault.MALFORMED:
        content = content[: len(content) // 2] + "…"
    elif fault is Fault.MISMATCH:
        content = '{"unexpected": true}'
    elif fault is Fault.TRUNCATED:
        content, finish_reason = content[: len(content) // 2], "length"
    elif fault is Fault.REFUSAL:
        content, refusal = "", "I cannot help with that."
    elif fault is Fault.CONTENT_FILTER:
        content, finish_reason = "", "content_filter"
    message = {"role": "assistant", "content": content or None, "refusal": refusal}
    return message, finish_reason

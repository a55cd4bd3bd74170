"""A loopback server with the OpenAI API that answers from recorded extractions.

It takes the place of an LLM in the demo and the tests, behind the real client. It says of itself
that it is a recording: model ``recorded``, ``system_fingerprint`` "recording", and the header
``X-SafePassage-Recording``. It serves ``POST /v1/chat/completions``, ``GET /v1/models`` and
``GET /health``.
"""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.answers import Finding
from safepassage.agents.extraction.prompt import fenced_text
from safepassage.schemas import stable_id
from safepassage.service.quiet_server import quiet_server

from .answers import Unanswerable, answer
from .recording import Recording
from .requests import RECORDING_HEADERS, ApiError, Question, count_tokens, read_question

MODEL = "recorded"


class Endpoint:
    """The routes of a server that answers for ``recording``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def app(self) -> Starlette:
        """The server's application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/v1/models", self.models),
                Route("/health", self.health),
            ]
        )

    async def health(self, _request: Request) -> Response:
        return JSONResponse(
            {"status": "ok", "documents": len(self._recording)}, headers=RECORDING_HEADERS
        )

    async def models(self, _request: Request) -> Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "safepassage"}
        return JSONResponse({"object": "list", "data": [model]}, headers=RECORDING_HEADERS)

    async def complete(self, request: Request) -> Response:
        try:
            question = await read_question(request)
            completion = completion_body(question, self.content(question))
        except ApiError as error:
            return error.response()
        return JSONResponse(completion, headers=RECORDING_HEADERS)

    def content(self, question: Question) -> str:
        """The recorded answer, as JSON.

        Raises:
            ApiError: the document or the schema of the question is not of the recording.
        """
        findings = self._findings(question.prompt)
        if findings is None:
            raise ApiError(
                404, "document_not_recorded", "the text in the prompt is of no recorded document"
            )
        try:
            return json.dumps(answer(findings, question.schema_asked), ensure_ascii=False)
        except Unanswerable as error:
            raise ApiError(422, "recording_does_not_fit", str(error)) from None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ApiError(400, "invalid_response_format", "that is no JSON schema") from None

    def _findings(self, prompt: str) -> list[Finding] | None:
        text = fenced_text(prompt)
        return self._recording.find_in(prompt) if text is None else self._recording.find(text)


@contextlib.asynccontextmanager
async def serve(app: Starlette, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serves ``app`` while the block runs, and gives it the base URL for clients.

    Port 0 takes a free one. Signals are left to the caller.

    Raises:
        OSError: the port is taken.
    """
    listener = socket.create_server((host, port))
    server = quiet_server(app, drain_seconds=1)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{host}:{listener.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        await running
        listener.close()


def completion_body(
    question: Question,
    content: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
) -> dict[str, Any]:
    """A chat completion with ``content``."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    tokens = count_tokens(content or "")
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

"""What the recorded LLM reads of a request, and the errors that it answers with."""

import math
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from safepassage.schemas import validation_summary

MAX_REQUEST_BYTES = 64 * 1024 * 1024
RECORDING_HEADERS = {"X-SafePassage-Recording": "these answers were recorded, no model is running"}
_CHARACTERS_PER_TOKEN = 4


class _Message(BaseModel):
    role: str
    content: str


class _JsonSchema(BaseModel):
    name: str = ""
    json_schema: dict[str, Any] = Field(default_factory=dict, alias="schema")


class _ResponseFormat(BaseModel):
    type: str
    json_schema: _JsonSchema | None = None


class Question(BaseModel):
    """What is read of a request for a chat completion."""

    messages: list[_Message] = Field(min_length=1)
    response_format: _ResponseFormat | None = None

    @property
    def prompt(self) -> str:
        return self.messages[-1].content

    @property
    def schema_asked(self) -> dict[str, Any] | None:
        form = self.response_format
        return form.json_schema.json_schema if form and form.json_schema else None

    @property
    def tokens(self) -> int:
        return sum(count_tokens(message.content) for message in self.messages)


class ApiError(Exception):
    """An error in the form of the OpenAI API."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers

    def response(self) -> Response:
        body = {"error": {"message": f"recorded LLM: {self}", "type": self.code, "code": self.code}}
        headers = {name.replace("_", "-"): value for name, value in self.headers.items()}
        return JSONResponse(body, self.status, headers=RECORDING_HEADERS | headers)


async def read_question(request: Request) -> Question:
    """The question in a request.

    Raises:
        ApiError: it is too large, or not one that a recording can answer.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_REQUEST_BYTES:
            raise ApiError(413, "request_too_large", "the request is too large")
    try:
        question = Question.model_validate_json(body)
    except ValidationError as error:
        raise ApiError(400, "invalid_request", validation_summary(error)) from None
    return question


def count_tokens(text: str) -> int:
    """An estimate: a recording has no tokeniser."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)

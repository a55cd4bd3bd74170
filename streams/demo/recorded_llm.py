"""A recorded LLM: a server with the OpenAI API that answers from recorded extractions.

It takes the place of an LLM in the demo, in benchmarks and in the tests, behind the real client.
It answers the generic schema of entity types and no user's classes. It says of itself that it is a
recording: model ``recorded``, and the header ``X-SafePassage-Recording``.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.answers import Finding
from safepassage.agents.extraction.generic_schema import schema_value
from safepassage.agents.extraction.prompt import fenced_text
from safepassage.schemas import (
    Document,
    Extraction,
    LabelledExtraction,
    stable_id,
    validation_summary,
)

from .corpus import rows

MODEL = "recorded"
HEADERS = {"X-SafePassage-Recording": "these answers were recorded, no model is running"}


class Recording:
    """Extractions by the text that they were made from; no label and no id leaves it.

    Documents with the same text share their answers. ``unmatched`` counts the extractions whose
    document was not given: a recording may be of some of the documents.
    """

    def __init__(self, documents: Iterable[Document], extractions: Iterable[Extraction]) -> None:
        self._owners: defaultdict[str, list[str]] = defaultdict(list)
        versions: defaultdict[str, list[str]] = defaultdict(list)
        for document in documents:
            self._owners[document.text].append(document.id)
            versions[document.id].append(_flat(document.text))
        self._rows: defaultdict[str, list[tuple[Finding, str]]] = defaultdict(list)
        self.unmatched = 0
        for row in extractions:
            context = _flat(row.context)
            held = any(context in text for text in versions.get(row.doc_id, ()))
            finding = Finding(row.entity_type, row.value, row.context)
            self._rows[row.doc_id].append((finding, context if held else ""))
            self.unmatched += row.doc_id not in versions

    @classmethod
    def read(cls, documents: Path, extractions: Path) -> Recording:
        """A recording from two JSONL(.gz) files. Raises `ValueError` where a line is no row; the
        message names file and line."""
        return cls(rows(documents, Document), rows(extractions, LabelledExtraction))

    def __len__(self) -> int:
        return len(self._owners)

    def find(self, text: str) -> list[Finding] | None:
        """What was extracted from ``text``, a document or a part of one; None if it is neither.
        A part has the findings whose context is in it. The first part also has those whose context
        is nowhere in their document."""
        holding = (whole for whole in self._owners if text and text in whole)
        whole = text if text in self._owners else next(holding, None)
        if whole is None:
            return None
        flat, is_first = _flat(text), whole.startswith(text)
        found: list[Finding] = []
        for owner in self._owners[whole]:
            for finding, context in self._rows[owner]:
                if (context in flat if context else is_first) and finding not in found:
                    found.append(finding)
        return found


def _flat(text: str) -> str:
    return " ".join(text.split())


class _Message(BaseModel):
    content: str


class Question(BaseModel):
    messages: list[_Message] = Field(min_length=1)
    response_format: dict[str, Any] = {}

    @property
    def prompt(self) -> str:
        return self.messages[-1].content


class Endpoint:
    """``POST /v1/chat/completions`` and ``GET /v1/models``, answered from ``recording``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def app(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self.complete, methods=["POST"]),
            Route("/v1/models", self._models),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _refused})

    async def complete(self, request: Request) -> Response:
        question = await read_question(request)
        return JSONResponse(completion_body(question, self.content(question)), headers=HEADERS)

    def content(self, question: Question) -> str:
        """The recorded answer, as JSON. Raises `HTTPException` where the text or the schema of the
        question is not of the recording."""
        findings = self._recording.find(fenced_text(question.prompt) or "")
        if findings is None:
            # No 404: to a client that would be a wrong address, and a worker would stop for it.
            raise HTTPException(422, "the text in the prompt is of no recorded document")
        asked = _asked_types(question.response_format)
        entities = [
            {"entity_type": f.entity_type, "value": schema_value(f.value), "context": f.context}
            for f in findings
            if asked is None or f.entity_type in asked
        ]
        return json.dumps({"entities": entities}, ensure_ascii=False)

    async def _models(self, _request: Request) -> Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "safepassage"}
        return JSONResponse({"object": "list", "data": [model]}, headers=HEADERS)


async def read_question(request: Request) -> Question:
    """The question in a request. Raises `HTTPException` where it is not one that a recording can
    answer."""
    try:
        return Question.model_validate_json(await request.body())
    except ValidationError as error:
        raise HTTPException(400, validation_summary(error)) from None


def completion_body(question: Question, content: str) -> dict[str, Any]:
    """A chat completion with ``content``. Tokens are an estimate: four characters each."""
    message = {"role": "assistant", "content": content, "refusal": None}
    prompt = "".join(message.content for message in question.messages)
    asked, said = (len(text) // 4 + 1 for text in (prompt, content))
    return {
        "id": "chatcmpl-recorded-" + stable_id("completion", question.prompt),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


def _asked_types(response_format: dict[str, Any]) -> Sequence[str] | None:
    if response_format.get("type") != "json_schema":
        return None
    try:
        entities = response_format["json_schema"]["schema"]["properties"]["entities"]
        types: Sequence[str] | None = entities["items"]["properties"]["entity_type"].get("enum")
    except (KeyError, TypeError, AttributeError):
        raise HTTPException(422, "a recording answers for entity types, not for classes") from None
    return types


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - the handler of that class
    body = {"error": {"message": f"recorded LLM: {error.detail}", "type": "recording"}}
    return JSONResponse(body, error.status_code, headers=HEADERS | dict(error.headers or {}))

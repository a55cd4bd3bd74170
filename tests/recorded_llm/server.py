"""The demo's recorded LLM with faults by schedule, and with answers to questions of any schema.

A request with the header ``X-SafePassage-Fault: <name>`` meets that fault; `Faults` describes
faults by schedule.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from safepassage.schemas import Document, Extraction
from safepassage.streams.demo.recorded_llm import (
    HEADERS,
    Endpoint,
    Question,
    Recording,
    completion_body,
    read_question,
)

from .by_question import RecordedAnswers
from .faults import Fault, Faults

FAULT_HEADER = "x-safepassage-fault"


def create_app(
    documents: Iterable[Document],
    extractions: Iterable[Extraction],
    *,
    faults: Faults | None = None,
) -> Starlette:
    """The server's application, for a recording of ``extractions`` from ``documents``."""
    return recorded_app(Recording(documents, extractions), faults=faults)


def recorded_app(
    recording: Recording, *, faults: Faults | None = None, answers: RecordedAnswers | None = None
) -> Starlette:
    """The same for a recording that was read already. ``answers`` are to questions that are no
    extraction, and are looked for first."""
    return FaultyEndpoint(recording, faults or Faults(), answers or RecordedAnswers()).app


class FaultyEndpoint(Endpoint):
    def __init__(self, recording: Recording, faults: Faults, answers: RecordedAnswers) -> None:
        super().__init__(recording)
        self._answers = answers
        self._faults = faults
        self._requests = 0

    async def complete(self, request: Request) -> Response:
        fault = self._fault(request)
        question = await read_question(request)
        refuse(fault, question, self._faults)
        if fault is Fault.HANG:
            await _silence(request, self._faults.hang_seconds)
        if fault in BODIES:
            return BODIES[fault]()
        completion = spoilt(question, self.content(question), fault)
        if fault is Fault.DRIP:
            return drip(completion, self._faults.drip_seconds)
        return JSONResponse(completion, headers=HEADERS)

    def content(self, question: Question) -> str:
        name = question.response_format.get("json_schema", {}).get("name", "")
        recorded = self._answers.find(name, question.prompt)
        if recorded is not None:
            return json.dumps(recorded.answer, ensure_ascii=False)
        return super().content(question)

    def _fault(self, request: Request) -> Fault | None:
        number, self._requests = self._requests, self._requests + 1
        named = request.headers.get(FAULT_HEADER)
        try:
            return Fault(named) if named else self._faults.of(number)
        except ValueError:
            raise HTTPException(400, f"there is no such {FAULT_HEADER}") from None


def refuse(fault: Fault | None, question: Question, faults: Faults) -> None:
    """Raises what a fault answers in place of a completion, as far as that is an error."""
    if fault is Fault.RATE_LIMIT:
        raise HTTPException(429, "as scheduled", {"Retry-After": f"{faults.retry_after:g}"})
    if fault is Fault.SERVER_ERROR:
        raise HTTPException(500, "as scheduled")
    form = question.response_format.get("type")
    if fault is Fault.NO_JSON_SCHEMA and form == "json_schema":
        raise HTTPException(400, "response_format of type json_schema is not supported")


def spoilt(question: Question, content: str, fault: Fault | None) -> dict[str, Any]:
    """A completion with ``content`` as the fault leaves it."""
    if fault is Fault.MISMATCH:
        content = '{"unexpected": true}'
    if fault in (Fault.MALFORMED, Fault.TRUNCATED):
        content = content[: len(content) // 2] + "…"
    body = completion_body(question, content)
    [choice] = body["choices"]
    if fault is Fault.TRUNCATED:
        choice["finish_reason"] = "length"
    if fault is Fault.REFUSAL:
        choice["message"] |= {"content": None, "refusal": "I cannot help with that."}
    if fault is Fault.CONTENT_FILTER:
        choice["message"]["content"], choice["finish_reason"] = None, "content_filter"
    return body


def _page() -> Response:
    return Response("<html>it works</html>", media_type="text/html", headers=HEADERS)


def _flood() -> Response:
    async def spaces() -> AsyncIterator[bytes]:
        for _ in range(1024):
            yield b" " * 65_536

    return StreamingResponse(spaces(), media_type="application/json", headers=HEADERS)


BODIES = {Fault.GARBAGE: _page, Fault.OVERSIZED: _flood}


def drip(completion: dict[str, Any], seconds: float) -> Response:
    """``completion``, a byte at a time."""

    async def drops() -> AsyncIterator[bytes]:
        for byte in json.dumps(completion).encode():
            yield bytes([byte])
            await asyncio.sleep(seconds)

    return StreamingResponse(drops(), media_type="application/json", headers=HEADERS)


async def _silence(request: Request, seconds: float) -> None:
    """Says nothing until the client has left; an error once ``seconds`` are over."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await request.receive())["type"] != "http.disconnect":
                pass
    raise HTTPException(503, "as scheduled")

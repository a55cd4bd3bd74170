"""A loopback server with the OpenAI API that answers from recorded extractions.

It stands in for an LLM in the demo and the tests, behind the real client. It says of itself
that it is a recording: model ``recorded``, ``system_fingerprint`` "recording", and the header
``X-SafePassage-Recording``. It serves ``POST /v1/chat/completions``, ``GET /v1/models`` and
``GET /health``.

A request with the header ``X-SafePassage-Fault: <name>`` meets that fault; `Faults` describes
faults by schedule.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.agents.extraction.answers import Finding
from safepassage.agents.extraction.prompt import fenced_text
from safepassage.schemas import Document, Extraction
from safepassage.service.quiet_server import quiet_server

from .answers import Unanswerable, answer
from .by_question import RecordedAnswers
from .faults import Fault, Faults
from .recording import Recording
from .requests import RECORDING_HEADERS, ApiError, Question, read_question
from .responses import BODIES, MODEL, completion_body, drip, refuse

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
    """The server's application, for a recording that was read already.

    ``answers`` are to questions that are no extraction, and are looked for first.
    """
    endpoint = _Endpoint(recording, faults or Faults(), answers or RecordedAnswers())
    return Starlette(
        routes=[
            Route("/v1/chat/completions", endpoint.complete, methods=["POST"]),
            Route("/v1/models", endpoint.models),
            Route("/health", endpoint.health),
        ]
    )


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


class _Endpoint:
    def __init__(self, recording: Recording, faults: Faults, answers: RecordedAnswers) -> None:
        self._recording = recording
        self._answers = answers
        self._faults = faults
        self._requests = 0

    async def health(self, _request: Request) -> Response:
        return JSONResponse(
            {"status": "ok", "documents": len(self._recording)}, headers=RECORDING_HEADERS
        )

    async def models(self, _request: Request) -> Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "safepassage"}
        return JSONResponse({"object": "list", "data": [model]}, headers=RECORDING_HEADERS)

    async def complete(self, request: Request) -> Response:
        try:
            fault = self._fault(request)
            question = await read_question(request)
            refuse(fault, question, self._faults)
            if fault is Fault.HANG:
                await _silence(request, self._faults.hang_seconds)
            if fault in BODIES:
                return BODIES[fault]()
            completion = completion_body(question, self._content(question), fault)
        except ApiError as error:
            return error.response()
        if fault is Fault.DRIP:
            return drip(completion, self._faults.drip_seconds)
        return JSONResponse(completion, headers=RECORDING_HEADERS)

    def _fault(self, request: Request) -> Fault | None:
        number, self._requests = self._requests, self._requests + 1
        named = request.headers.get(FAULT_HEADER)
        try:
            return Fault(named) if named else self._faults.of(number)
        except ValueError:
            raise ApiError(400, "unknown_fault", f"there is no such {FAULT_HEADER}") from None

    def _content(self, question: Question) -> str:
        recorded = self._answers.find(question.schema_name, question.prompt)
        if recorded is not None:
            return json.dumps(recorded.answer, ensure_ascii=False)
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


async def _silence(request: Request, seconds: float) -> None:
    """Says nothing until the client has left; an error once ``seconds`` are over."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await request.receive())["type"] != "http.disconnect":
                pass
    raise ApiError(503, "unavailable", "as scheduled")

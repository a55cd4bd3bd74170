"""The routes. What is around them is the guard's."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.extraction import InvalidExtraction
from safepassage.result import Result
from safepassage.schemas import validation_summary
from safepassage.verifier import Verifier

from . import metrics
from .guard import Guard, problem
from .guardrail import PATH as GUARDRAIL
from .guardrail import GuardrailRequest, decide
from .limits import Limits
from .messages import ClaimsRequest, Health, VerifyRequest, verdicts_json
from .openapi import openapi

Q = TypeVar("Q", bound=BaseModel)


def service_app(verifier: Verifier, *, limits: Limits, token: str | None) -> Starlette:
    """``/v1/verify``, ``/v1/claims``, LiteLLM's guardrail, ``/health``, ``/metrics`` and
    ``/openapi.json`` over one verifier, whose scorer all callers share.

    ``token`` None means that everybody is let in; anyone who binds the socket answers for that.
    """
    verifier.batches.observe = metrics.PAIRS.observe
    service = _Service(verifier, limits)
    routes = [
        Route("/v1/verify", _asking(VerifyRequest, service.verify), methods=["POST"]),
        Route("/v1/claims", _asking(ClaimsRequest, service.claims), methods=["POST"]),
        Route(GUARDRAIL, _asking(GuardrailRequest, service.guardrail), methods=["POST"]),
        Route("/health", service.health),
        Route("/metrics", service.metrics),
        Route("/openapi.json", lambda _request: JSONResponse(openapi())),
    ]
    known = frozenset(route.path for route in routes)
    guard = Middleware(Guard, limits=limits, token=token, routes=known)
    return Starlette(
        routes=routes, middleware=[guard], exception_handlers={HTTPException: _http_problem}
    )


class _Service:
    def __init__(self, verifier: Verifier, limits: Limits) -> None:
        self._verifier = verifier
        self._limits = limits

    async def verify(self, asked: VerifyRequest) -> Response:
        return await _verdicts(await self._verifier.averify(asked.document(), asked.given()))

    async def claims(self, asked: ClaimsRequest) -> Response:
        return await _verdicts(
            await self._verifier.aclaims(asked.context, asked.answer, id=asked.answer_id)
        )

    async def guardrail(self, asked: GuardrailRequest) -> Response:
        decided = await decide(self._verifier, asked)
        return JSONResponse(decided.model_dump(exclude_none=True))

    async def health(self, _request: Request) -> Response:
        waiting = self._verifier.batches.seconds_waiting
        scorer = self._verifier.scorer
        said = Health(
            healthy=waiting <= self._limits.stalled_seconds,
            scorer=scorer.name,
            revision=scorer.revision,
            seconds_waiting=round(waiting, 1),
        )
        return JSONResponse(said.model_dump(), status_code=200 if said.healthy else 503)

    async def metrics(self, _request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def _asking(
    model: type[Q], handler: Callable[[Q], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """A route that reads its body as ``model``; anything else is refused without quoting it."""

    async def read(request: Request) -> Response:
        try:
            asked = model.model_validate_json(await request.body())
        except ValidationError as error:
            broken = error.errors(include_url=False)[0]["type"] == "json_invalid"
            detail = "the body is no JSON" if broken else validation_summary(error)
            return problem(400 if broken else 422, "unreadable", detail)
        try:
            return await handler(asked)
        except InvalidExtraction as error:
            return problem(422, "unreadable", str(error))

    return read


async def _verdicts(result: Result) -> Response:
    for decision, count in Counter(v.decision for v in result.verdicts).items():
        metrics.VERDICTS.labels(decision).inc(count)
    headers = {"Cache-Control": "no-store"}
    body = await asyncio.to_thread(verdicts_json, result)  # its feedback may align a quote anew
    return Response(body, headers=headers, media_type="application/json")


async def _http_problem(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = "not_found" if status == 404 else "not_allowed"
    return problem(status, code, "/openapi.json says what can be asked")

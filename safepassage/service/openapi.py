"""The description of the service, made from its messages."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .guardrail import PATH as GUARDRAIL
from .guardrail import GuardrailRequest, GuardrailResponse
from .messages import ClaimsRequest, Health, Problem, Verdicts, VerifyRequest

_ASKED: dict[str, tuple[type[BaseModel], type[BaseModel], str]] = {
    "/v1/verify": (VerifyRequest, Verdicts, "A verdict for each extraction from one document"),
    "/v1/claims": (ClaimsRequest, Verdicts, "A verdict for each sentence of an answer"),
    GUARDRAIL: (GuardrailRequest, GuardrailResponse, "The generic guardrail API of LiteLLM"),
}
_PROBLEMS = {
    "400": "the body cannot be read",
    "401": "a bearer token is needed",
    "413": "the body is too large",
    "415": "the body is no application/json",
    "422": "the body is JSON of another form",
    "500": "the scorer failed; nothing was judged",
    "503": "busy; come back after Retry-After",
    "504": "no answer within the time limit",
}
_REF = "#/components/schemas/{model}"


def openapi() -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    asked = [(question, "validation") for question, _, _ in _ASKED.values()]
    given = [(answer, "serialization") for _, answer, _ in _ASKED.values()]
    also = [(Problem, "serialization"), (Health, "serialization")]
    wanted: Any = list(dict.fromkeys([*asked, *given, *also]))
    names, schemas = models_json_schema(wanted, ref_template=_REF)
    paths: dict[str, Any] = {
        path: {
            "post": _operation(
                path,
                summary,
                names[(question, "validation")],
                names[(answer, "serialization")],
                names[(Problem, "serialization")],
            )
        }
        for path, (question, answer, summary) in _ASKED.items()
    }
    health = _answer("As the scorer is", names[(Health, "serialization")])
    paths["/health"] = {
        "get": {
            "operationId": "health",
            "summary": "Whether questions are being answered",
            "security": [],
            "responses": {"200": health, "503": health},
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "SafePassage", "version": _version()},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(path: str, summary: str, question: Any, answer: Any, problem: Any) -> dict[str, Any]:
    refusals = {code: _answer(said, problem) for code, said in _PROBLEMS.items()}
    return {
        "operationId": path.rpartition("/")[2],
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": question}}},
        "responses": {"200": _answer(summary, answer), **refusals},
    }


def _answer(said: str, schema: Any) -> dict[str, Any]:
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _version() -> str:
    try:
        return version("safepassage")
    except PackageNotFoundError:  # run from a checkout
        return "0"

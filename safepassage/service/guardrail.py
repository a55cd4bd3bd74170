"""The generic guardrail API of LiteLLM: is the LLM's answer supported by what it was given?

LiteLLM posts the texts of a call and obeys ``action``: NONE, BLOCKED, or GUARDRAIL_INTERVENED with
other texts. Only answers (``input_type`` "response") are judged, sentence by sentence. The context
comes with the call (``context``, a text or texts, among the guardrail's own parameters), or is
in the messages of the roles that ``context_roles`` names: the user's own words do not count unless
you say so, or a question would support its answer. Without a context nothing can be judged, and
what was not judged is blocked.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from safepassage.agents.claims import split_claims
from safepassage.result import Result
from safepassage.schemas import Response
from safepassage.schemas.base import Text
from safepassage.verifier import Verifier

from .limits import MAX_ANSWER_CHARACTERS, MAX_PASSAGES

PATH = "/beta/litellm_basic_guardrail_api"
MAX_NAMED = 20

_Answer = Annotated[Text, Field(max_length=MAX_ANSWER_CHARACTERS)]


class Parameters(BaseModel):
    """What the guardrail's configuration, or the call, says to us."""

    model_config = ConfigDict(extra="ignore")

    context: Text | Annotated[list[Text], Field(max_length=MAX_PASSAGES)] | None = None
    context_roles: tuple[str, ...] = ("system", "developer", "tool")
    on_unsupported: Literal["block", "remove"] = "block"


class GuardrailRequest(BaseModel):
    """The part of LiteLLM's request that is read; it grows with LiteLLM's versions."""

    model_config = ConfigDict(extra="ignore")

    input_type: Literal["request", "response"]
    texts: Annotated[list[_Answer], Field(max_length=100)] | None = None
    structured_messages: list[dict[str, Any]] | None = None
    additional_provider_specific_params: Parameters | None = None


class GuardrailResponse(BaseModel):
    """What LiteLLM is to do. ``blocked_reason`` quotes nothing: LiteLLM logs it."""

    action: Literal["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]
    blocked_reason: str | None = None
    texts: list[str] | None = None


async def decide(verifier: Verifier, request: GuardrailRequest) -> GuardrailResponse:
    """Judge the answers of one call."""
    answers = [text for text in request.texts or () if text.strip()]
    if request.input_type == "request" or not answers:
        return GuardrailResponse(action="NONE")
    parameters = request.additional_provider_specific_params or Parameters()
    context = _context(request, parameters)
    if not "".join(context).strip():
        reason = "no context came with the answer, so that it could not be judged"
        return GuardrailResponse(action="BLOCKED", blocked_reason=reason)
    results = await asyncio.gather(*(verifier.aclaims(context, answer) for answer in answers))
    stopped = [v for result in results for v in result.verdicts if v.decision != "accepted"]
    if not stopped:
        return GuardrailResponse(action="NONE")
    if parameters.on_unsupported == "remove":
        texts = [
            await asyncio.to_thread(_without_stopped, context, answer, result)
            for answer, result in zip(answers, results, strict=True)
        ]
        if all(text.strip() for text in texts):
            kept = iter(texts)
            whole = [next(kept) if text.strip() else text for text in request.texts or ()]
            return GuardrailResponse(action="GUARDRAIL_INTERVENED", texts=whole)
    return GuardrailResponse(action="BLOCKED", blocked_reason=_reason(results))


def _context(request: GuardrailRequest, parameters: Parameters) -> list[str]:
    if parameters.context is not None:
        given = parameters.context
        return [given] if isinstance(given, str) else given
    messages = request.structured_messages or ()
    return [
        text
        for message in messages
        if message.get("role") in parameters.context_roles
        for text in _texts(message.get("content"))
    ]


def _texts(content: object) -> Iterator[str]:
    """The text of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _without_stopped(context: Sequence[str], answer: str, result: Result) -> str:
    response = Response(id="answer", context=list(context), response=answer)
    claims = split_claims(response, response.ref())
    kept, at = [], 0
    for claim, verdict in zip(claims, result.verdicts, strict=True):
        if verdict.decision != "accepted":
            kept.append(answer[at : claim.start])
            at = claim.end
    return "".join([*kept, answer[at:]]).strip()


def _reason(results: Sequence[Result]) -> str:
    verdicts = [verdict for result in results for verdict in result.verdicts]
    stopped = [(n, v) for n, v in enumerate(verdicts, start=1) if v.decision != "accepted"]
    named = "; ".join(f"sentence {n} ({', '.join(v.reasons)})" for n, v in stopped[:MAX_NAMED])
    return (
        f"{len(stopped)} of {len(verdicts)} sentences are not supported by the context: {named}"
        f"{'; …' if len(stopped) > MAX_NAMED else ''}"
    )

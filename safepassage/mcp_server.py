"""The guardrail as tools of an agent, over the Model Context Protocol.

The tools say what an agent needs to mend its facts; whole verdicts are the library's and HTTP's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import anyio
import structlog
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import Field, ValidationError

from safepassage.schemas import Document, Verdict, text_digest, validation_summary
from safepassage.schemas.base import Contract, Json, Probability

from .extraction import InvalidExtraction
from .result import Result
from .service.limits import MAX_ANSWER_CHARACTERS, MAX_EXTRACTIONS, MAX_PASSAGES
from .service.messages import AskedExtraction, ClaimsRequest, VerifyRequest
from .verifier import Verifier

log = structlog.get_logger(__name__)

_USE = (
    "Checks facts against the text that they come from. Use `verify` for facts that were extracted "
    "with a quote, `claims` for an answer in sentences. Only what is accepted is supported."
)
_REQUESTS: dict[str, type[Contract]] = {"verify": VerifyRequest, "claims": ClaimsRequest}
"""What is asked over HTTP holds here too: no empty text, no key that is unknown."""
_UNREADABLE = JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=ErrorData(
        code=PARSE_ERROR,
        message="this line is no JSON-RPC message in UTF-8 (a lone surrogate is not); nothing was "
        "judged",
    ),
)


class Judged(Contract):
    """What was decided on one fact or sentence. ``passage`` is what is in the text."""

    type: str
    value: Json
    decision: str
    reasons: tuple[str, ...]
    passage: str
    score: Probability | None
    threshold: Probability | None


class Judgement(Contract):
    """In the order asked. ``feedback`` says in words what to mend; "" where nothing was stopped."""

    judged: tuple[Judged, ...]
    feedback: str


class _WordedErrors(MCPServer):
    """Says in words which argument is wrong, where the library prints its validator's report."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            if name in _REQUESTS:
                _REQUESTS[name].model_validate(arguments)
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ValidationError as error:
            raise ToolError(f"{validation_summary(error)}; nothing was judged") from None
        except ToolError as error:
            told = str(error).removeprefix(f"Error executing tool {name}: ")
            raise ToolError(told) from None

    async def run_stdio_async(self) -> None:
        """The library drops a line that it cannot read, and an agent would wait for its answer."""
        protocol = self._lowlevel_server
        readable, inbox = anyio.create_memory_object_stream[SessionMessage | Exception]()
        async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:

            async def sort() -> None:
                async with readable:
                    async for line in lines:
                        if isinstance(line, Exception):
                            await answers.send(SessionMessage(_UNREADABLE))
                        else:
                            await readable.send(line)

            tasks.start_soon(sort)
            await protocol.run(inbox, answers, protocol.create_initialization_options())


def mcp_server(load: Callable[[], Verifier]) -> MCPServer:
    """The tools ``verify`` and ``claims``. ``load`` is called at the first use of one: a client
    waits for its servers to start, and a scorer takes seconds."""
    server: MCPServer = _WordedErrors("safepassage", instructions=_USE, log_level="CRITICAL")
    once = asyncio.Lock()
    loaded: list[Verifier] = []

    async def verifier() -> Verifier:
        async with once:
            if not loaded:
                loaded.append(await asyncio.to_thread(load))
        return loaded[0]

    @server.tool()
    async def verify(
        text: Annotated[str, Field(description="The whole text of the document.")],
        extractions: Annotated[
            list[AskedExtraction],
            Field(
                max_length=MAX_EXTRACTIONS,
                description="The extractions to check, each with its `type`, its `value` and the "
                "`quote` from the text that it was taken from.",
            ),
        ],
    ) -> Judgement:
        """Is the quote of each extraction in the text, and does it support the value?"""
        given = [asked.extraction() for asked in extractions]
        document = Document(id=text_digest(text), text=text)
        return await _judgement((await verifier()).averify(document, given))

    @server.tool()
    async def claims(
        context: Annotated[
            list[str],
            Field(max_length=MAX_PASSAGES, description="The texts that the answer rests on."),
        ],
        answer: Annotated[
            str, Field(max_length=MAX_ANSWER_CHARACTERS, description="The answer to check.")
        ],
    ) -> Judgement:
        """Is each sentence of an answer supported by the texts that it was given on?"""
        return await _judgement((await verifier()).aclaims(context, answer))

    return server


async def _judgement(judging: Awaitable[Result]) -> Judgement:
    try:
        result = await judging
    except InvalidExtraction as error:
        raise ToolError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the last resort, for every tool
        # The library would log the traceback, which may quote the text.
        log.error("tool_failed", error=type(error).__name__)  # noqa: TRY400
        raise ToolError("it failed; nothing was judged") from None
    judged = tuple([_judged(verdict) for verdict in result.verdicts])
    return Judgement(judged=judged, feedback=await asyncio.to_thread(result.feedback))


def _judged(verdict: Verdict) -> Judged:
    said = {name: getattr(verdict, name) for name in Judged.model_fields if name != "type"}
    return Judged.model_validate({"type": verdict.entity_type} | said)

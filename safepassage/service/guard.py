"""What is around every request: who asks, how much, how long, and what is said of failures.

Nothing that was sent is ever logged or quoted back: errors have a class and a place, no message.
"""

import asyncio
import contextlib
import hmac
import time
import traceback
from collections.abc import AsyncIterator, Awaitable

import structlog
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import metrics
from .limits import Limits
from .messages import Problem

log = structlog.get_logger(__name__)

OPEN = "/health"
"""Who watches over the process need not know the token."""


class _Refused(Exception):
    """An answer in place of the handler's."""

    def __init__(self, status: int, error: str, detail: str = "") -> None:
        self.answer = problem(status, error, detail)


def problem(status: int, error: str, detail: str = "") -> Response:
    """A `Problem` as the answer to a request."""
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = "1"
    body = Problem(error=error, detail=detail).model_dump_json()
    return Response(body, status, headers, "application/json")


class Guard:
    """ASGI middleware, outermost. ``token`` None lets everybody in: on loopback only."""

    def __init__(
        self, app: ASGIApp, *, limits: Limits, token: str | None, routes: frozenset[str]
    ) -> None:
        self._app = app
        self._limits = limits
        self._token = token.encode() if token is not None else None
        self._routes = routes
        self._waiting = 0
        self._turns = asyncio.Semaphore(limits.concurrency)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = time.perf_counter()
        # Unknown paths are one: labels must not grow with what is asked.
        route = scope["path"] if scope["path"] in self._routes else "other"
        status = 499  # as proxies call it: the caller left before there was an answer

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._answer(scope, receive, counted)
        except _Refused as refused:
            await refused.answer(scope, receive, counted)
        except Exception as error:  # noqa: BLE001 - the last resort, for every handler
            log.error("service_error", error=type(error).__name__, at=_place(error))  # noqa: TRY400
            if status == 499:
                refusal = problem(500, "failed", "it was logged; nothing was judged")
                await refusal(scope, receive, counted)
        finally:
            metrics.REQUESTS.labels(route, str(status)).inc()
            metrics.SECONDS.labels(route).observe(time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == OPEN:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_known(headers):
            raise _Refused(401, "unauthorised", "a bearer token is needed")
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise _Refused(415, "unsupported_media_type", "send application/json")
        try:
            async with asyncio.timeout(self._limits.timeout_seconds), self._turn():
                body = await self._body(headers, receive)
                await _while_connected(self._app(scope, _replay(body), send), receive)
        except TimeoutError:
            detail = f"no answer within {self._limits.timeout_seconds:g} s"
            raise _Refused(504, "timeout", detail) from None

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One of the requests that are answered at once. A body is not read before: what waits
        takes no memory."""
        if self._turns.locked() and self._waiting >= self._limits.queue:
            raise _Refused(503, "busy", "as many requests as are allowed are waiting")
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            with metrics.IN_FLIGHT.track_inprogress():
                yield
        finally:
            self._turns.release()

    def _is_known(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        # LiteLLM sends the api_key of a guardrail in a header of its own.
        token = given.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        return hmac.compare_digest(token.encode(), self._token)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        most = self._limits.body_bytes
        length = headers.get("content-length", "0")
        declared = int(length) if length.isdecimal() and len(length) < 19 else most + 1
        parts: list[bytes] = []
        size = 0
        more = declared <= most
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Refused(400, "disconnected")
            part = message.get("body", b"")
            size += len(part)
            parts.append(part)
            more = message.get("more_body", False) and size <= most
        if max(size, declared) > most:
            raise _Refused(413, "too_large", f"at most {most} bytes a request")
        return b"".join(parts)


def _replay(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _while_connected(answering: Awaitable[None], receive: Receive) -> None:
    """Work for as long as somebody waits for it."""
    work = asyncio.ensure_future(answering)
    leaving = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        for task in (work, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"

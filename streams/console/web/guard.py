"""What is around every answer of the console: headers, a bound on what comes in, and errors
that say nothing of what was in hand."""

import traceback

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

MAX_BODY_BYTES = 64 * 1024

# Documents are hostile: even if one broke out of its escaping, nothing of it could run, load,
# send or be framed.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


_PEER = "safepassage.peer"


def peer(request: Request) -> str:
    """The address that connects, regardless of what a header says of the client."""
    return str(request.scope.get(_PEER, ""))


class Guard:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Before anything believes X-Forwarded-For: who really connects.
        scope[_PEER] = (scope.get("client") or ("",))[0]
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                # Pages hold documents, and stay out of every cache; our files are asked for again.
                static = scope["path"].startswith("/static/")
                headers["Cache-Control"] = "no-cache" if static else "no-store"
            await send(message)

        try:
            if refusal := _refuse_body(scope):
                await refusal(scope, receive, send_guarded)
            else:
                await self._app(scope, receive, send_guarded)
        except Exception as error:  # noqa: BLE001 - the last resort, for every handler
            # Neither message nor traceback: both may quote a document.
            log.error("console_error", error=type(error).__name__, at=_place(error))  # noqa: TRY400
            if not started:
                answer = PlainTextResponse("Something went wrong here. It was logged.", 500)
                await answer(scope, receive, send_guarded)


def _refuse_body(scope: Scope) -> PlainTextResponse | None:
    if scope["method"] in ("GET", "HEAD"):
        return None
    length = Headers(scope=scope).get("content-length", "")
    if not length.isdecimal():
        return PlainTextResponse("A form comes with its length.", 411)
    if len(length) > 9 or int(length) > MAX_BODY_BYTES:
        return PlainTextResponse("That is too much for a form.", 413)
    return None


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"

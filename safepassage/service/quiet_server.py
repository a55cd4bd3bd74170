"""A uvicorn server that is a guest in its process."""

import contextlib
from collections.abc import Iterator

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send


class QuietServer(uvicorn.Server):
    """A uvicorn server that leaves signals to its process; ``should_exit`` ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process has its own handlers."""
        yield


def quiet_server(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, drain_seconds: int | None = None
) -> QuietServer:
    """A server for ``app`` that logs nothing by itself, believes no client who it is, and tells
    none what it is itself. A client that leaves in the middle of its request is no error.

    ``host`` and ``port`` count where `QuietServer.serve` is given no sockets. Once it is told to
    end, requests at hand are answered for at most ``drain_seconds``; None is without a limit.
    """
    config = uvicorn.Config(
        _left_by_clients(app),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        # On by default, for anyone who connects from loopback or is in FORWARDED_ALLOW_IPS. Anyone
        # who guessed a token from there had a new address, and ten more tries, with every request.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=drain_seconds,
    )
    return QuietServer(config)


def _left_by_clients(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ClientDisconnect):
            await app(scope, receive, send)

    return answer

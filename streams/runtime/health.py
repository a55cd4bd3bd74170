"""Liveness and metrics over HTTP, answered by the worker's own event loop."""

import socket
from collections.abc import Sequence

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.service.quiet_server import QuietServer, quiet_server
from safepassage.streams.settings import Settings

from .listening import open_listener
from .progress import Progress


def health_app(progress: Sequence[Progress], stalled_after_seconds: float) -> Starlette:
    """``/health`` is 200 while every role progresses, 503 naming those that do not;
    ``/metrics`` is Prometheus's."""

    async def health(_request: Request) -> Response:
        ages = {p.role: round(p.age_seconds, 1) for p in progress}
        stalled = [role for role, age in ages.items() if age > stalled_after_seconds]
        body = {
            "healthy": not stalled,
            "stalled": stalled,
            "seconds_since_progress": ages,
            "in_flight": {p.role: p.outstanding for p in progress},
        }
        return JSONResponse(body, status_code=503 if stalled else 200)

    async def metrics(_request: Request) -> Response:
        for role in progress:
            role.report()
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/health", health), Route("/metrics", metrics)])


def health_listener(settings: Settings) -> socket.socket | None:
    """Where `health_server` listens, or None where no port is set.

    Raises:
        OperatorError: the address cannot be bound.
    """
    if settings.health_port is None:
        return None
    host, port = settings.health_host, settings.health_port
    return open_listener("/health", host, port, "SAFEPASSAGE_HEALTH")


def health_server(settings: Settings, progress: Sequence[Progress]) -> QuietServer:
    """The server of `health_app`, for the socket of `health_listener`."""
    return quiet_server(health_app(progress, settings.stalled_after_seconds), drain_seconds=1)

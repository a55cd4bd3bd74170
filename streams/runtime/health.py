"""Liveness, readiness and metrics over HTTP, answered by the worker's own event loop."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from safepassage.service.quiet_server import quiet_server
from safepassage.service.serving import listen

from ..settings import Settings
from .errors import OperatorError
from .progress import Progress


def open_listener(what: str, host: str, port: int, prefix: str) -> socket.socket:
    try:
        return listen(host, port)
    except OSError as error:
        raise OperatorError(
            f"{what} cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}; "
            f"set {prefix}_HOST or {prefix}_PORT"
        ) from error


Stage = Literal["starting", "running", "draining"]


def health_app(
    progress: Sequence[Progress],
    stalled_after_seconds: float,
    stage: Callable[[], Stage] = lambda: "running",
) -> Starlette:
    """``/health`` is for liveness: 503, with the names, where a role makes no progress. A process
    that loads its models or leaves is alive. ``/ready`` is 503 then too. ``/metrics`` is
    Prometheus's."""

    def stalled() -> list[str]:
        return [p.role for p in progress if p.age_seconds > stalled_after_seconds]

    async def health(_request: Request) -> Response:
        dead = stalled() if stage() == "running" else []
        body = {
            "healthy": not dead,
            "stalled": dead,
            "seconds_since_progress": {p.role: round(p.age_seconds, 1) for p in progress},
            "in_flight": {p.role: p.outstanding for p in progress},
            "without_position": {p.role: list(p.unplaced) for p in progress if p.unplaced},
        }
        return JSONResponse(body, status_code=503 if dead else 200)

    async def ready(_request: Request) -> Response:
        now, dead = stage(), stalled()
        is_ready = now == "running" and not dead
        body = {"ready": is_ready, "stage": now, "stalled": dead}
        return JSONResponse(body, status_code=200 if is_ready else 503)

    async def metrics(_request: Request) -> Response:
        for role in progress:
            role.report()
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = {"/health": health, "/ready": ready, "/metrics": metrics}
    return Starlette(routes=[Route(path, endpoint) for path, endpoint in routes.items()])


@contextlib.asynccontextmanager
async def health_answered(
    settings: Settings, progress: Sequence[Progress], stage: Callable[[], Stage]
) -> AsyncIterator[None]:
    """Answer `health_app` at the health port meanwhile, where one is set."""
    if settings.health_port is None:
        yield
        return
    at = settings.health_host, settings.health_port
    with contextlib.closing(open_listener("/health", *at, "SAFEPASSAGE_HEALTH")) as listener:
        app = health_app(progress, settings.stalled_after_seconds, stage)
        server = quiet_server(app, drain_seconds=1)
        serving = asyncio.create_task(server.serve([listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await serving

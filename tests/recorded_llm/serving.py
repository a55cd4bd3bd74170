"""Servers on the loopback interface, for as long as a block runs."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from starlette.types import ASGIApp

from safepassage.service.serving import serve as serve_until


@contextlib.asynccontextmanager
async def serve(app: ASGIApp) -> AsyncIterator[str]:
    """Serves ``app`` on a free port while the block runs, and gives it the base URL for clients."""
    listener, stop = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    running = asyncio.create_task(serve_until(app, listener, stop, drain_seconds=1))
    try:
        yield base_url
    finally:
        stop.set()
        await running

"""A guest in its process: the process keeps its signals, no client is believed."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from safepassage.service.quiet_server import quiet_server


async def _client(request: Request) -> JSONResponse:
    await request.body()
    return JSONResponse(request.client.host if request.client else None)


@contextlib.asynccontextmanager
async def _served() -> AsyncIterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = quiet_server(Starlette(routes=[Route("/", _client)]), drain_seconds=1)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await running
        listener.close()


async def test_the_process_keeps_its_signals():
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with _served() as url, httpx2.AsyncClient(trust_env=False) as client:
        await client.get(url)
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


async def test_no_client_is_believed_and_none_is_told_what_serves():
    async with _served() as url, httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(url, headers={"X-Forwarded-For": "192.0.2.7"})
    assert answer.json() == "127.0.0.1"
    assert "server" not in answer.headers


async def test_a_client_that_leaves_in_mid_request_is_no_error(caplog):
    async with _served() as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nhalf")
        await writer.drain()
        writer.close()
        async with httpx2.AsyncClient(trust_env=False) as client:
            assert (await client.get(url)).status_code == 200
    assert not [record for record in caplog.records if record.exc_info]

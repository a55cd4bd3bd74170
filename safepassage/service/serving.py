"""The process: who may reach it, and how it ends."""

import asyncio
import ipaddress
import socket

from starlette.types import ASGIApp

from safepassage.service.quiet_server import quiet_server

from .limits import MIN_TOKEN_CHARACTERS

BACKLOG = 512


def check_entrance(host: str, token: str | None) -> None:
    """Anyone who can reach the service must be known, unless all of them are on this machine.
    Raises `ValueError` where there is no token and others can reach it, or the token is a short
    one."""
    if token is None:
        if not _is_loopback(host):
            raise ValueError(
                f"{host} can be reached by others: set SAFEPASSAGE_SERVE_TOKEN, or serve 127.0.0.1"
            )
    elif len(token) < MIN_TOKEN_CHARACTERS:
        raise ValueError(f"SAFEPASSAGE_SERVE_TOKEN has less than {MIN_TOKEN_CHARACTERS} characters")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `OSError` where the address cannot be
    bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


async def serve(
    app: ASGIApp, listener: socket.socket, stop: asyncio.Event, *, drain_seconds: float
) -> None:
    """Serve until ``stop`` is set; then nobody new is let in, and requests at hand are answered
    for at most ``drain_seconds``."""
    drain = max(1, round(drain_seconds))
    server = quiet_server(app, drain_seconds=drain)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        server.should_exit = True
        await serving
        listener.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

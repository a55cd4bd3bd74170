"""The service on a loopback port, for as long as a test needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from safepassage import Verifier
from safepassage.service.app import service_app
from safepassage.service.limits import Limits
from safepassage.service.serving import listen, serve
from tests.safepassage.scorers import WordScorer

TEXT = "The Tenant shall pay a monthly rent of £1,250 on the first day of each month."
GOOD = {"type": "Rent", "value": "£1,250", "quote": "a monthly rent of £1,250"}
BAD = {"type": "Rent", "value": "£1,350", "quote": "a monthly rent of £1,250"}
INVENTED = {"type": "Guarantor", "value": "Ann Lee", "quote": "guaranteed by Ann Lee of Leith"}


@asynccontextmanager
async def running(
    scorer: WordScorer | None = None,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    stop: asyncio.Event | None = None,
    drain_seconds: float = 10,
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the service. ``stop`` ends the service before the block does."""
    stop = stop or asyncio.Event()
    listener = listen("127.0.0.1", 0)
    host, port = listener.getsockname()
    with Verifier(scorer or WordScorer()) as verifier:
        app = service_app(verifier, limits=limits or Limits(), token=token)
        served = asyncio.create_task(serve(app, listener, stop, drain_seconds=drain_seconds))
        async with httpx2.AsyncClient(base_url=f"http://{host}:{port}", timeout=30) as client:
            try:
                yield client
            finally:
                stop.set()
                await served

"""A TCP link between clients and the broker that can be cut, slowed, throttled and stalled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

CHUNK_BYTES = 64 * 1024


class Link:
    """Forwards every connection to ``target``. ``delay`` is seconds per chunk and direction,
    ``bytes_per_second`` bounds each direction; while ``open`` is not set nothing is forwarded."""

    def __init__(self, target: str) -> None:
        self._host, _, port = target.rpartition(":")
        self._port = int(port)
        self._ends: set[asyncio.StreamWriter] = set()
        self._refuses = False
        self.delay = 0.0
        self.bytes_per_second: float | None = None
        self.open = asyncio.Event()
        self.open.set()

    def cut(self) -> None:
        """Reset every connection, and refuse new ones until `mend`."""
        self._refuses = True
        for end in list(self._ends):
            end.transport.abort()

    def mend(self) -> None:
        """Forward again, at full speed."""
        self._refuses = False
        self.delay, self.bytes_per_second = 0.0, None
        self.open.set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, until either side ends it."""
        if self._refuses:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._ends |= ends
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        finally:
            self._ends -= ends

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while chunk := await reader.read(CHUNK_BYTES):
                await self.open.wait()
                await asyncio.sleep(self.delay + self._pause(chunk))
                writer.write(chunk)
                await writer.drain()
        writer.transport.abort()

    def _pause(self, chunk: bytes) -> float:
        return len(chunk) / self.bytes_per_second if self.bytes_per_second else 0.0


@contextlib.asynccontextmanager
async def open_link(address: str, target: str) -> AsyncIterator[Link]:
    """A link that listens on ``address``."""
    link = Link(target)
    host, _, port = address.rpartition(":")
    server = await asyncio.start_server(link.accept, host, int(port))
    try:
        yield link
    finally:
        link.cut()
        server.close()

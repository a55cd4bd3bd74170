"""A role with what it has to obey followed beside it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from ..runtime.progress import Progress


class Source(Protocol):
    """A role, ready to run."""

    progress: Progress

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; raises what must end the process."""
        ...


class Beside:
    """``source`` while each of ``followers``, which have no end, keeps up what it obeys: decisions,
    erasures, releases.

    Where one can no longer be followed the role stops: it would not know what to obey.
    """

    def __init__(self, source: Source, *followers: Callable[[], Awaitable[None]]) -> None:
        self.progress = source.progress
        self.source = source
        self._followers = followers

    async def run(self, stop: asyncio.Event) -> None:
        working = asyncio.create_task(self.source.run(stop))
        following = [asyncio.ensure_future(follow()) for follow in self._followers]
        try:
            await asyncio.wait((working, *following), return_when=asyncio.FIRST_COMPLETED)
            stop.set()
            await asyncio.wait((working,))
            ended = [task for task in following if task.done()]
        finally:
            for task in (working, *following):
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)
        for task in ended:
            task.result()
        working.result()

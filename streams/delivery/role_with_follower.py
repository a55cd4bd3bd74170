"""A role with something that it has to obey followed beside it."""

import asyncio
from collections.abc import Awaitable, Callable

from .source import Source


class Beside:
    """``source`` while ``follow``, which has no end, keeps up what it obeys: decisions, erasures.

    Where that can no longer be followed the role stops: it would not know what to obey.
    """

    def __init__(self, source: Source, follow: Callable[[], Awaitable[None]]) -> None:
        self.progress = source.progress
        self.source = source
        self._follow = follow

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set.

        Raises:
            Exception: what stopped the role, or the following.
        """
        working = asyncio.create_task(self.source.run(stop))
        following = asyncio.ensure_future(self._follow())
        try:
            await asyncio.wait((working, following), return_when=asyncio.FIRST_COMPLETED)
            stop.set()
            await asyncio.wait((working,))
        finally:
            for task in (working, following):
                task.cancel()
            await asyncio.gather(following, return_exceptions=True)
        if not following.cancelled():
            following.result()
        working.result()

"""The contract between a worker and what it runs."""

import asyncio
from typing import Protocol

from safepassage.streams.runtime.progress import Progress


class Source(Protocol):
    """A role, ready to run."""

    progress: Progress

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; raises what must end the process."""
        ...

"""What the console shows of learning, and what its button does."""

import asyncio
from dataclasses import dataclass, field

from safepassage.schemas import LearningEvent

from ..kafka.publisher import Publisher
from ..release.releases import ReleaseRefused
from ..settings import Settings
from .events import Runs, following, read_runs, say
from .learner import end_shadow, promoted


@dataclass(frozen=True, slots=True)
class Candidates:
    """The runs on the topic ``learning``, for people."""

    publisher: Publisher
    settings: Settings
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def runs(self) -> Runs:
        return await read_runs(self.settings)

    async def promote(self, run: str, by: str) -> LearningEvent:
        async with self._one_at_a_time:  # a second click finds that it does not ask any more
            return await promoted(self.publisher, self.settings, await self._asking(run), by)

    async def refuse(self, run: str, by: str) -> LearningEvent:
        async with self._one_at_a_time:
            asked = await self._asking(run)
            event = following(asked, "ended", by=by, detail=f"not promoted, said {by}")
            await end_shadow(self.settings, asked.revision, by)
            return await say(self.publisher, self.settings, event)

    async def _asking(self, run: str) -> LearningEvent:
        asking = (await read_runs(self.settings)).asking
        if asking is None or asking.run != run:
            raise ReleaseRefused("this candidate does not ask to be promoted any more")
        return asking

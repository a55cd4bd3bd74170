"""The role ``learn``: begins a run when there are enough new decisions, and ends what was begun."""

import asyncio
import fcntl
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from safepassage.schemas import LearningEvent

from ..kafka.publisher import Publisher
from ..kafka.reading import ends
from ..runtime import metrics
from ..runtime.errors import OperatorError
from ..runtime.progress import Progress
from ..runtime.signals import pause
from ..settings import Settings
from ..topics import REVIEWS, RoleName
from .learner import Learner, Process

LOCK = "lock"


class LearnsElsewhere(OperatorError):
    """Another process learns in the same folder."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Learn in ``folder`` as the only process; the kernel gives it back, however this one ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("wb")
    except OSError as error:
        raise OperatorError(f"SAFEPASSAGE_LEARN_FOLDER cannot be used: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LearnsElsewhere(
                f"another process learns in {folder} now; see Learning on the console"
            ) from None
        except OSError as error:
            raise OperatorError(
                f"{folder} cannot be locked: {error}; learning needs a file system with locks"
            ) from error
        yield


log = structlog.get_logger(__name__)

ROLE: RoleName = "learn"
BEAT_SECONDS = 5.0


class LearnSource:
    """One process learns at a time, others wait; the state is on topics and in the folder."""

    def __init__(
        self, publisher: Publisher, settings: Settings, process: Process | None = None
    ) -> None:
        self.progress = Progress(ROLE)
        self._settings = settings
        self._learner = Learner(publisher, settings, process)
        self._seen = -1

    async def run(self, stop: asyncio.Event) -> None:
        """Learn until ``stop`` is set; the next process goes on with a training in its middle."""
        while not stop.is_set():
            try:
                with alone(self._settings.learn_folder):
                    await self._look(stop)
            except LearnsElsewhere as error:
                log.info("learning_elsewhere", detail=str(error))
            self.progress.polled()
            await pause(stop, self._settings.learn_poll_seconds)

    async def _look(self, stop: asyncio.Event) -> None:
        """End what was begun; begin where there are enough new decisions."""
        if (unfinished := await self._learner.unfinished()) is not None:
            log.info("learning_resumed", run=unfinished)
            await self._until(stop, self._go_on(unfinished))
        known = sum((await ends(self._settings, [REVIEWS])).values())
        if known == self._seen or stop.is_set():
            return
        self._seen = known
        run, wanted = await self._learner.start()
        if run is None:
            log.info("learning_waits", wanted=wanted)
        else:
            await self._until(stop, self._go_on(run))

    async def _go_on(self, run: str) -> None:
        event: LearningEvent = await self._learner.go_on(run)
        metrics.LEARNING.labels(event.step).inc()

    async def _until(self, stop: asyncio.Event, work: Awaitable[object]) -> None:
        """``work``, which is cancelled where ``stop`` is set first; the role lives meanwhile."""
        working = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(stop.wait())
        try:
            while not working.done() and not stop.is_set():
                await asyncio.wait(
                    (working, stopped), timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                self.progress.polled()
        finally:
            stopped.cancel()
            if not working.done():
                working.cancel()
            await asyncio.gather(working, stopped, return_exceptions=True)
        if not working.cancelled():
            working.result()

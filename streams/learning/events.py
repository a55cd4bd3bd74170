"""The topic ``learning``: what runs did so far, and what is said of the next step."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from safepassage.schemas import LearningEvent, stable_id
from safepassage.schemas.base import Contract

from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.reading import read_topics
from ..kafka.records import Outgoing, event_of
from ..settings import Settings
from ..topics import LEARNING

FILE = "progress.json"
SECONDS_BETWEEN_WRITES = 2.0


class TrainingProgress(Contract):
    """``done`` of ``total`` of a stage; ``minutes_left`` is None before it can be told."""

    stage: str
    done: int = Field(ge=0)
    total: int = Field(ge=1)
    minutes_left: float | None = Field(default=None, ge=0)

    def __str__(self) -> str:
        share = f"{self.stage}: {self.done / self.total:.0%}"
        if self.minutes_left is None:
            return share
        minutes = max(1, round(self.minutes_left))
        return f"{share}, about {minutes} {'minute' if minutes == 1 else 'minutes'} left"


@dataclass(slots=True)
class ProgressFile:
    """Writes what a training reports (an `OnProgress`) into the folder of its run."""

    folder: Path
    clock: Callable[[], float] = time.monotonic
    _stage: str = ""
    _began: float = 0.0
    _known: int = 0
    _written: float = field(default=float("-inf"))

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self.clock()
        if stage != self._stage:  # what an earlier process did took none of our time
            self._stage, self._began, self._known = stage, now, done
        elif now - self._written < SECONDS_BETWEEN_WRITES and done < total:
            return
        self._written = now
        fresh = done - self._known
        left = (now - self._began) / fresh * (total - done) / 60 if fresh > 0 else None
        self._write(TrainingProgress(stage=stage, done=done, total=total, minutes_left=left))

    def _write(self, progress: TrainingProgress) -> None:
        partial = self.folder / f"{FILE}.partial"
        partial.write_text(progress.model_dump_json(), encoding="utf-8")
        os.replace(partial, self.folder / FILE)

    def remove(self) -> None:
        (self.folder / FILE).unlink(missing_ok=True)


def read_progress(folder: Path) -> TrainingProgress | None:
    try:
        return TrainingProgress.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None


LAST_STEPS = frozenset({"promoted", "ended"})


@dataclass(slots=True)
class Runs:
    """Every run's events, oldest first; ``events`` are all of them. ``progress`` is that of the
    training, where one runs whose folder this process can read."""

    events: list[LearningEvent] = field(default_factory=list)
    progress: TrainingProgress | None = None

    @property
    def last(self) -> list[LearningEvent]:
        run = next((e.run for e in reversed(self.events) if e.step == "started"), None)
        return [event for event in self.events if event.run == run]

    def of(self, run: str, step: str) -> LearningEvent | None:
        return next((e for e in self.events if e.run == run and e.step == step), None)

    @property
    def asking(self) -> LearningEvent | None:
        """What waits for a person, if the last run does."""
        own = self.last
        if any(event.step in LAST_STEPS for event in own):
            return None
        return next((event for event in own if event.step == "asked"), None)

    @property
    def known(self) -> set[str]:
        return {event.run for event in self.events}

    @property
    def unfinished(self) -> str | None:
        own = self.last
        done = LAST_STEPS | {"asked"}
        return own[0].run if own and not any(event.step in done for event in own) else None


async def read_runs(settings: Settings) -> Runs:
    """All runs up to now; a step that was said twice counts once."""
    found: dict[str, LearningEvent] = {}
    async for record in read_topics(settings, [LEARNING]):
        if event := event_of(record, LearningEvent):
            found.setdefault(event.id, event)
    runs = Runs(list(found.values()))
    if (run := runs.unfinished) and Path(run).name == run:
        folder = Path(settings.learn_folder) / run
        runs.progress = await asyncio.to_thread(read_progress, folder)
    return runs


async def say(publisher: Publisher, settings: Settings, event: LearningEvent) -> LearningEvent:
    if await publisher.publish([Outgoing(LEARNING, event.run, event)]):
        raise PublishFailed("the broker refuses an event of learning")
    return event


def following(event: LearningEvent, step: str, **more: object) -> LearningEvent:
    at = datetime.now(UTC)
    update = {"id": stable_id("learning", event.run, step), "step": step, "at": at, "detail": ""}
    return LearningEvent.model_validate(event.model_dump() | update | more)

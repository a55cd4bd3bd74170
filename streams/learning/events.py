"""The topic ``learning``: what runs did so far, and what is said of the next step."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from safepassage.schemas import LearningEvent, stable_id
from safepassage.streams.kafka.publisher import Publisher, PublishFailed
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import Outgoing, event_of
from safepassage.streams.settings import Settings
from safepassage.streams.topics import LEARNING

from .training_progress import TrainingProgress, read_progress

LAST_STEPS = frozenset({"promoted", "ended"})


@dataclass(slots=True)
class Runs:
    """Every run's events, oldest first; ``events`` are all of them. ``progress`` is that of the
    training, where one runs whose folder this process can read."""

    events: list[LearningEvent] = field(default_factory=list)
    progress: TrainingProgress | None = None

    @property
    def last(self) -> list[LearningEvent]:
        """Those of the run that began last."""
        run = next((e.run for e in reversed(self.events) if e.step == "started"), None)
        return [event for event in self.events if event.run == run]

    def of(self, run: str, step: str) -> LearningEvent | None:
        """A run's event of that step."""
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
        """The names of all runs."""
        return {event.run for event in self.events}

    @property
    def unfinished(self) -> str | None:
        """The run that was stopped in the middle, if there is one."""
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
    """Publish ``event``."""
    if await publisher.publish([Outgoing(LEARNING, event.run, event)]):
        raise PublishFailed("the broker refuses an event of learning")
    return event


def following(event: LearningEvent, step: str, **more: object) -> LearningEvent:
    """The next step of the run of ``event``."""
    at = datetime.now(UTC)
    update = {"id": stable_id("learning", event.run, step), "step": step, "at": at, "detail": ""}
    return LearningEvent.model_validate(event.model_dump() | update | more)

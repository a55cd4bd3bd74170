"""How far the training of a run is: a small file beside the candidate, for page and terminal."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from safepassage.schemas.base import Contract

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
        """The training ended."""
        (self.folder / FILE).unlink(missing_ok=True)


def read_progress(folder: Path) -> TrainingProgress | None:
    """How far the training in ``folder`` is; None where none runs, or not on this machine."""
    try:
        return TrainingProgress.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None

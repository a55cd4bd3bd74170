"""What happened in a run, as JSON lines: it can be checked again without running it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as it stands on its topic, named without prefix. ``event`` is its value as
    JSON, or None where it is none."""

    topic: str
    partition: int
    offset: int
    key: str
    event: dict[str, Any] | None

    @property
    def place(self) -> tuple[str, int, int]:
        return self.topic, self.partition, self.offset


@dataclass(slots=True)
class History:
    """``expected`` are the rows of the load: what has to end, and what must not be accepted.
    ``undrained`` counts records behind the committed offsets after the workers stopped."""

    expected: list[dict[str, Any]]
    entries: list[Entry] = field(default_factory=list)
    undrained: int = 0
    recovery_seconds: float | None = None
    grown_bytes: int = 0
    restarts: int = 0
    exit_codes: list[int] = field(default_factory=list)

    def of(self, *topics: str) -> Iterator[Entry]:
        """The entries of ``topics``, each partition in order."""
        return (entry for entry in self.entries if entry.topic in topics)

    def write(self, path: Path) -> None:
        run = {name: value for name, value in asdict(self).items() if name != "entries"}
        lines = [json.dumps(run), *(json.dumps(asdict(entry)) for entry in self.entries)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> History:
        run, *entries = map(json.loads, path.read_text("utf-8").splitlines())
        return cls(**run, entries=[Entry(**entry) for entry in entries])

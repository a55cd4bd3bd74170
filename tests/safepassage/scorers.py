"""Scorers whose answers a test knows beforehand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from safepassage.schemas import Assessment, Finding
from safepassage.scoring_worker import Pair


@dataclass
class WordScorer:
    """Supports a value that stands in the passage. ``before`` runs first, on every call."""

    name: str = "words"
    revision: str = "words-1"
    before: Callable[[Sequence[Pair]], None] = lambda _: None
    calls: list[list[Pair]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        self.calls.append(list(pairs))
        self.before(pairs)
        return [self._one(pair) for pair in pairs]

    def _one(self, pair: Pair) -> Assessment:
        there = str(pair.value).rstrip(".") in pair.premise
        seen = () if there else (Finding(code="value_differs", detail="the passage differs"),)
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            score=0.9 if there else 0.1,
            threshold=0.5,
            findings=seen,
        )

    def close(self) -> None:
        self.closed.set()

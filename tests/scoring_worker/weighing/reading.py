"""A reader that says what a test tells it, in place of a trained one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.encoders.reading_windows import Task

_WORD = re.compile(r"\S+")
YES, NO = 4.0, -4.0


class ToldReader:
    """``answers`` maps what is asked to the words that answer it; ``entailed`` are the claims
    that hold. A passage with ``failing`` in it cannot be read."""

    def __init__(
        self,
        answers: Mapping[str, str] | None = None,
        entailed: Sequence[str] = (),
        failing: str = "",
    ) -> None:
        self.answers = answers or {}
        self.entailed = entailed
        self.failing = failing
        self.asked: list[Task] = []
        self.placement = place("cpu")

    def read(self, tasks: Sequence[Task], _wanted: object = None) -> list[Reading | PairFailure]:
        self.asked += tasks
        return [self._read(task) for task in tasks]

    def _read(self, task: Task) -> Reading | PairFailure:
        if self.failing and self.failing in task.passage:
            return PairFailure("scorer_failed", "told to fail")
        words = list(_WORD.finditer(task.passage))
        told = self.answers.get(task.asked, "\0")
        at = task.passage.find(told)
        inside = range(at, at + len(told)) if at >= 0 else range(0)
        asked = list(_WORD.finditer(task.asked))
        holds = task.asked in self.entailed
        return Reading(
            starts=np.array([word.start() for word in words]),
            ends=np.array([word.end() for word in words]),
            answers=np.array([YES if word.start() in inside else NO for word in words]),
            claim=YES if holds else NO,
            asked_starts=np.array([word.start() for word in asked]),
            asked_ends=np.array([word.end() for word in asked]),
            founded=np.array([YES if holds or w[0] in task.passage else NO for w in asked]),
        )
